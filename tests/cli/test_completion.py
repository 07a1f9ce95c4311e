from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script(run: Run, shell: str) -> None:
    outcome = run("completion", shell)
    assert outcome.code == 0
    assert f"_FIRSTLIGHT_COMPLETE={shell}_complete" in outcome.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=outcome.out, text=True, check=True, timeout=20)


@pytest.mark.parametrize(
    ("words", "expected"), [("firstlight se", "search"), ("firstlight sync --re", "--rebuild")]
)
def test_commands_and_options_complete(
    process: Run, monkeypatch: pytest.MonkeyPatch, words: str, expected: str
) -> None:
    monkeypatch.setenv("_FIRSTLIGHT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert process().out.strip() == f"plain,{expected}"


def test_bash_completes_a_command(run: Run, tmp_path: Path) -> None:
    script = run("completion", "bash").out
    ask = "COMP_WORDS=(firstlight ver) COMP_CWORD=1; _firstlight_completion firstlight; echo ${COMPREPLY[*]}"
    program = tmp_path / "firstlight"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -m firstlight\n")
    program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
        env=os.environ | {"PATH": path},
    )
    assert done.stdout.strip() == "verify"
