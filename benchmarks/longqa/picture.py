"""The shares of evidence as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl

from benchmarks import places

mpl.use("Agg")

from matplotlib import pyplot as plt  # after the choice of the backend

if TYPE_CHECKING:
    from benchmarks.report import Report

WAYS = {
    "windows": ("BM25 over windows of 200 words", "#8a94a3"),
    "bm25": ("digest, bm25", "#5b8db8"),
    "hybrid": ("digest, hybrid", "#c8402f"),
}


def draw(report: Report, *, quick: bool) -> None:
    """Draw a group of bars for each collection, budget and size of chunks."""
    rows = report.figures["evidence"]
    figure, axis = plt.subplots(figsize=(11, 4.5), layout="constrained")
    width = 0.84 / len(WAYS)
    for place, (way, (label, colour)) in enumerate(WAYS.items()):
        at = [number + (place - (len(WAYS) - 1) / 2) * width for number in range(len(rows))]
        bars = axis.bar(at, [row[way] for row in rows.values()], width, label=label, color=colour)
        axis.bar_label(bars, [f"{row[way]:.1%}" for row in rows.values()], fontsize=8, padding=2)
    axis.set_xticks(range(len(rows)), [name.replace(", ", "\n") for name in rows], fontsize=9)
    axis.set_ylim(0, 1.15)
    axis.set_title("Evidence wholly inside the passages (more is better)", fontsize=11, loc="left")
    axis.legend(ncols=len(WAYS), fontsize=9, loc="upper center", frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    folder = places.scratch("quick") if quick else places.RESULTS
    figure.savefig(folder / "longqa.png", dpi=110)
    plt.close(figure)
    print(f"drawn in {folder / 'longqa.png'}")
