"""Whole commands as a person runs them: firstlight, qmd and find, each with a state folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

QUESTION = "transient storage opcodes"
NO_QMD = "qmd is not installed: `make bench-peers`, or set FIRSTLIGHT_QMD to a folder with its node_modules"

# What the `firstlight` script does; that script itself where there is one.
_WITHOUT_SCRIPT = "import sys; from firstlight.cli import main; sys.exit(main())"


@dataclass(frozen=True, slots=True)
class Command:
    """A program with the environment that it runs in."""

    program: tuple[str, ...]
    environment: Mapping[str, str]

    def __call__(self, *arguments: str | Path) -> str:
        """Run to the end and return its standard output; fail loudly."""
        done = subprocess.run(
            [*self.program, *map(str, arguments)],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{self.program[-1]} {arguments} failed:\n{done.stdout}{done.stderr}")
        return done.stdout


def firstlight(state: Path) -> Command:
    """Return the command line of firstlight, its state in `state`."""
    script = Path(sys.executable).with_name("firstlight")
    program = (str(script),) if script.exists() else (sys.executable, "-c", _WITHOUT_SCRIPT)
    environment = {
        "FIRSTLIGHT_STATE": str(state),
        "FIRSTLIGHT_CONFIG": str(state / "config.toml"),
        "FIRSTLIGHT_EMBEDDER": "none",  # as the core alone is installed
        "PYTHONDONTWRITEBYTECODE": "",  # an installed program is compiled once, not at every start
    }
    return Command(program, environment)


def qmd(state: Path) -> Command | None:
    """Return the command line of qmd, its state in `state`; None where it is not installed."""
    modules = _qmd_folder() / "node_modules"
    if not (modules / ".bin" / "qmd").exists():
        return None
    path = f"{modules / 'node' / 'bin'}{os.pathsep}{os.environ['PATH']}"  # the Node.js installed beside it
    homes = {"HOME": state, "XDG_CACHE_HOME": state / "cache", "XDG_CONFIG_HOME": state / "config"}
    return Command((str(modules / ".bin" / "qmd"),), {"PATH": path, **{k: str(v) for k, v in homes.items()}})


def qmd_version() -> str:
    """Return what `qmd --version` says."""
    command = qmd(places.scratch("qmd-state"))
    return command("--version").strip() if command else "not installed"


def find(arguments: Sequence[str]) -> str:
    """Run find."""
    return Command(("find",), {})(*arguments)


def _qmd_folder() -> Path:
    return Path(os.environ.get("FIRSTLIGHT_QMD", places.SCRATCH / "qmd"))
