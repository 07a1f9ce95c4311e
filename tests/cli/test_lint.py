from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from firstlight.cli.invariants import broken_invariants, whole_blocks
from firstlight.text import chunk_document, parse_document

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

FENCE = "```sh\n" + "echo one\n" * 20 + "```\n"


def test_sound_documents_have_no_findings(run: Run, docs: Path) -> None:
    outcome = run("lint", docs)
    assert outcome == (0, "", "2 files, 2 chunks: no findings\n")


def test_what_cannot_be_indexed_is_named_with_line_and_reason(run: Run, docs: Path) -> None:
    (docs / "binary.md").write_bytes(b"\x89PNG\x00\x00")
    (docs / "matter.md").write_text("---\ntitle: [unclosed\n---\ntext\n")
    outcome = run("lint", docs)
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert lines[0].startswith(f"{docs}/binary.md:1: ")
    assert lines[1].startswith(f"{docs}/matter.md:")
    assert outcome.err.endswith("4 files, 2 chunks: 2 findings\n")
    review = json.loads(run("lint", docs, "--json").out)
    assert [finding["what"] for finding in review["findings"]] == ["document", "document"]
    assert (review["files"], review["chunks"]) == (4, 2)


def test_what_is_passed_over_is_said_and_is_no_finding(run: Run, docs: Path) -> None:
    (docs / ".hidden.md").write_text("# Hidden\n")
    outcome = run("lint", docs)
    assert outcome.code == 0
    assert f"passed over: {docs}/.hidden.md: hidden" in outcome.err


def test_only_what_a_sync_would_index_is_looked_at(run: Run, docs: Path) -> None:
    (docs / "drafts").mkdir()
    (docs / "drafts" / "broken.md").write_text("---\ntitle: [unclosed\n---\ntext\n")
    (docs / "firstlight.toml").write_text('include = ["/*.md"]\n')
    assert run("lint", docs).code == 0


def test_files_can_be_named_one_by_one(run: Run, docs: Path) -> None:
    assert run("lint", docs / "coffee.md").err == "1 file, 1 chunk: no findings\n"
    assert run("lint", docs / "none.md").code == 2


def test_the_real_corpora_keep_what_is_promised(run: Run, data_pack: Path) -> None:
    review = json.loads(run("lint", data_pack / "md" / "eips", data_pack / "md" / "rust-book", "--json").out)
    assert review["files"] > 900
    assert [finding for finding in review["findings"] if finding["what"] == "chunk"] == []


def test_every_broken_invariant_is_seen() -> None:
    document = parse_document("a.md", f"# A\n\nbefore\n\n{FENCE}\nafter\n")
    whole = whole_blocks(document)
    (chunk,) = chunk_document(document)
    cut = document.text.index("```sh") + 20

    def faults(*starts_and_ends: tuple[int, int], text: str | None = None, max_tokens: int = 800) -> str:
        chunks = [
            replace(chunk, index=index, start=start, end=end, text=text or document.text[start:end])
            for index, (start, end) in enumerate(starts_and_ends)
        ]
        found = broken_invariants(document, whole, chunks, max_tokens=max_tokens)
        return "; ".join(reason for _, reason in found)

    end = len(document.text)
    assert faults((0, end)) == ""
    assert "is not the slice" in faults((0, end), text="other")
    assert "is empty" in faults((0, end), (end, end))
    assert "inside a block of code" in faults((0, cut), (cut, end))
    assert "is in no chunk" in faults((0, 5), (whole[0][0], end))
    assert "is in no chunk" in faults((0, whole[0][1]))
    assert "is in no chunk" in faults()
    assert "does not go on" in faults((0, end), (0, end))
    plain = parse_document("a.txt", "word " * 1000)
    (one,) = [replace(chunk, start=0, end=len(plain.text), text=plain.text)]
    assert "over 800" in "".join(reason for _, reason in broken_invariants(plain, [], [one], max_tokens=800))
