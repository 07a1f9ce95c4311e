"""What an agent carries: documents in memory, at no cost until the first search, and tools of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight._lazy import lazy

if TYPE_CHECKING:
    from firstlight.context.documents import ContextDocument
    from firstlight.context.layer import ContextLayer
    from firstlight.context.render import render
    from firstlight.context.session import Session

__all__ = ["ContextDocument", "ContextLayer", "Session", "render"]

__getattr__ = lazy(
    __name__,
    {
        "documents": ("ContextDocument",),
        "layer": ("ContextLayer",),
        "render": ("render",),
        "session": ("Session",),
    },
)
