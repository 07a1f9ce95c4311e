from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from firstlight.errors import ConfigError
from firstlight.store.lock import writer_lock

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


def test_one_command_leads_from_nothing_to_the_answer(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "how do I drain a node?")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "1  Drain a node"
    assert lines[1] == f"   {docs}/ops/drain.md:6"
    assert "Cordon the node first" in outcome.out
    assert "2 added (2 chunks indexed)" in outcome.err
    assert outcome.err.splitlines()[-1].startswith("bm25 · 2 of 2 chunks · ")
    assert "\x1b" not in outcome.out + outcome.err


def test_a_second_search_says_nothing_about_syncing(run: Run, docs: Path) -> None:
    run("search", docs, "drain")
    outcome = run("search", docs, "drain")
    assert outcome.code == 0
    assert len(outcome.err.splitlines()) == 1


def test_a_question_needs_no_quotes(run: Run, docs: Path) -> None:
    assert run("search", docs, "coffee", "machine").out == run("search", docs, "coffee machine").out


def test_what_changed_is_found_at_once(run: Run, docs: Path) -> None:
    run("search", docs, "drain")
    (docs / "new.md").write_text("# New\n\nA zeppelin landed.\n")
    outcome = run("search", docs, "zeppelin")
    assert "new.md:3" in outcome.out
    assert "1 added (1 chunk indexed)" in outcome.err


def test_without_a_sync_only_what_is_indexed_is_found(run: Run, docs: Path) -> None:
    run("search", docs, "drain")
    (docs / "new.md").write_text("# New\n\nA zeppelin landed.\n")
    outcome = run("search", docs, "zeppelin", "--no-sync")
    assert outcome.code == 1
    assert outcome.out == ""
    assert run("search", docs, "drain", "--no-sync").code == 0


def test_an_index_that_was_never_made_is_not_searched_in_silence(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "drain", "--no-sync")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == f"nothing to search: nothing of {docs} is indexed yet; leave out --no-sync\n"


def test_a_folder_without_documents_says_what_would_be_one(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    for outcome in (run("search", folder, "drain"), run("sync", folder)):
        assert f"{folder} has no documents: .markdown, .md, .mdx and .txt files" in outcome.err


def test_a_misspelt_word_among_others_is_named(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "drian the node")
    assert outcome.code == 0
    assert "no document has: drian\n" in outcome.err


def test_a_word_that_a_document_has_is_not_called_unknown(run: Run, docs: Path) -> None:
    assert "no document has" not in run("search", docs, "coffee drain", "-k", "1").err


def test_nothing_found_says_what_was_searched_and_which_words_nobody_uses(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "frobnicate the quux")
    assert outcome.code == 1
    assert outcome.out == ""
    last = outcome.err.splitlines()[-1]
    assert "in 2 chunks of 2 documents (bm25)" in last
    assert last.endswith("no document has: frobnicate, quux")


def test_nothing_found_says_that_the_filter_is_why(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "drain", "--where", "area = about")
    assert outcome.code == 1
    assert "there are hits without --where 'area = about'" in outcome.err


def test_nothing_found_says_that_the_quotes_are_why(run: Run, docs: Path) -> None:
    outcome = run("search", docs, '"node drain"')
    assert outcome.code == 1
    assert "there are hits without the quotes" in outcome.err


def test_a_question_without_words_says_so(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "?!")
    assert outcome.code == 1
    assert "has no words" in outcome.err


def test_an_empty_folder_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    outcome = run("search", tmp_path / "empty", "x")
    assert outcome.code == 1
    assert "no documents" in outcome.err


def test_a_filter_narrows_the_search(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "node", "--where", "area = platform and level >= 2", "--json")
    assert [hit["path"] for hit in json.loads(outcome.out)["hits"]] == ["ops/drain.md"]


def test_a_misspelt_field_is_an_error_that_lists_the_fields(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "node", "--where", "aera = platform")
    assert outcome.code == 2
    assert outcome.out == ""
    assert "area" in outcome.err
    assert "level" in outcome.err


def test_k_is_how_many_hits_there_are_at_most(run: Run, docs: Path) -> None:
    assert len(json.loads(run("search", docs, "node", "-k", "1", "--json").out)["hits"]) == 1
    assert len(json.loads(run("search", docs, "node", "-k", "10000", "--json").out)["hits"]) == 2


def test_json_is_the_one_shape_of_results(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "drain", "--json")
    results = json.loads(outcome.out)
    assert set(results) >= {
        "query", "mode", "embedded", "total", "model", "generation", "reason", "hits"
    }  # fmt: skip
    assert results["query"] == "drain"
    hit = results["hits"][0]
    assert set(hit) >= {
        "rank", "id", "path", "title", "headings", "start", "end", "line_start", "line_end", "text",
        "snippet", "score", "scores", "matched", "unmatched", "payload", "stale", "also_in",
    }  # fmt: skip
    text = (docs / hit["path"]).read_text()
    assert text[hit["start"] : hit["end"]] == hit["text"]
    assert hit["payload"]["area"] == "platform"


def test_json_is_printed_when_nothing_is_found_too(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "frobnicate", "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["hits"] == []


def test_json_cannot_act_on_a_terminal(run: Run, docs: Path) -> None:
    (docs / "evil.md").write_text("# Evil \x9b2J\n\nzeppelin \x1b[31m \u202e 漢字\n")
    outcome = run("search", docs, "zeppelin", "--json")
    assert outcome.out.isascii()
    assert "\x1b" not in outcome.out
    assert "漢字" in json.loads(outcome.out)["hits"][0]["text"]


def test_an_explanation_shows_scores_and_words(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "drain hose", "--explain", "-k", "1")
    assert "   score " in outcome.out
    assert "   matched " in outcome.out
    assert "   without " in outcome.out


def test_modes_that_need_an_embedder_say_so(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "drain", "--mode", "hybrid")
    assert "Traceback" not in outcome.err
    assert outcome.err


def test_files_that_cannot_be_indexed_are_named_the_first_few_of_many(run: Run, docs: Path) -> None:
    for number in range(13):
        (docs / f"bad{number:02}.md").write_bytes(b"\x00\x01 not text")
    outcome = run("search", docs, "drain")
    assert outcome.code == 0
    told = [line for line in outcome.err.splitlines() if line.startswith("not indexed: ")]
    assert len(told) == 3
    assert told[0].startswith(f"not indexed: {docs}/bad00.md: ")
    assert f"and 10 more: firstlight status {docs}" in outcome.err


def test_where_a_sync_fails_the_last_good_state_answers(
    run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("sync", docs)

    def fail(*_: object, **__: object) -> None:
        raise ConfigError("level: missing", path="docs/a.md", line=3)

    monkeypatch.setattr("firstlight.corpus.Corpus.sync", fail)
    outcome = run("search", docs, "drain")
    assert outcome.code == 0
    assert "warning: docs/a.md:3: level: missing" in outcome.err
    assert "1  Drain a node" in outcome.out


def test_where_nothing_is_indexed_yet_a_failing_sync_is_an_error(
    run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ConfigError("level: missing", path="docs/a.md", line=3)

    monkeypatch.setattr("firstlight.corpus.Corpus.sync", fail)
    assert run("search", docs, "drain") == (2, "", "error: docs/a.md:3: level: missing\n")


def test_while_another_process_syncs_what_is_committed_answers(run: Run, docs: Path, home: Path) -> None:
    state = home / "index"
    run("sync", docs, "--state", state)
    (docs / "new.md").write_text("# New\n\nA zeppelin landed.\n")
    with writer_lock(state, wait=0):
        outcome = run("search", docs, "drain", "--state", state)
    assert outcome.code == 0
    assert "is writing this index" in outcome.err
    assert "1  Drain a node" in outcome.out


def test_the_state_can_be_anywhere(run: Run, docs: Path, home: Path) -> None:
    assert run("search", docs, "drain", "--state", home / "here").code == 0
    assert any((home / "here").iterdir())
    assert not (home / "state").exists()


def test_a_content_folder_is_not_written_to(run: Run, docs: Path) -> None:
    before = sorted(docs.rglob("*"))
    run("search", docs, "drain")
    assert sorted(docs.rglob("*")) == before


def test_the_folder_can_be_the_one_we_are_in(run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(docs)
    assert run("search", ".", "drain").out.splitlines()[1] == "   ops/drain.md:6"


def test_a_reader_that_leaves_is_no_error(home: Path, docs: Path) -> None:
    for number in range(300):
        (docs / f"{number}.md").write_text(f"# Page {number}\n\n" + f"needle {number} in a haystack. " * 40)
    command = f"{sys.executable} -m firstlight search '{docs}' needle -k 300; echo code $? >&2"
    done = subprocess.run(
        ["bash", "-c", f"{{ {command}; }} | head -1"],
        capture_output=True, text=True, timeout=60, check=False, env=os.environ.copy(),
    )  # fmt: skip
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr.splitlines()[-1] == "code 141"
    assert "Broken" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(home: Path, docs: Path, closed: str) -> None:
    command = f"{sys.executable} -m firstlight search '{docs}' drain {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_is_an_error(home: Path, docs: Path) -> None:
    command = f"{sys.executable} -m firstlight search '{docs}' drain > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_only_ascii_gets_escapes(
    process: Run, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "han.md").write_text("# 漢字\n\n漢字 drain\n")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    outcome = process("search", docs, "漢字")
    assert outcome.code == 0
    assert r"\u6f22\u5b57" in outcome.out
