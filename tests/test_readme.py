"""The README and the documentation are true: their commands are run, and what they show is what comes out.

FIRSTLIGHT_UPDATE_DOCS=1 writes what comes out into the files instead.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from pathlib import Path

import pytest

from firstlight.corpus.settings import SETTINGS, Source, parse_settings

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

_CONSOLE = re.compile(r"^([ ]*)```console\n(.*?)^[ ]*```$", re.MULTILINE | re.DOTALL)
_TOML = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_SCORE = re.compile(r"\b\d+\.\d{3}\b")
_TIME = re.compile(r"\b\d+(?:\.\d+)? m?s\b")
# Keys that are known, and have no effect yet.
_NOT_YET = {"store", "schema", "horizons", "alerts"}
# From here on a page searches by meaning too, as whoever follows it does.
_ADDS_A_MODEL = "pip install '.[local]'"
# These would install, or run this very suite; what they name is checked, and CI runs the first two.
_NOT_RUN = ("make ", "pip install", "git ")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a copy of the examples, and `firstlight` on the path."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "firstlight"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m firstlight "$@"\n')
    program.chmod(0o755)
    (programs / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("FIRSTLIGHT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("FIRSTLIGHT_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "none")  # put back, whatever a page does
    return tmp_path


@cache
def vectors() -> Path:
    """The vectors of the handbook, made once for all pages."""
    home = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, home)
    subprocess.run(
        [sys.executable, "-m", "firstlight", "sync", str(ROOT / "examples" / "handbook"), "--embed"],
        env={**os.environ, "FIRSTLIGHT_STATE": str(home)}, capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    return home / "vectors.db"


def run(command: str, place: Path) -> list[str]:
    if command == _ADDS_A_MODEL:
        os.environ["FIRSTLIGHT_EMBEDDER"] = "local"
        (place / "state").mkdir(exist_ok=True)
        shutil.copy(vectors(), place / "state" / "vectors.db")
    if command.startswith(_NOT_RUN):
        return []
    command = command.replace("/tmp/", f"{place}/")
    done = subprocess.run(
        ["bash", "-c", command], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stdout
    lines = [line.rstrip() for line in done.stdout.replace(f"{place}/", "/tmp/").splitlines()]
    return lines[:-1] if lines and not lines[-1] else lines


def commands(block: str) -> list[tuple[str, list[str]]]:
    """Return each command of a console block with the output below it; `>` goes on with a command."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (f"{found[-1][0]}\n{line[2:]}", [])
        else:
            found[-1][1].append(line)
    return found


def steady(lines: list[str]) -> list[str]:
    """Leave out what differs from run to run, or by any tuning of the scores."""
    return [_SCORE.sub("0.000", _TIME.sub("N ms", line)) for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_a_page_shows_is_what_comes_out(page: Path, place: Path) -> None:
    text = page.read_text()
    fresh = text
    for match in _CONSOLE.finditer(text):
        indent = match[1]
        block = re.sub(f"^{indent}", "", match[2], flags=re.MULTILINE)
        actual = [(command, run(command, place)) for command, _ in commands(block)]
        shown = [(command, steady(output)) for command, output in commands(block)]
        came = [(command, steady(output)) for command, output in actual]
        if not os.environ.get("FIRSTLIGHT_UPDATE_DOCS"):
            assert came == shown
        elif came != shown:
            fresh = fresh.replace(match[0], rendered(actual, indent))
    if fresh != text:
        page.write_text(fresh)


def rendered(actual: list[tuple[str, list[str]]], indent: str) -> str:
    lines = ["```console"]
    for command, output in actual:
        lines += ["$ " + command.replace("\n", "\n> "), *output]
    return "\n".join(f"{indent}{line}".rstrip() for line in "\n".join([*lines, "```"]).split("\n"))


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)):
        assert (page.parent / target).exists(), target


def test_the_python_of_the_readme_runs(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    blocks = _PYTHON.findall((ROOT / "README.md").read_text())
    assert blocks
    for block in blocks:
        done = subprocess.run(
            [sys.executable, "-c", block], capture_output=True, text=True, timeout=60, check=True
        )
        assert "platform/kubernetes-nodes.md" in done.stdout


def test_the_configuration_shown_is_valid_and_complete() -> None:
    page = (ROOT / "docs" / "reference" / "configuration.md").read_text()
    (shown,) = _TOML.findall(page)
    parse_settings(Source(tomllib.loads(shown)))
    keys = set(re.findall(r"^(\w+) = ", shown, re.MULTILINE))
    assert keys == {key.rpartition(".")[2] for key in SETTINGS if key not in _NOT_YET}


def test_the_readme_opens_with_the_demo_and_the_tests() -> None:
    first = _CONSOLE.search((ROOT / "README.md").read_text())
    assert first is not None
    assert [command for command, _ in commands(first[2])] == ["make demo", "make test"]


@pytest.mark.parametrize("target", ["demo", "test", "lint", "bench", "format", "clean", "help"])
def test_make_knows_its_targets(target: str) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
