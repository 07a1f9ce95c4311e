"""One long document and one question: at once from its words, hybrid once it is embedded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight._lazy import lazy

if TYPE_CHECKING:
    from firstlight.digest.deadline import DeadlineError
    from firstlight.digest.engine import DigestEngine
    from firstlight.digest.gate import Gate, GateRefusedError
    from firstlight.digest.stream import DigestStream
    from firstlight.digest.types import Citation, Digest, Passage

__all__ = [
    "Citation",
    "DeadlineError",
    "Digest",
    "DigestEngine",
    "DigestStream",
    "Gate",
    "GateRefusedError",
    "Passage",
]

__getattr__ = lazy(
    __name__,
    {
        "deadline": ("DeadlineError",),
        "engine": ("DigestEngine",),
        "gate": ("Gate", "GateRefusedError"),
        "stream": ("DigestStream",),
        "types": ("Citation", "Digest", "Passage"),
    },
)
