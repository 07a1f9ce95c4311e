"""The figures of hybrid search as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from benchmarks import places
from benchmarks.hybrid import coverage, floors

mpl.use("Agg")

from matplotlib import pyplot as plt  # after the choice of the backend

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.report import Report

    Rows = Mapping[str, Mapping[str, float]]

WAYS = {
    "bm25": ("BM25", "#8a94a3"),
    "vector": ("vectors", "#5b8db8"),
    "rrf": ("reciprocal rank fusion", "#c9b458"),
    "hybrid, elsewhere": ("hybrid, weight from the other collections", "#c8402f"),
}
COLOURS = ("#c8402f", "#5b8db8", "#c9b458", "#4f8f5b", "#222222")
# Each name once for each sixth of the width that it takes.
LAYOUT: list[Any] = [
    ["quality"] * 6,
    ["weight"] * 3 + ["floor"] * 3,
    [order for order in coverage.ORDERS for _ in range(2)],
]
SHARES = {"answers": "answers", "off-topic": "questions off the topic", "nonsense": "nonsense"}


def draw(report: Report, *, quick: bool) -> None:
    """Draw quality, the weight, the floor and the coverage."""
    figures: Mapping[str, Rows] = report.figures
    figure, axes = plt.subplot_mosaic(LAYOUT, figsize=(13, 13), layout="constrained")
    _quality(axes["quality"], figures["ndcg@10"])
    _weight(axes["weight"], figures["weight curve"])
    _floor(axes["floor"], figures)
    low, high = _limits(figures)
    for order in coverage.ORDERS:
        _coverage(axes[order], figures[f"coverage, {order} order"], order)
        axes[order].set_ylim(low, high)
    for axis in axes.values():
        axis.spines[["top", "right"]].set_visible(False)
    folder = places.scratch("quick") if quick else places.RESULTS
    figure.savefig(folder / "hybrid.png", dpi=110)
    plt.close(figure)
    print(f"drawn in {folder / 'hybrid.png'}")


def _quality(axis: Any, rows: Rows) -> None:
    axis.set_title("nDCG@10 (more is better)", fontsize=11, loc="left")
    width = 0.84 / len(WAYS)
    for place, (way, (label, colour)) in enumerate(WAYS.items()):
        at = [number + (place - (len(WAYS) - 1) / 2) * width for number in range(len(rows))]
        bars = axis.bar(at, [row[way] for row in rows.values()], width * 0.94, label=label, color=colour)
        axis.bar_label(bars, [f"{row[way]:.3f}" for row in rows.values()], padding=2, fontsize=9)
    axis.set_xticks(range(len(rows)), [_label(name) for name in rows], fontsize=10)
    axis.set_ylim(0, 1.15)
    axis.legend(ncols=len(WAYS), fontsize=9, loc="upper center", frameon=False)


def _weight(axis: Any, rows: Rows) -> None:
    axis.set_title("nDCG@10 above BM25's, by the cosine's share", fontsize=11, loc="left")
    for (name, row), colour in zip(rows.items(), COLOURS, strict=False):
        weights = [float(weight) for weight in row]
        values = [value - row["0.00"] for value in row.values()]
        axis.plot(weights, values, color=colour, label=_label(name), linewidth=1.8)
    axis.axhline(0, color="#bbbbbb", linewidth=0.8)
    axis.set_xlabel("weight: 0 is BM25, 1 is the cosine")
    axis.legend(fontsize=9, frameon=False)


def _floor(axis: Any, figures: Mapping[str, Rows]) -> None:
    axis.set_title("What reaches the floor by its cosine alone (average)", fontsize=11, loc="left")
    for (what, label), colour in zip(SHARES.items(), COLOURS, strict=False):
        values = [100 * figures[f"floor {floor}"]["average"][what] for floor in floors.FLOORS]
        axis.plot(floors.FLOORS, values, color=colour, label=label, marker="o", linewidth=1.8)
    axis.set_xticks(floors.FLOORS)
    axis.set_ylim(0, 105)
    axis.set_xlabel("floor")
    axis.set_ylabel("%")
    axis.legend(fontsize=9, frameon=False)


def _coverage(axis: Any, rows: Rows, order: str) -> None:
    axis.set_title(f"While embedding, in {order} order", fontsize=11, loc="left")
    for (name, row), colour in zip(rows.items(), COLOURS, strict=False):
        shares = [0, *(int(share.rstrip("%")) for share in row)]
        axis.plot(shares, [0, *row.values()], color=colour, label=_label(name), marker=".", linewidth=1.6)
    axis.axhline(0, color="#bbbbbb", linewidth=0.8)
    axis.axhline(-0.005, color="#bbbbbb", linewidth=0.8, linestyle="--")
    axis.set_xticks([0, 10, 30, 50, 70, 90, 100])
    axis.set_xlabel("embedded, %")
    if order == coverage.ORDERS[0]:
        axis.set_ylabel("nDCG@10 above BM25's")
        axis.legend(fontsize=9, frameon=False)


def _limits(figures: Mapping[str, Rows]) -> tuple[float, float]:
    values = [
        value
        for order in coverage.ORDERS
        for row in figures[f"coverage, {order} order"].values()
        for value in row.values()
    ]
    return min(-0.008, *values) - 0.002, max(values) + 0.005


def _label(name: str) -> str:
    return name.replace("md_knownitem_", "").replace("_train", "").replace("_", " ")
