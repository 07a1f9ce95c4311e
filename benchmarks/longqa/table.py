"""The shares of evidence as Markdown tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.report import Report

    Rows = Mapping[str, Mapping[str, float]]

HEADER = """# The evidence in the passages

How much of what answers a question is wholly inside the passages that a digest chooses, beside plain BM25
over windows of 200 words. Made by `python -m benchmarks longqa` with the local default embedder; `longqa.png`
shows it. The best of each line is bold, the last two columns apart, which no digest does.

"""
LONGER = """
## In documents longer than the budget

Without those that everybody reads whole.

"""
APART = ("hybrid, mean window", "bm25, no chunk 0")


def write(report: Report, *, quick: bool) -> None:
    """Write the tables beside the results."""
    figures: Mapping[str, Rows] = report.figures
    spans = figures["spans"]
    parts = [
        HEADER,
        _table(figures["evidence"], {row: each["all"] for row, each in spans.items()}),
        LONGER,
        _table(figures["evidence in longer documents"], {row: each["longer"] for row, each in spans.items()}),
        "\n## What is what\n\n",
        *(f"- {what}: {how}\n" for what, how in report.setup.items()),
        "\n## Goals\n\n",
        *(f"- {goal.line().strip()}\n" for goal in report.goals),
    ]
    folder = places.scratch("quick") if quick else places.RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "longqa.md").write_text("".join(parts), encoding="utf-8")


def _table(rows: Rows, spans: Mapping[str, float]) -> str:
    ways = list(next(iter(rows.values())))
    lines = [["collection, budget", "spans", *ways], ["---"] * (len(ways) + 2)]
    for name, row in rows.items():
        most = max(share for way, share in row.items() if way not in APART)
        shown = [
            f"**{share:.1%}**" if share == most and way not in APART else f"{share:.1%}"
            for way, share in row.items()
        ]
        lines.append([name, f"{spans[name]:,}", *shown])
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
