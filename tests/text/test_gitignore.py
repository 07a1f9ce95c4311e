"""Ignore rules against git itself."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.text.gitignore import parse_rules

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is the oracle, and is not installed")


def ignored_by_git(folder: Path, lines: list[str], paths: list[str]) -> set[str]:
    """Ask git about paths; those that are folders exist."""
    folder.joinpath(".gitignore").write_bytes("\n".join(lines).encode())
    command = [str(GIT), "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin"]
    done = subprocess.run(
        command, cwd=folder, input="\0".join(paths).encode(), capture_output=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return {path for path in done.stdout.decode().split("\0") if path}


def ignored_by_us(lines: list[str], path: str) -> bool:
    """Judge every folder above, then the path itself, as a walk does."""
    rules = parse_rules(lines)
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        folder = depth < len(parts) or path in FOLDERS
        if rules is not None and rules.decide("/".join(parts[:depth]), folder=folder):
            return True
    return False


@pytest.fixture(scope="module")
def repository() -> Path:
    folder = Path(tempfile.mkdtemp())
    subprocess.run([str(GIT), "init", "-q", str(folder)], check=True)
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    return folder


FOLDERS = ["a", "b", "a/b", "b/a", "a/b/c", "c", "c/a", "c/a/b", "a "]
PATHS = [
    *("a.md", "b.md", "ab.md", "a/a.md", "a/b.md", "a/b/a.md", "b/a/b.md", "a/b/c/a.md", "[a].md"),
    *(
        "a-b.md",
        "a b.md",
        "a /x",
        "#a",
        "!a",
        "a\\b",
        "c/a/b/a/c.md",
        "aaaaaaaab",
        "A.md",
        "*",
        "a*",
        "é.md",
        "]",
    ),
    *FOLDERS,
]


@needs_git
@pytest.mark.parametrize(
    "lines",
    [
        ["*.md"],
        ["*.md", "!a.md"],
        ["a/"],
        ["/a"],
        ["/a/"],
        ["a/b"],
        ["a/*"],
        ["a/**"],
        ["**/a"],
        ["**/a.md"],
        ["a/**/a.md"],
        ["**"],
        ["**/"],
        ["/**"],
        ["/*", "!/a", "/a/*", "!/a/b"],
        ["*", "!*/", "!*.md"],
        ["a", "!a/"],
        ["!a", "a"],
        ["*.md", "!a/"],
        ["# comment", "", "\\#a", "\\!a"],
        ["a.md   ", "a\\ ", "b\\  "],
        ["a.md\t"],
        ["a.md\r", "b.md\r"],
        ["[ab].md", "[!a]b.md", "[^a].md", "[a-c]/"],
        ["\\[a\\].md", "[[]a]*", "[]]", "[a", "a[", "[a-", "[]"],
        ["[[:alpha:]].md", "[[:upper:]].md", "[[:nope:]].md", "[z-a].md"],
        ["?.md", "a?b.md"],
        ["a**.md", "**b.md", "a/**b.md", "a**/b"],
        ["/", "//", "a//b", "/a//", "!"],
        ["a\\", "\\a.md", "a\\*"],
        ["\ufeff*.md"],
        ["a/**/", "b/**/b.md", "**/b/**"],
        ["a*a*a*a*b"],
        ["[a/]b", "a[/]b", "[!b]b"],
    ],
)
def test_rules_read_as_git_reads_them(repository: Path, lines: list[str]) -> None:
    expected = ignored_by_git(repository, lines, PATHS)
    lines = [line.removeprefix("\ufeff") for line in lines]  # as the reader of files does
    assert {path for path in PATHS if ignored_by_us(lines, path)} == expected


NAMES = st.text(alphabet="ab", min_size=1, max_size=3)
PATTERNS = st.text(alphabet="ab*/?[]!-\\^ ", min_size=1, max_size=9)


@needs_git
@settings(max_examples=150)
@given(
    st.lists(PATTERNS, min_size=1, max_size=4), st.lists(st.lists(NAMES, min_size=1, max_size=4), min_size=1)
)
def test_any_rules_read_as_git_reads_them(repository: Path, lines: list[str], parts: list[list[str]]) -> None:
    paths = sorted({"/".join(path) for path in parts})
    assert {path for path in paths if ignored_by_us(lines, path)} == ignored_by_git(repository, lines, paths)


def test_hostile_rules_take_linear_steps() -> None:
    rules = parse_rules(["*a" * 60 + "b", "**/" * 60 + "a/" * 60 + "b", "/".join(["**", "*a*"] * 40)])
    assert rules is not None
    assert rules.decide("a" * 250) is None
    assert rules.decide("/".join("a" * 100)) is True


def test_no_rules_are_none() -> None:
    assert parse_rules(["", "# comment", "/", "\\"]) is None
