"""The figures of hybrid search as Markdown tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import places
from benchmarks.hybrid import coverage, floors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.report import Report

    Rows = Mapping[str, Mapping[str, float]]

HEADER = """# BM25, vectors, and both

Made by `python -m benchmarks hybrid` with the local default embedder; `hybrid.png` shows it. The best of each
line is bold.

"""
LANGUAGES = """
## Languages that the model does not know (nDCG@10)

firstlight embeds nothing in another language, and ranks questions in one by BM25 alone; the columns behind it
are what would come of embedding it all the same.

"""
WINDOWS = """
## How windows become one score (nDCG@10)

By the cosine of the windows' mean vector, which firstlight keeps, or that of the best window; the better of
each pair is bold.

"""
FLOOR = """
## The floor

nDCG@10, and the share of the answers, of the questions, and of questions that have no answer here, for which
something reaches the floor.

"""
WEIGHT = """## The weight (nDCG@10)

From BM25's order (0), with what matches by its cosine alone behind it, to the cosine's (1).

"""
COVERAGE = """
## While it is embedded

Hybrid's nDCG@10 less BM25's, by the share of the units that have a vector.

"""
QUALITY = ("bm25", "vector", "rrf", "hybrid", "hybrid, folds", "hybrid, elsewhere")
FOREIGN = ("bm25", "firstlight", "embedded all the same", "vector", "rrf")


def write(report: Report, *, quick: bool) -> None:
    """Write the tables beside the results."""
    figures: Mapping[str, Rows] = report.figures
    parts = [
        HEADER,
        "## Quality (nDCG@10)\n\n",
        _table("collection", QUALITY, _rows(figures["ndcg@10"], QUALITY)),
        "\nThe weights (the cosine's share) that were chosen:\n\n",
        _plain(figures["weights"], "{:.2f}"),
        LANGUAGES,
        _table("collection", FOREIGN, _rows(figures["unknown languages"], FOREIGN)),
        WINDOWS,
        _windows(figures["windows"]),
        "\n",
        _plain(figures["vectors"], "{:.4g}"),
        FLOOR,
        *_floors(figures),
        WEIGHT,
        _curve(figures["weight curve"]),
        COVERAGE,
        *_coverage(figures),
        "## What is what\n\n",
        *(f"- {what}: {how}\n" for what, how in report.setup.items()),
        "\n## Goals\n\n",
        *(f"- {goal.line().strip()}\n" for goal in report.goals),
    ]
    folder = places.scratch("quick") if quick else places.RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hybrid.md").write_text("".join(parts), encoding="utf-8")


def _windows(rows: Rows) -> str:
    columns = tuple(next(iter(rows.values())))
    pairs = [columns[at : at + 2] for at in range(0, len(columns), 2)]
    lines = [
        [name, *(cell for pair in pairs for cell in _marked([row[column] for column in pair]))]
        for name, row in rows.items()
    ]
    return _table("collection", columns, lines)


def _floors(figures: Mapping[str, Rows]) -> list[str]:
    columns = ("hybrid", "hybrid, best weight", "vector", "answers", "questions", "off-topic", "nonsense")
    parts = []
    for name in figures[f"floor {floors.FLOORS[0]}"]:
        by_floor = {f"{floor:.2f}": figures[f"floor {floor}"][name] for floor in floors.FLOORS}
        lines = [
            [
                floor,
                *(f"{row[column]:.4f}" for column in columns[:3]),
                *(f"{row[column]:.0%}" for column in columns[3:]),
            ]
            for floor, row in by_floor.items()
        ]
        parts += [f"{name}\n\n", _table("floor", columns, lines), "\n"]
    return parts


def _curve(rows: Rows) -> str:
    columns = [weight for weight in next(iter(rows.values())) if weight.endswith("0")]
    return _table("collection", columns, _rows(rows, columns))


def _coverage(figures: Mapping[str, Rows]) -> list[str]:
    parts = []
    for order in coverage.ORDERS:
        rows = figures[f"coverage, {order} order"]
        columns = tuple(next(iter(rows.values())))
        lines = [[name, *(f"{row[column]:+.4f}" for column in columns)] for name, row in rows.items()]
        parts += [f"In {order} order:\n\n", _table("collection", columns, lines), "\n"]
    return parts


def _plain(rows: Rows, form: str) -> str:
    columns = tuple(next(iter(rows.values())))
    show: Callable[[float], str] = form.format
    lines = [[name, *(show(row[column]) for column in columns)] for name, row in rows.items()]
    return _table("collection", columns, lines)


def _rows(rows: Rows, columns: Sequence[str]) -> list[list[str]]:
    return [[name, *_marked([row[column] for column in columns])] for name, row in rows.items()]


def _table(first: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [(first, *columns), ["---"] * (len(columns) + 1), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _marked(scores: Sequence[float]) -> list[str]:
    shown = [f"{score:.4f}" for score in scores]
    most = max(shown)
    return [f"**{score}**" if score == most else score for score in shown]
