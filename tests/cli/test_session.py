"""What a person at a terminal sees: a pseudo-terminal stands in for one."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

from firstlight.cli.terminal import width

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from .conftest import Run

_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def on_terminal(*args: object, columns: int = 60, answer: str = "") -> tuple[int, str]:
    """Run a command on a terminal, type `answer`, and return its exit code and all that it wrote."""
    screen, keyboard = pty.openpty()
    fcntl.ioctl(keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "firstlight", *map(str, args)]
    process = subprocess.Popen(
        command, stdin=keyboard, stdout=keyboard, stderr=keyboard, env=os.environ | {"TERM": "xterm"}
    )
    os.close(keyboard)
    os.write(screen, answer.encode())
    written = b""
    while True:
        try:
            part = os.read(screen, 65536)
        except OSError:  # Linux says so when the last writer is gone
            break
        if not part:
            break
        written += part
    os.close(screen)
    return process.wait(timeout=60), written.decode().replace("\r\n", "\n")


def test_a_person_sees_colour_and_lines_that_fit(home: Path, docs: Path) -> None:
    code, screen = on_terminal("search", docs, "drain a node", columns=60)
    assert code == 0
    assert "\x1b[1mDrain a node" in screen
    assert "\x1b[1;33mdrain\x1b[0m" in screen
    snippets = [line for line in screen.split("\n") if line.startswith("   ") and str(docs) not in line]
    assert snippets
    assert all(width(_COLOUR.sub("", line)) <= 60 for line in snippets)
    assert screen.rstrip().split("\n")[-1].startswith("bm25 · ")


def test_a_person_can_do_without_colour(home: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    code, screen = on_terminal("search", docs, "drain")
    assert code == 0
    assert "\x1b" not in screen


def test_a_hostile_document_does_not_act_on_the_terminal(home: Path, docs: Path) -> None:
    hostile = '---\ntitle: "evil\\e[2J"\n---\n# Attack \x1b]0;owned\x07\n\nattack \x1b[31m\x9b2J here \x08\n'
    (docs / "at\x1b[2Jtack.md").write_text(hostile)
    code, screen = on_terminal("search", docs, "attack")
    assert code == 0
    assert "\x1b[2J" not in screen
    assert "\x1b]" not in screen
    assert "\x9b" not in screen
    assert "\x08" not in screen
    assert r"\x1b" in screen


def test_before_a_very_large_folder_a_person_is_asked(home: Path, docs: Path, process: Run) -> None:
    large = docs / "large"
    large.mkdir()
    for number in range(20_001):
        (large / f"{number}.txt").touch()
    code, screen = on_terminal("search", docs, "drain", answer="n\n", columns=200)
    assert code == 2
    assert "20,003 files to index. Go on? [y/N]" in screen
    assert "nothing was indexed" in screen
    refused = process("search", docs, "drain", stdin=subprocess.DEVNULL)
    assert refused.code == 2
    assert "20,003 files" in refused.err
    assert "--yes" in refused.err
