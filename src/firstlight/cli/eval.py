"""`firstlight eval`: how well each mode answers questions that somebody has judged."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from firstlight.cli.corpora import bring_up_to_date, open_corpus, summary, tell_errors
from firstlight.cli.options import as_json, assume_yes, folder, pasteable, print_json, state
from firstlight.cli.terminal import count, duration, printable, show, style_for, talk
from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from firstlight.corpus import Corpus
    from firstlight.evaluate import Report, TestSet

__all__ = ["command"]

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _modes(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    from firstlight.evaluate.types import MODES

    modes = tuple(mode.strip() for mode in value.split(","))
    for mode in modes:
        if mode not in MODES:
            raise click.BadParameter(f"'{mode}' is none of {', '.join(MODES)}")
    return modes


@click.command("eval")
@folder
@click.option("--queries", metavar="FILE", type=_FILE, required=True,
              help="The questions: JSON Lines with id and text, or TSV.")  # fmt: skip
@click.option("--qrels", metavar="FILE", type=_FILE, required=True,
              help="The judgements: TREC's qrels, or TSV or CSV with query-id, path and score.")  # fmt: skip
@click.option("--modes", metavar="LIST", callback=_modes,
              help="Which of bm25, hybrid and vector; by default all that can be used.")  # fmt: skip
@click.option("--tune", "tuned", is_flag=True, help="Find the best weight of hybrid by cross-validation.")
@click.option("--save", is_flag=True, help="Write the weight that --tune found into DIR/firstlight.toml.")
@click.option(
    "--skip-unknown",
    is_flag=True,
    help="Leave out judgements on documents that are not in DIR; else they are an error.",
)
@as_json
@assume_yes
@state
def command(
    *,
    folder: Path,
    queries: Path,
    qrels: Path,
    modes: tuple[str, ...] | None,
    tuned: bool,
    save: bool,
    skip_unknown: bool,
    as_json: bool,
    assume_yes: bool,
    state: Path | None,
) -> int:
    """Measure how well questions are answered.

    Each question is asked in each mode. Documents count by their best passage; nDCG@10, recall@10 and MRR@10
    are means over all questions. The other modes are compared with bm25, with Fisher's randomisation test on
    nDCG@10. Exits with 2 where a mode that --modes names cannot be used.

    \b
    Examples:
      firstlight eval docs --queries queries.jsonl --qrels qrels.tsv
      firstlight eval docs --queries queries.jsonl --qrels qrels.tsv --tune --save
    """  # noqa: D301  # click reads \b as "do not wrap"
    if save and not tuned:
        raise click.UsageError("--save writes what --tune finds: add --tune")
    if tuned and modes and "hybrid" not in modes:
        raise click.UsageError("--tune is about hybrid: name it in --modes, or leave --modes out")
    from firstlight.evaluate.metrics import require_extra

    require_extra()
    where = pasteable(folder, state)
    with open_corpus(folder, state=state) as corpus:
        sync = bring_up_to_date(corpus, assume_yes=assume_yes)
        tell_errors(sync.errors, folder=folder)
        if done := summary(sync):
            talk(done)
        test_set = _test_set(corpus, queries, qrels, skip_unknown=skip_unknown)
        try:
            report = _evaluated(corpus, test_set, modes, tuned=tuned)
        except ConfigError as error:
            error.reason = _pasteable(error.reason, where)
            raise
    if save and report.tuning is not None:
        from firstlight.evaluate import save_weight

        report = replace(report, saved=str(save_weight(folder, report.tuning.weight)))
    if as_json:
        print_json(report.to_dict())
    else:
        _print(report)
    _tell(report, where)
    return 2 if modes and report.not_evaluated else 0


def _test_set(corpus: Corpus, queries: Path, qrels: Path, *, skip_unknown: bool) -> TestSet:
    from firstlight.evaluate import document_paths, make_test_set, read_judgements, read_questions

    questions, judgements = read_questions(queries), read_judgements(qrels)
    documents = document_paths(corpus.state)
    return make_test_set(questions, judgements, documents, source=str(qrels), skip_unknown=skip_unknown)


def _evaluated(corpus: Corpus, test_set: TestSet, modes: tuple[str, ...] | None, *, tuned: bool) -> Report:
    from firstlight.cli.progress import Drawing
    from firstlight.corpus.config import load_config
    from firstlight.corpus.legs import WEIGHT
    from firstlight.evaluate import evaluate, tune_weight
    from firstlight.evaluate.types import MODES

    def tell(mode: str, done: int, total: int) -> None:
        draw.show(mode, done, total, f"{done:,} of {total:,} questions")

    with Drawing() as draw:
        began = monotonic()
        report = evaluate(corpus, test_set, modes=modes or MODES, progress=tell)
        if not tuned:
            return report
        configured = load_config(str(corpus.root))[0].weight
        present = WEIGHT if configured is None else configured
        tuning = tune_weight(corpus, test_set, report, present_weight=present, progress=tell)
        return replace(report, tuning=tuning, seconds=monotonic() - began)


def _print(report: Report) -> None:
    from firstlight.cli.scores import compared, mode_table, tuning_table

    style = style_for(sys.stdout)
    header, *rows = mode_table(report)
    show(style.faint(header))
    for line in rows:
        show(line)
    if report.comparisons:
        show("")
    for line in compared(report.comparisons):
        show(printable(line))
    if report.tuning is not None:
        show("")
        header, *rows = tuning_table(report)
        show(style.faint(header))
        for line in rows:
            show(printable(line))


def _pasteable(reason: str, where: str) -> str:
    return reason.replace("`firstlight sync", f"`firstlight sync {where}")


def _tell(report: Report, where: str) -> None:
    """Say on stderr what the figures do not."""
    for note in report.notes:
        talk(note)
    for scores in report.modes:
        for mode, questions in scores.fallbacks.items():
            talk(f"{scores.mode}: {count(questions, 'question')} answered as {mode}: {scores.reason}")
    for reason in dict.fromkeys(missing.reason for missing in report.not_evaluated):
        modes = ", ".join(missing.mode for missing in report.not_evaluated if missing.reason == reason)
        talk(f"not evaluated: {modes}: {_pasteable(reason, where)}")
    if report.tuning is not None:
        if report.tuning.warning:
            talk(f"warning: {report.tuning.warning}")
        if report.saved is None:
            talk(f"nothing was changed; --save writes weight = {report.tuning.weight:g} into the settings")
        else:
            talk(f"weight = {report.tuning.weight:g} is in {report.saved}")
    asked = f"{count(report.questions, 'question')}, {count(report.judgements, 'judgement')}"
    talk(f"{asked} · {duration(report.seconds)}")
