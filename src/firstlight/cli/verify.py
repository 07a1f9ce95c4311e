"""`firstlight verify`: prove that the index agrees with itself, and mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from firstlight.cli.corpora import open_corpus
from firstlight.cli.options import as_json, folder, pasteable, print_json, state
from firstlight.cli.terminal import count, duration, printable, show, talk

if TYPE_CHECKING:
    from pathlib import Path

    from firstlight.corpus.reports import VerifyReport

__all__ = ["command"]


@click.command("verify")
@folder
@click.option("--repair", is_flag=True, help="Put right what is found.")
@as_json
@state
def command(*, folder: Path, repair: bool, as_json: bool, state: Path | None) -> int:
    """Prove that the index of DIR is sound.

    Documents, chunks and postings are compared, id by id. Exits with 0 where the index is sound, or was made
    so by --repair, else with 1.

    \b
    Examples:
      firstlight verify docs
      firstlight verify docs --repair
    """  # noqa: D301  # click reads \b as "do not wrap"
    with open_corpus(folder, state=state) as corpus:
        report = corpus.verify(repair=repair)
        is_new = report.ok and not report.documents and corpus.status().synced is None
    if as_json:
        print_json(report.to_dict())
    else:
        where = pasteable(folder, state)
        _print(report, where)
        if is_new:
            talk(f"nothing is indexed yet: firstlight sync {where}")
    return 0 if report.ok else 1


def _print(report: VerifyReport, where: str) -> None:
    for kind in ("missing", "orphaned", "different"):
        for finding in getattr(report, kind):
            named = " ".join(part for part in (finding.id, finding.path) if part)
            show(printable(f"{kind} {finding.what} {named}: {finding.reason}"))
    checked = f"{count(report.documents, 'document')} and {count(report.chunks, 'chunk')} checked"
    found = len(report.findings)
    if not found:
        show(f"sound: {checked} in {duration(report.seconds)}")
    elif report.ok:
        show(f"sound again: {count(found, 'finding')} repaired; {checked}")
    else:
        left = found - report.repaired
        talk(f"{count(left, 'finding')}; {checked}; to mend the index: firstlight verify {where} --repair")
