"""One long document and one question: at once from its words, hybrid once it is embedded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight._lazy import lazy

if TYPE_CHECKING:
    from firstlight.digest.types import Citation, Digest, Passage

__all__ = ["Citation", "Digest", "Passage"]

__getattr__ = lazy(__name__, {"types": ("Citation", "Digest", "Passage")})
