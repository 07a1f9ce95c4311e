"""How the tests of the command line run it: in this process for most, as a process of its own for a few."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from firstlight.cli import main

if TYPE_CHECKING:
    from pathlib import Path

NODES = """\
---
title: Drain a node
area: platform
level: 2
---
# Drain a node

Cordon the node first, then drain it: nothing new is scheduled, and what runs there moves.

## Nodes that refuse

A pod without a controller blocks the drain. Delete it by hand, or wait for its job to end.
"""
COFFEE = """\
---
title: Coffee machine
area: about
level: 1
---
Descale the coffee machine every month. The node in its hose collects lime.
"""


class Outcome(NamedTuple):
    """What a command left: its exit code, its data and its talk."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's own folders, empty."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("FIRSTLIGHT_STATE", str(folder / "state"))
    monkeypatch.setenv("FIRSTLIGHT_CONFIG", str(folder / "config.toml"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FIRSTLIGHT_DEBUG", raising=False)
    return folder


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder of two documents."""
    folder = tmp_path / "docs"
    (folder / "ops").mkdir(parents=True)
    (folder / "ops" / "drain.md").write_text(NODES)
    (folder / "coffee.md").write_text(COFFEE)
    return folder


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process."""

    def run_here(*args: object) -> Outcome:
        capsys.readouterr()
        code = main([str(arg) for arg in args])
        return Outcome(code, *capsys.readouterr())

    return run_here


@pytest.fixture
def process(home: Path) -> Run:
    """Run a command as a process of its own."""

    def run_there(*args: object, **options: Any) -> Outcome:
        command = [sys.executable, "-m", "firstlight", *map(str, args)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        done = subprocess.run(command, text=True, timeout=60, check=False, env=os.environ.copy(), **streams)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run_there
