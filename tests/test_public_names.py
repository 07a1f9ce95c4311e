from __future__ import annotations

import subprocess
import sys

import firstlight


def test_the_public_names_are_these() -> None:
    assert firstlight.__all__ == [
        "ConfigError",
        "Corpus",
        "DocumentError",
        "FilterError",
        "FirstlightError",
        "Hit",
        "Results",
        "StoreError",
        "__version__",
    ]
    for name in firstlight.__all__:
        assert getattr(firstlight, name) is not None
    assert dir(firstlight) == firstlight.__all__


def test_importing_the_package_imports_nothing_else() -> None:
    code = (
        "import sys, firstlight\n"
        "print(sorted(name for name in sys.modules if name.startswith(('firstlight', 'numpy'))))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['firstlight', 'firstlight._version']"


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(firstlight, "Corpse")
