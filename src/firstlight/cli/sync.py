"""`firstlight sync`: bring the index up to date, or say what that would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from firstlight.cli.corpora import bring_up_to_date, open_corpus, summary, tally, tell_errors, why_empty
from firstlight.cli.options import as_json, assume_yes, folder, pasteable, print_json, state
from firstlight.cli.terminal import count, printable, show, talk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from firstlight.corpus import Corpus
    from firstlight.corpus.reports import Plan
    from firstlight.corpus.types import SyncReport

__all__ = ["command"]


@click.command("sync")
@folder
@click.option("--plan", is_flag=True, help="Only say what would be done; write nothing.")
@click.option("--rebuild", is_flag=True, help="Make the index anew, while the old one serves.")
@click.option("--embed", is_flag=True, help="Also embed what lacks a vector, and wait for it.")
@as_json
@assume_yes
@state
def command(
    *,
    folder: Path,
    plan: bool,
    rebuild: bool,
    embed: bool,
    as_json: bool,
    assume_yes: bool,
    state: Path | None,
) -> int:
    """Bring the index of DIR up to date.

    Only what changed is read. Files that cannot be indexed are named, keep their last good version, and do
    not stop the rest.

    \b
    Examples:
      firstlight sync docs
      firstlight sync docs --plan
    """  # noqa: D301  # click reads \b as "do not wrap"
    if plan and (rebuild or embed):
        raise click.UsageError("--plan writes nothing; --rebuild and --embed do: choose one")
    with open_corpus(folder, state=state) as corpus:
        if plan:
            report: Plan | SyncReport = corpus.plan()
        else:
            report = bring_up_to_date(corpus, assume_yes=assume_yes, rebuild=rebuild, embed=embed)
        tell_errors(report.errors, folder=folder)
        if as_json:
            print_json(report.to_dict())
        else:
            for line in _report(report):
                show(printable(line))
        if not plan:
            _tell_of_vectors(corpus, pasteable(folder, state), embed=embed)
    return 0


def _tell_of_vectors(corpus: Corpus, where: str, *, embed: bool) -> None:
    status = corpus.status()
    if not status.documents:
        talk(why_empty(corpus))
    elif embed:
        but = f", {status.failed:,} failed" if status.failed else ""
        talk(f"{status.embedded:,} of {count(status.chunks, 'chunk')} embedded by {status.model}{but}")
    elif status.queue:
        from firstlight.cli.detach import embed_behind

        embed_behind(corpus, where)


def _report(report: Plan | SyncReport) -> Iterator[str]:
    from firstlight.corpus.reports import Plan

    if isinstance(report, Plan):
        yield from _planned(report)
        return
    documents = report.added + report.changed + report.renamed + report.unchanged
    yield summary(report) or f"nothing changed in {count(documents, 'document')}"


def _planned(plan: Plan) -> Iterator[str]:
    yield from (f"+ {path}" for path in plan.added)
    yield from (f"~ {path}" for path in plan.changed)
    yield from (f"> {rename.old} -> {rename.new}" for rename in plan.renamed)
    yield from (f"- {path}" for path in plan.deleted)
    parts = tally(
        (len(plan.added), "to add"),
        (len(plan.changed), "to change"),
        (len(plan.renamed), "to rename"),
        (len(plan.deleted), "to delete"),
    )
    talk(f"{parts or 'nothing to do'}; {plan.unchanged:,} unchanged; nothing was written")
    if plan.chunks_to_embed:
        talk(f"{count(plan.chunks_to_embed, 'chunk')} to embed, about {plan.tokens_to_embed:,} tokens")
