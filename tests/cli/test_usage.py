from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firstlight.cli import app as edge
from firstlight.errors import FirstlightError
from firstlight.lexical.query import LONGEST_QUESTION

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "usage"),
        (["serch", "docs", "x"], "did you mean search?"),
        (["unheard-of"], "there are search, digest, sync, status"),
        (["search"], "DIR"),
        (["search", "DOCS"], "QUERY"),
        (["search", "DOCS", ""], "the question is empty"),
        (["search", "DOCS", " \t"], "the question is empty"),
        (["search", "DOCS", "x" * 1_000_000], "1,000,000 characters"),
        (["search", "DOCS", "a\x00b"], "not text"),
        (["search", "DOCS", "a\x1b[31m"], "not text"),
        (["search", "DOCS", "a\udcff"], "not text"),
        (["search", "DOCS", "x", "-k", "0"], "-k"),
        (["search", "DOCS", "x", "-k", "-3"], "-k"),
        (["search", "DOCS", "x", "-k", "9" * 30], "-k"),
        (["search", "DOCS", "x", "-k", "many"], "-k"),
        (["search", "DOCS", "x", "--per-document", "0"], "--per-document"),
        (["search", "DOCS", "x", "--mode", "magic"], "bm25"),
        (["search", "DOCS", "x", "--wher", "a = b"], "--where"),
        (["search", "", "x"], "'.' is this one"),
        (["search", "DOCS/none", "x"], "there is no folder"),
        (["search", "DOCS/coffee.md", "x"], "is a file: name its folder, '"),
        (["search", "DOCSS", "x"], "; did you mean '/"),
        (["sync", "DOCS/none"], "there is no folder"),
        (["status", "DOCS/none"], "there is no folder"),
        (["verify", "DOCS/none"], "there is no folder"),
        (["trust", "DOCS/none"], "there is no folder"),
        (["sync", "DOCS", "--plan", "--rebuild"], "choose one"),
        (["completion", "tcsh"], "bash"),
    ],
)
def test_a_wrong_use_exits_with_2_and_says_the_way_out(
    run: Run, docs: Path, args: list[str], said: str
) -> None:
    outcome = run(*(arg.replace("DOCS", str(docs)) for arg in args))
    assert outcome.code == 2
    assert outcome.out == ""
    assert said in outcome.err
    assert "Traceback" not in outcome.err
    assert "\x1b" not in outcome.err


def test_a_question_is_as_long_as_it_is_read(run: Run, docs: Path) -> None:
    longest = ("x " * LONGEST_QUESTION)[: LONGEST_QUESTION - 6] + "coffee"
    assert len(longest) == LONGEST_QUESTION == 10_000
    assert run("search", docs, longest).code == 0
    refused = run("search", docs, f"{longest}s")
    assert (refused.code, refused.out) == (2, "")
    assert "10,001 characters" in refused.err


def test_an_error_of_the_library_is_a_line(run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> int:
        raise FirstlightError("the disk is full: make room")

    monkeypatch.setattr(edge, "_dispatch", fail)
    assert run("status", docs) == (2, "", "error: the disk is full: make room\n")


def test_an_error_of_the_system_says_which_file(
    run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> int:
        raise PermissionError(13, "Permission denied", "docs/a.md")

    monkeypatch.setattr(edge, "_dispatch", fail)
    assert run("status", docs) == (2, "", "error: docs/a.md: Permission denied\n")


def test_a_bug_is_a_line_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> int:
        raise KeyError("x\x1b[2J")

    monkeypatch.setattr(edge, "_dispatch", fail)
    outcome = run("status", ".")
    assert outcome.code == 2
    assert outcome.err.startswith("error: a bug in firstlight: KeyError")
    assert "\x1b" not in outcome.err
    monkeypatch.setenv("FIRSTLIGHT_DEBUG", "1")
    with pytest.raises(KeyError):
        run("status", ".")


def test_the_version_is_told(run: Run) -> None:
    outcome = run("--version")
    assert outcome.code == 0
    assert outcome.out.startswith("firstlight 0.")
