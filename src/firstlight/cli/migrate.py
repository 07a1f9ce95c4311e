"""`firstlight migrate`: change the embedding model while the old one serves, or undo that."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstlight.cli.corpora import bring_up_to_date, open_corpus, summary, tell_errors
from firstlight.cli.options import as_json, folder, pasteable, print_json, state
from firstlight.cli.terminal import count, duration, is_terminal, printable, show, style_for, talk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firstlight.corpus import Corpus
    from firstlight.corpus.migration_types import Gate, Golden, MigrationReport, MigrationStatus, Model

__all__ = ["command"]

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_VERBS = ("--to", "--rollback", "--drop", "--status")


@click.command("migrate")
@folder
@click.option("--to", "model", metavar="MODEL", help="The new model, as the setting `embedder` names it.")
@click.option("--golden", metavar="FILE", type=_FILE,
              help="Questions that both models are asked: JSON Lines with id and text, or TSV.")  # fmt: skip
@click.option("--qrels", metavar="FILE", type=_FILE,
              help="What is relevant to them; else their own `relevant` says so.")  # fmt: skip
@click.option("--min-quality", metavar="SHARE", type=click.FloatRange(min=0), default=0.95, show_default=True,
              help="The least share of the old model's nDCG@10 that the new one has to reach.")  # fmt: skip
@click.option(
    "--skip-unknown",
    is_flag=True,
    help="Leave out judgements on documents that are not in DIR; else they are an error.",
)
@click.option(
    "--yes",
    "assume_yes",
    is_flag=True,
    help="Swap without a comparison of labelled questions; index a large folder without asking.",
)
@click.option("--rollback", is_flag=True, help="Let the model before the last migration serve again.")
@click.option("--drop", is_flag=True, help="Give a migration up, and throw away what it has filled.")
@click.option("--status", is_flag=True, help="Show which models there are vectors of, and how far they are.")
@as_json
@state
def command(
    *,
    folder: Path,
    model: str | None,
    golden: Path | None,
    qrels: Path | None,
    min_quality: float,
    skip_unknown: bool,
    assume_yes: bool,
    rollback: bool,
    drop: bool,
    status: bool,
    as_json: bool,
    state: Path | None,
) -> int:
    """Change the embedding model of DIR.

    The new model is filled beside the old one, which serves meanwhile; interrupted, the same command goes on.
    With --golden both are asked, and they change places only if the new one answers well enough. Exits with 1
    where it does not, or where a --yes is missing.

    \b
    Examples:
      firstlight migrate docs --to openai:text-embedding-3-small --golden questions.jsonl
      firstlight migrate docs --to local --yes
      firstlight migrate docs --rollback
    """  # noqa: D301  # click reads \b as "do not wrap"
    given = (model is not None, rollback, drop, status)
    if sum(given) != 1:
        raise click.UsageError(f"say one of {', '.join(_VERBS)}")
    if qrels is not None and golden is None:
        raise click.UsageError("--qrels judges the questions of --golden: add it")
    with open_corpus(folder, state=state) as corpus:
        if status:
            return _status(corpus, pasteable(folder, state), as_json=as_json)
        if drop:
            return _drop(corpus, as_json=as_json)
        if model is None:
            report = corpus.roll_back()
        else:
            _bring_up_to_date(corpus, folder, assume_yes=assume_yes)
            asked = None
            if golden is not None:
                asked = _golden(corpus, golden, qrels, skip_unknown=skip_unknown)
            report = _migrated(corpus, model, asked, min_quality, assume_yes=assume_yes)
        if as_json:
            print_json(report.to_dict())
        else:
            for line in _told(report):
                show(printable(line))
        _say_what_next(report, folder, state)
    return 0 if report.done else 1


def _bring_up_to_date(corpus: Corpus, folder: Path, *, assume_yes: bool) -> None:
    report = bring_up_to_date(corpus, assume_yes=assume_yes)
    tell_errors(report.errors, folder=folder)
    if done := summary(report):
        talk(done)


def _golden(corpus: Corpus, path: Path, qrels: Path | None, *, skip_unknown: bool) -> Golden:
    from firstlight.evaluate import document_paths, read_golden

    found = read_golden(path, document_paths(corpus.state), qrels=qrels, skip_unknown=skip_unknown)
    for note in found.notes:
        talk(note)
    return found.questions


def _migrated(
    corpus: Corpus, model: str, golden: Golden | None, min_quality: float, *, assume_yes: bool
) -> MigrationReport:
    from dataclasses import replace

    from firstlight.cli.progress import Drawing

    try:
        with Drawing() as draw:
            report = corpus.migrate(
                model, golden=golden, min_quality=min_quality, yes=assume_yes, progress=draw
            )
        if report.outcome == "waiting" and _says_yes(report):
            asked = report
            with Drawing() as draw:
                report = corpus.migrate(model, yes=True, progress=draw)
            report = replace(report, gate=asked.gate, replaced=asked.replaced)
    except KeyboardInterrupt:
        talk("what is embedded is kept: the same command goes on")
        raise
    return report


def _says_yes(report: MigrationReport) -> bool:
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return False
    talk(f"{report.model.name}: {count(report.model.embedded, 'chunk')} embedded; {report.reason}")
    return click.confirm("Let it serve?", err=True)


def _told(report: MigrationReport) -> Iterator[str]:
    said = {
        "swapped": f"{report.model.name} serves now",
        "recorded": f"{report.model.name} is recorded",
        "waiting": "not swapped",
        "refused": "not swapped",
    }.get(report.outcome)
    yield f"{said}: {report.reason}" if said and report.reason else said or report.reason
    if report.gate is not None:
        yield from _compared(report.gate)
    if report.outcome in ("swapped", "waiting", "refused"):
        but = f", {report.lost:,} cannot be" if report.lost else ""
        done = f"{report.model.embedded:,} of {count(report.chunks, 'chunk')} embedded"
        yield f"{done} by {report.model.name}{but}"


def _compared(gate: Gate) -> Iterator[str]:
    asked = (
        f"{count(gate.questions, 'question')}, {f'{gate.labelled:,}' if gate.labelled else 'none'} labelled"
    )
    yield f"{asked}: {100 * gate.agreement:.1f} % of the ten best documents are the same"
    if gate.old_ndcg is not None and gate.new_ndcg is not None:
        share = "" if gate.quality is None else f", {100 * gate.quality:.1f} % of it"
        yield f"nDCG@10 {gate.old_ndcg:.3f} with the old model, {gate.new_ndcg:.3f} with the new one{share}"


def _say_what_next(report: MigrationReport, folder: Path, state: Path | None) -> None:
    where = pasteable(folder, state)
    if report.replaced is not None:
        talk(f"the unfinished migration to {report.replaced} was given up for this one")
    if report.outcome == "waiting":
        again = f"firstlight migrate {where} --to {shlex.quote(report.model.spec)} --yes"
        talk(f"what is embedded is kept; --yes lets it serve: {again}")
    elif report.outcome == "refused":
        talk("what is embedded is kept; a lower --min-quality accepts it, --drop throws it away")
    elif report.outcome != "unchanged" and not report.configured:
        till = ", until when searches are refused" if report.outcome != "recorded" else ""
        talk(f'now name it in the settings{till}: embedder = "{report.model.spec}"')
        talk(f"or set FIRSTLIGHT_EMBEDDER={shlex.quote(report.model.spec)}")
    if report.outcome == "swapped" and report.old is not None:
        talk(f"{report.old.name} is kept: firstlight migrate {where} --rollback")


def _drop(corpus: Corpus, *, as_json: bool) -> int:
    dropped = corpus.drop_migration()
    if as_json:
        print_json({"dropped": dropped})
    elif dropped is None:
        talk("no migration is under way")
    else:
        show(printable(f"dropped what was embedded by {dropped}"))
    return 0


def _status(corpus: Corpus, where: str, *, as_json: bool) -> int:
    found = corpus.migration_status()
    if as_json:
        print_json(found.to_dict())
        return 0
    style = style_for(sys.stdout)
    for name, value in _rows(found):
        show(f"{style.faint(f'{name:<8}')} {printable(value)}")
    shadow = found.shadow
    if shadow is None:
        talk("no migration is under way")
    elif found.worker is None:
        done = "it is filled" if not shadow.waiting else "it was interrupted"
        talk(f"{done}: firstlight migrate {where} --to {shlex.quote(shadow.spec)} goes on")
    return 0


def _rows(found: MigrationStatus) -> Iterator[tuple[str, str]]:
    if found.serving is None:
        yield "serving", "none; nothing is embedded yet"
    else:
        yield "serving", _model(found.serving, found.chunks)
    if found.shadow is not None:
        yield "filling", _model(found.shadow, found.chunks)
        if found.shadow.waiting and found.rate:
            left = duration(found.shadow.waiting / found.rate)
            yield "rate", f"{found.rate:.1f} chunks/s, about {left} left"
        if found.shadow.trouble is not None:
            yield "trouble", found.shadow.trouble
    if found.previous is not None:
        yield "kept", f"{_model(found.previous, found.chunks)}; --rollback brings it back"


def _model(model: Model, chunks: int) -> str:
    named = model.name if model.name == model.spec else f"{model.name} ({model.spec})"
    but = f", {model.failed:,} failed" if model.failed else ""
    but += f", {model.foreign:,} in languages that it does not know" if model.foreign else ""
    return f"{named}: {model.embedded:,} of {count(chunks, 'chunk')}{but}"
