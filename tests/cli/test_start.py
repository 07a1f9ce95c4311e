"""A warm search loads what it needs and nothing else: half of its time is imports."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

_LOADED = """
import sys
from firstlight.cli import main
code = main(sys.argv[1:])
print("\\n" + "\\n".join(sys.modules), file=sys.stderr)
sys.exit(code)
"""
# Formats, drawing, folders of other systems, networks, other processes.
_HEAVY = {
    "numpy.ma", "pyromark", "yaml", "selectolax", "pathspec", "rich", "pygments", "markdown_it",
    "platformdirs", "tomllib", "http", "urllib.request", "email", "socket", "ssl", "asyncio",
    "multiprocessing", "concurrent.futures", "subprocess", "logging", "importlib.metadata",
    "unittest", "pydoc",
}  # fmt: skip


def modules_after(*args: object) -> set[str]:
    command = [sys.executable, "-c", _LOADED, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("options", [[], ["--json"], ["--no-sync"], ["--where", "area = platform"]])
def test_a_warm_search_loads_nothing_heavy(run: Run, docs: Path, options: list[str]) -> None:
    assert run("sync", docs).code == 0
    loaded = modules_after("search", docs, "drain", *options)
    assert "numpy" in loaded
    assert loaded & _HEAVY == set()


def test_the_version_and_help_do_not_even_load_numpy(home: Path) -> None:
    for args in (["--version"], ["--help"], ["search", "--help"]):
        assert modules_after(*args) & (_HEAVY | {"numpy", "sqlite3", "Stemmer"}) == set()
