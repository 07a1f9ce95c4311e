"""The one place where the floor hops to a thread, for callers that have an event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def in_thread(action: Callable[_P, _T], *args: _P.args, **options: _P.kwargs) -> _T:
    """Return what `action` returns, or raise what it raises; the event loop is free meanwhile."""
    return await asyncio.to_thread(action, *args, **options)
