from __future__ import annotations

import subprocess
import sys

import firstlight


def test_the_public_names_are_these() -> None:
    assert firstlight.__all__ == [
        "ChatError",
        "ConfigError",
        "ContextLayer",
        "Corpus",
        "Digest",
        "DigestEngine",
        "DocumentError",
        "Embedder",
        "EmbeddingError",
        "FilterError",
        "FirstlightError",
        "Gate",
        "Hit",
        "Results",
        "StoreError",
        "__version__",
    ]
    for name in firstlight.__all__:
        assert getattr(firstlight, name) is not None
    assert dir(firstlight) == firstlight.__all__


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, firstlight; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.split() if name.startswith("firstlight")}
    assert ours <= {"firstlight", "firstlight._lazy", "firstlight._version"}
    assert "numpy" not in done.stdout.split()


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(firstlight, "Corpse")
