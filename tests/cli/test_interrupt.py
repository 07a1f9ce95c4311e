from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from firstlight.cli import app, main

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A folder that takes some seconds to index: 9 MB in 400 files, of which every one says `needle`."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(400):
        words = " ".join(f"word{(number * 7919 + position) % 50_021}" for position in range(2_500))
        (folder / f"{number}.md").write_text(f"# File {number}\n\nneedle{number} needle\n\n{words}\n")
    return folder


def test_after_ctrl_c_the_index_is_usable(many: Path, home: Path, process: Run) -> None:
    state = home / "index"
    command = [sys.executable, "-m", "firstlight", "sync", str(many), "--state", str(state)]
    for round_ in range(2):
        syncing = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 30
        while not any(state.glob("*.db*")) and syncing.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.4 * round_ + 0.2)
        syncing.send_signal(signal.SIGINT)
        out, err = syncing.communicate(timeout=60)
        assert "Traceback" not in err
        if syncing.returncode == 0:  # it was done before the signal came
            assert "added" in out
            break
        assert (syncing.returncode, out) == (130, "")
        assert err.endswith("\ninterrupted; what is indexed stays usable\n")
        verified = process("verify", many, "--state", state)
        assert verified.code == 0, verified
        assert process("search", many, "needle", "--no-sync", "--state", state).code in (0, 1)
    assert process("sync", many, "--state", state).code == 0
    found = process("search", many, "needle399", "--no-sync", "--state", state)
    assert found.code == 0
    assert "399.md:3" in found.out
    assert process("verify", many, "--state", state).code == 0


def test_an_interrupt_anywhere_is_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(app, "run", interrupted)
    try:
        assert main(["search", ".", "x"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr() == ("", "\ninterrupted; what is indexed stays usable\n")
