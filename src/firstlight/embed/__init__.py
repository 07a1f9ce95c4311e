"""Text -> vectors: local models and HTTP providers behind one protocol, batching, and the vector cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight._lazy import lazy

if TYPE_CHECKING:
    from firstlight.embed.types import Embedder, Limits

__all__ = ["Embedder", "Limits"]

__getattr__ = lazy(__name__, {"types": ("Embedder", "Limits")})
