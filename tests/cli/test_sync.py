from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
import pytest

from firstlight.cli import corpora

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


def test_a_sync_says_what_it_did(run: Run, docs: Path) -> None:
    outcome = run("sync", docs)
    assert outcome.code == 0
    assert outcome.out.startswith("2 added (2 chunks indexed) in ")
    assert run("sync", docs).out == "nothing changed in 2 documents\n"


def test_every_kind_of_change_is_counted(run: Run, docs: Path) -> None:
    (docs / "old.md").write_text("# Old\n\nwill move\n")
    run("sync", docs)
    (docs / "old.md").rename(docs / "moved.md")
    (docs / "coffee.md").unlink()
    (docs / "ops" / "drain.md").write_text("# Drain\n\nchanged\n")
    (docs / "new.md").write_text("# New\n")
    report = json.loads(run("sync", docs, "--json").out)
    assert {kind: report[kind] for kind in ("added", "changed", "renamed", "deleted", "unchanged")} == {
        "added": 1, "changed": 1, "renamed": 1, "deleted": 1, "unchanged": 0
    }  # fmt: skip


def test_a_plan_writes_nothing(run: Run, docs: Path, home: Path) -> None:
    outcome = run("sync", docs, "--plan")
    assert outcome.code == 0
    assert outcome.out == "+ coffee.md\n+ ops/drain.md\n"
    assert "2 to add; 0 unchanged; nothing was written" in outcome.err
    assert not (home / "state").exists()


def test_a_plan_lists_every_kind_of_change(run: Run, docs: Path) -> None:
    (docs / "old.md").write_text("# Old\n\nwill move\n")
    run("sync", docs)
    (docs / "old.md").rename(docs / "moved.md")
    (docs / "coffee.md").unlink()
    (docs / "ops" / "drain.md").write_text("# Drain\n\nchanged\n")
    (docs / "new.md").write_text("# New\n")
    outcome = run("sync", docs, "--plan")
    assert outcome.out == "+ new.md\n~ ops/drain.md\n> old.md -> moved.md\n- coffee.md\n"
    plan = json.loads(run("sync", docs, "--plan", "--json").out)
    assert plan["renamed"] == [{"old": "old.md", "new": "moved.md"}]


def test_a_rebuild_makes_everything_anew(run: Run, docs: Path) -> None:
    run("sync", docs)
    outcome = run("sync", docs, "--rebuild")
    assert outcome.code == 0
    assert "(2 chunks indexed)" in outcome.out


def test_a_bad_file_is_named_and_the_rest_goes_on(run: Run, docs: Path) -> None:
    (docs / "bad.md").write_bytes(b"\x00\x01 not text")
    outcome = run("sync", docs)
    assert outcome.code == 0
    assert outcome.out.startswith("2 added")
    assert outcome.err.startswith(f"not indexed: {docs}/bad.md: ")


def test_names_of_files_cannot_act_on_a_terminal(run: Run, docs: Path) -> None:
    (docs / "a\x1b[2Jb.md").write_text("# A\n")
    outcome = run("sync", docs, "--plan")
    assert "\x1b" not in outcome.out
    assert r"a\x1b[2Jb.md" in outcome.out


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_person_decides_about_a_very_large_folder(
    docs: Path, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    monkeypatch.setattr(corpora, "is_terminal", lambda _: True)
    monkeypatch.setattr(click, "confirm", lambda question, err: "23,410 files" in question and goes_on)
    if goes_on:
        assert corpora._ask(docs, 23_410)
    else:
        with pytest.raises(click.UsageError, match="nothing was indexed"):
            corpora._ask(docs, 23_410)
