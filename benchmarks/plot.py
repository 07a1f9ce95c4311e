"""One picture of all results: `python -m benchmarks plot`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from benchmarks import places

mpl.use("Agg")

from matplotlib import pyplot as plt  # after the choice of the backend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

OURS, OTHERS = "#c8402f", "#8a94a3"
PEERS = {"firstlight": OURS, "bm25s": "#5b8db8", "fts5": "#8a94a3", "tantivy": "#c9b458"}
PANELS = (
    ("speed.first_answer", "First answer from nothing, 950 files (whole command)", ("firstlight", "qmd")),
    ("speed.warm", "Search, indexed already (whole command)", ("firstlight", "qmd")),
    ("speed.sync", "Sync of 10,000 files, nothing changed", ("firstlight", "find")),
    ("speed.build", "Index 100,000 chunks, 187 MB", ("firstlight", "fts5", "tantivy", "bm25s")),
    ("speed.questions", "Question of 10 to 20 words, p50", ("firstlight", "bm25s", "tantivy", "fts5")),
    ("speed.adding", "Add 100 chunks, find one", ("firstlight", "firstlight corpus", "tantivy")),
    ("speed.scale", "Index more chunks", ("100000 chunks", "200000 chunks", "500000 chunks")),
    (
        "speed.questions",
        "The same questions with filters, p50",
        tuple(f"firstlight, {how}" for how in ("again", "filter 1%", "filter 10%", "filter 50%")),
    ),
    ("speed.unseen", "One question, 500 unseen chunks", ("firstlight", "fts5", "tantivy", "bm25s")),
)


def draw(*, quick: bool) -> None:
    """Draw what was measured; panels without results are left empty, saying so."""
    folder = places.scratch("quick") if quick else places.RESULTS
    figure, axes = plt.subplots(5, 2, figsize=(13, 16), layout="constrained")
    for axis, (name, title, contenders) in zip(axes.flat, PANELS, strict=False):
        _bars(axis, _figures(folder, name), title, contenders)
    _quality(axes.flat[-1], _figures(folder, "quality"))
    figure.suptitle(_machine(folder), fontsize=10)
    figure.savefig(folder / "overview.png", dpi=110)
    plt.close(figure)
    print(f"drawn in {folder / 'overview.png'}")


def _bars(axis: Any, figures: Mapping[str, Any], title: str, contenders: Sequence[str]) -> None:
    shown = [name for name in contenders if name in figures]
    axis.set_title(title, fontsize=11, loc="left")
    if not shown:
        axis.text(0.5, 0.5, "not measured", ha="center", transform=axis.transAxes)
        return
    values = [figures[name]["median_s"] for name in shown]
    colours = [
        OURS if name.startswith("firstlight") or name.endswith(" chunks") else OTHERS for name in shown
    ]
    labels = [name.replace("again", "no filter").replace("000 chunks", ",000 chunks") for name in shown]
    bars = axis.barh(labels, values, color=colours)
    axis.bar_label(bars, [_time(value) for value in values], padding=4, fontsize=10)
    axis.invert_yaxis()
    if max(values) > 20 * min(values):
        axis.set_xscale("log")
        axis.set_xlim(min(values) / 3, max(values) * 4)
        axis.set_xlabel("seconds, log scale (less is better)")
    else:
        axis.set_xlim(0, max(values) * 1.2)
        axis.set_xlabel("seconds (less is better)")
    axis.spines[["top", "right"]].set_visible(False)


def _quality(axis: Any, figures: Mapping[str, Any]) -> None:
    axis.set_title("nDCG@10 (more is better)", fontsize=11, loc="left")
    if not figures:
        axis.text(0.5, 0.5, "not measured", ha="center", transform=axis.transAxes)
        return
    sets = {**figures["ndcg@10"], "average": figures["average"]}
    width = 0.8 / len(PEERS)
    for place, (peer, colour) in enumerate(PEERS.items()):
        at = [number + (place - (len(PEERS) - 1) / 2) * width for number in range(len(sets))]
        axis.bar(at, [scores[peer] for scores in sets.values()], width, label=peer, color=colour)
    labels = [name.replace("md_knownitem_", "").replace("_", "\n") for name in sets]
    axis.set_xticks(range(len(sets)), labels, fontsize=9)
    axis.set_ylim(0, 1.12)
    axis.legend(ncols=len(PEERS), fontsize=9, loc="upper center", frameon=False)
    axis.spines[["top", "right"]].set_visible(False)


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def _content(folder: Path, name: str) -> dict[str, Any]:
    path = folder / f"{name}.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return content


def _figures(folder: Path, name: str) -> dict[str, Any]:
    figures: dict[str, Any] = _content(folder, name).get("figures", {})
    return figures


def _machine(folder: Path) -> str:
    stated = [_content(folder, name).get("machine") for name, _, _ in PANELS]
    machine = next(filter(None, stated), None)
    if machine is None:
        return "firstlight beside its peers"
    python, cores = machine["python"], machine["cores"]
    return f"firstlight beside its peers, one run on {machine['processor']}, {cores} cores, Python {python}"
