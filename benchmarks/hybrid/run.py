"""Everything that is measured of hybrid search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.hybrid import coverage, floors, goals, legs, picture, table, ways, weights
from benchmarks.hybrid.legs import BEST, MEAN
from benchmarks.metrics import mean
from benchmarks.report import Report
from firstlight.corpus.legs import WEIGHT
from firstlight.embed.local import FLOOR, NAME
from firstlight.evaluate.tune import FOLDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.hybrid.legs import Legs
    from benchmarks.hybrid.weights import Curve
    from benchmarks.options import Options

    Figures = dict[str, dict[str, float]]

KNOWN = ("scifact_train", "cranfield", "xquad_en", "md_knownitem_eips")
UNKNOWN = ("xquad_zh", "xquad_th")
QUICK = ("cranfield", "xquad_en", "xquad_zh")
AVERAGE = "average"
SETUP = {
    "metric": "nDCG@10, linear gain, mean over all judged questions; documents are ranked by their best unit",
    "units": "whole documents; of the EIPs our chunks, with the title of the front matter alone",
    "bm25": "firstlight's own, in-memory segments, defaults",
    "vector": f"{NAME}, the cosine alone, every unit ranked, without a floor",
    "rrf": f"reciprocal rank fusion of the two, k = {ways.RRF_K}, the best {ways.RRF_DEPTH} of each",
    "hybrid": f"firstlight's own fusion, floor {FLOOR}, the cosine's share {WEIGHT}",
    "hybrid, folds": f"each of {FOLDS} folds of a collection's questions with the best weight of the others",
    "hybrid, elsewhere": "each collection with the weight that is best on average on the other three",
    "answers": "the share of the documents judged to be answers whose best unit reaches the floor",
    "nonsense, off-topic, questions": "the share that gets any unit by its cosine alone; 60 questions of "
    "made-up words, 20 good ones on other matters, and the collection's own",
}


def run(options: Options) -> Report:
    """Measure, judge, and write the tables and the picture."""
    loaded = {name: legs.load(name) for name in (QUICK if options.quick else (*KNOWN, *UNKNOWN))}
    known = {name: loaded[name] for name in KNOWN if name in loaded}
    by_floor = {name: floors.curves_of(each) for name, each in known.items()}
    curves = {name: found[FLOOR] for name, found in by_floor.items()}
    quality, chosen = _quality(known, curves)
    foreign = {name: _foreign(loaded[name]) for name in UNKNOWN if name in loaded}
    covered = {name: _covered(each, quality[name]) for name, each in known.items()}
    figures = {
        "ndcg@10": quality,
        "weights": chosen,
        "unknown languages": foreign,
        "windows": _windows(known, quality),
        "vectors": {name: _counts(each) for name, each in loaded.items()},
        **_floors(known, by_floor),
        "weight curve": _curve(curves),
        **{
            f"coverage, {order} order": {name: found[order] for name, found in covered.items()}
            for order in coverage.ORDERS
        },
    }
    figures = {part: _rounded(rows) for part, rows in figures.items()}
    report = Report("hybrid", SETUP, figures, goals.judge(figures, list(known)))
    if not options.only:
        table.write(report, quick=options.quick)
        picture.draw(report, quick=options.quick)
    return report


def _quality(known: Mapping[str, Legs], curves: Mapping[str, Curve]) -> tuple[Figures, Figures]:
    quality: Figures = {}
    chosen: Figures = {}
    for name, each in known.items():
        folded, folds = weights.within(curves[name])
        other = weights.elsewhere(curves, name)
        quality[name] = {
            "bm25": float(ways.by_bm25(each).mean()),
            "vector": float(ways.by_vector(each).mean()),
            "rrf": float(ways.by_ranks(each).mean()),
            "hybrid": curves[name].at(WEIGHT),
            "hybrid, folds": folded,
            "hybrid, elsewhere": curves[name].at(other),
        }
        chosen[name] = {
            "folds, least": min(folds),
            "folds, most": max(folds),
            "best": weights.best_on_average([curves[name]]),
            "elsewhere": other,
        }
    return _averaged(quality), chosen


def _averaged(figures: Figures) -> Figures:
    columns = next(iter(figures.values()))
    return {**figures, AVERAGE: {what: mean(row[what] for row in figures.values()) for what in columns}}


def _rounded(rows: Figures) -> Figures:
    return {name: {what: round(value, 5) for what, value in row.items()} for name, row in rows.items()}


def _foreign(each: Legs) -> dict[str, float]:
    against = each.without_rule()
    return {
        "bm25": float(ways.by_bm25(each).mean()),
        "firstlight": float(ways.by_both(each).mean()),
        "embedded all the same": float(ways.by_both(against).mean()),
        "vector": float(ways.by_vector(against).mean()),
        "rrf": float(ways.by_ranks(against).mean()),
    }


def _windows(known: Mapping[str, Legs], quality: Figures) -> Figures:
    best = {name: weights.curve(each, windows=BEST) for name, each in known.items()}
    return _averaged(
        {
            name: {
                f"vector, {MEAN}": quality[name]["vector"],
                f"vector, {BEST}": float(ways.by_vector(each, windows=BEST).mean()),
                f"hybrid, {MEAN}": quality[name]["hybrid"],
                f"hybrid, {BEST}": best[name].at(WEIGHT),
                f"hybrid, folds, {MEAN}": quality[name]["hybrid, folds"],
                f"hybrid, folds, {BEST}": weights.within(best[name])[0],
                f"rrf, {MEAN}": quality[name]["rrf"],
                f"rrf, {BEST}": float(ways.by_ranks(each, windows=BEST).mean()),
            }
            for name, each in known.items()
        }
    )


def _counts(each: Legs) -> dict[str, float]:
    return {
        "units": len(each.known),
        "units, known": int(each.known.sum()),
        "windows a unit": each.windows,
        "questions": len(each.questions),
        "questions, known": int(each.known_questions.sum()),
    }


def _floors(known: Mapping[str, Legs], curves: Mapping[str, Mapping[float, Curve]]) -> dict[str, Figures]:
    measured = {name: floors.measure(each, curves[name], WEIGHT) for name, each in known.items()}
    return {
        f"floor {floor}": _averaged({name: found[floor] for name, found in measured.items()})
        for floor in floors.FLOORS
    }


def _curve(curves: Mapping[str, Curve]) -> dict[str, dict[str, float]]:
    means = {name: one.means() for name, one in curves.items()}
    return _averaged(
        {name: {f"{weight:.2f}": value for weight, value in found.items()} for name, found in means.items()}
    )


def _covered(each: Legs, quality: Mapping[str, float]) -> dict[str, dict[str, float]]:
    found = coverage.differences(each, ways.by_bm25(each))
    full = quality["hybrid"] - quality["bm25"]
    return {
        order: {**{f"{share:.0%}": value for share, value in row.items()}, "100%": full}
        for order, row in found.items()
    }
