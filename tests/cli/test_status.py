from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


def test_before_the_first_sync_status_says_how_to_begin(run: Run, docs: Path, home: Path) -> None:
    outcome = run("status", docs)
    assert outcome.code == 0
    assert "synced      never" in outcome.out
    assert outcome.err == f"nothing is indexed yet: firstlight sync {docs}\n"
    assert not (home / "state").exists()


def test_status_says_what_is_indexed_and_where(run: Run, docs: Path, home: Path) -> None:
    run("sync", docs)
    outcome = run("status", docs)
    assert outcome.code == 0
    assert f"folder      {docs}" in outcome.out
    assert f"index       {home / 'state'}" in outcome.out
    assert "documents   2\n" in outcome.out
    assert "errors      none\n" in outcome.out
    assert outcome.err == ""


def test_status_names_what_could_not_be_indexed(run: Run, docs: Path) -> None:
    (docs / "bad\x1b[2J.md").write_bytes(b"\x00\x01 not text")
    run("sync", docs)
    outcome = run("status", docs)
    assert "errors      1\n" in outcome.out
    assert r"  bad\x1b[2J.md: " in outcome.out
    assert json.loads(run("status", docs, "--json").out)["errors"][0]["path"] == "bad\x1b[2J.md"
