"""What the tests of the embed floor may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.embed.provider_server import ProviderServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    """A running server that speaks every provider's wire format."""
    with ProviderServer() as server:
        yield server
