"""The comparison of quality as a Markdown table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.report import Report

COLUMNS = ("firstlight", "bm25s", "fts5", "tantivy")
HEADER = """# Quality beside bm25s, FTS5 and Tantivy

nDCG@10, made by `python -m benchmarks quality`. The best of each line is bold. A peer stands with the best of
its set-ups on that collection; the second table shows each.

"""


def write(report: Report, *, quick: bool) -> None:
    """Write the table beside the results."""
    figures = report.figures["ndcg@10"]
    average = report.figures["average"]
    rows = [[name, *_marked([scores[who] for who in COLUMNS])] for name, scores in figures.items()]
    rows.append(["average", *_marked([average[who] for who in COLUMNS])])
    setups = [
        [name, *who.split("/", 1), f"{score:.4f}"]
        for name, scores in figures.items()
        for who, score in scores.items()
        if "/" in who
    ]
    notes = "".join(f"- {what}: {how}\n" for what, how in report.setup.items())
    text = (
        HEADER
        + _table(("collection", *COLUMNS), rows)
        + "\n"
        + _table(("collection", "peer", "set-up", "nDCG@10"), setups)
        + "\n"
        + notes
    )
    folder = places.scratch("quick") if quick else places.RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "quality.md").write_text(text, encoding="utf-8")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _marked(scores: Sequence[float]) -> list[str]:
    best = max(scores)
    return [f"**{score:.4f}**" if score == best else f"{score:.4f}" for score in scores]
