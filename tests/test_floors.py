"""The house stands: each floor imports only from floors below it, and nothing imports itself in a circle."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import firstlight

PACKAGE = Path(firstlight.__file__).parent
FLOORS = (
    "errors",
    "text",
    "lexical",
    "embed",
    "rank",
    "store",
    "corpus",
    "context",
    "digest",
    "evaluate",
    "cli",
)
# What stands beside the floors: modules that import no floor, and the doors, which may open any.
BESIDE = {"firstlight._lazy", "firstlight._version"}
DOORS = {"firstlight", "firstlight.__main__"}

MODULES = {
    ".".join(("firstlight", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def imports(source: str, *, module: str = "firstlight.m") -> set[str]:
    """Return the modules of ours that a source names, wherever: in functions and for type checking too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: imports are absolute"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in MODULES else str(node.module))
    return {name for name in found if name.partition(".")[0] == "firstlight"}


def floor(module: str) -> str:
    return module.split(".")[1]


GRAPH = {module: imports(path.read_text(), module=module) for module, path in MODULES.items()}


def test_imports_are_seen_wherever_they_stand() -> None:
    source = (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from firstlight.text.types import Chunk\n"
        "def f():\n    from firstlight.rank import json\n    import firstlight.errors, os\n"
    )
    assert imports(source) == {"firstlight.text.types", "firstlight.rank.json", "firstlight.errors"}


def test_every_module_is_on_a_floor() -> None:
    assert {floor(module) for module in GRAPH.keys() - BESIDE - DOORS} == set(FLOORS)
    assert set().union(*GRAPH.values()) <= GRAPH.keys()


def test_each_floor_imports_only_from_floors_below_it() -> None:
    upward = [
        f"{module} imports {target}"
        for module, targets in GRAPH.items()
        if module not in DOORS
        for target in sorted(targets - BESIDE)
        if module in BESIDE or target in DOORS or FLOORS.index(floor(target)) > FLOORS.index(floor(module))
    ]
    assert upward == []


def test_no_module_imports_itself_in_a_circle() -> None:
    TopologicalSorter(GRAPH).prepare()  # raises CycleError, which names the modules


@pytest.mark.parametrize(
    "package", ["text", "lexical", "rank", "embed", "rank.filters", "corpus", "context", "digest", "evaluate"]
)
def test_each_name_that_a_package_exports_is_there(package: str) -> None:
    exported = import_module(f"firstlight.{package}")
    for name in exported.__all__:  # found by a table of strings, which no type checker reads
        assert hasattr(exported, name), name
