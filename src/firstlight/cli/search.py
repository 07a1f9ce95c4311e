"""`firstlight search`: bring the index up to date, then answer."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import TYPE_CHECKING

import click

from firstlight.cli.corpora import bring_up_to_date, open_corpus, summary, tell_errors
from firstlight.cli.options import as_json, assume_yes, folder, pasteable, print_json, state
from firstlight.cli.results import mode_line, render_hit
from firstlight.cli.terminal import columns, is_terminal, show, style_for, talk
from firstlight.errors import FirstlightError

if TYPE_CHECKING:
    from pathlib import Path

    from firstlight.corpus import Corpus
    from firstlight.rank.types import Results

__all__ = ["command"]

_WAIT = 0.5  # seconds: another process' sync may take long, and what it has committed can be searched

_MOST_ERRORS = 3  # files that stay as they are would be named before every answer
_MOST_HITS = 10_000  # more than anyone reads; a slip of the finger should not fill the screen


@click.command("search")
@folder
@click.argument("query", nargs=-1, required=True)
@click.option("-k", "top_k", metavar="N", type=click.IntRange(1, _MOST_HITS), default=10, show_default=True,
              help="Show at most this many hits.")  # fmt: skip
@click.option("--mode", type=click.Choice(["auto", "bm25", "hybrid", "vector"]), default="auto",
              show_default=True, help="How to rank; auto is the best that the index can do now. hybrid and "
              "vector need an embedder.")  # fmt: skip
@click.option("--where", metavar="FILTER", help="Search only documents whose fields match.")
@click.option("--per-document", metavar="N", type=click.IntRange(1), default=3, show_default=True,
              help="Show at most this many hits of one document.")  # fmt: skip
@click.option("--explain", is_flag=True, help="Show the scores, and which words matched.")
@click.option("--no-sync", is_flag=True, help="Search what is indexed; do not look for changes.")
@as_json
@assume_yes
@state
def command(
    *,
    folder: Path,
    query: tuple[str, ...],
    top_k: int,
    mode: str,
    where: str | None,
    per_document: int,
    explain: bool,
    no_sync: bool,
    as_json: bool,
    assume_yes: bool,
    state: Path | None,
) -> int:
    """Search the documents in DIR.

    The index is made, or brought up to date, first. "Quoted words" have to stand in a passage as they
    are; protect the quotes from the shell.

    \b
    Examples:
      firstlight search docs how do I drain a node
      firstlight search docs '"rolling update" checklist' -k 3
      firstlight search docs deployment --where 'area = platform and level <= 2'
    """  # noqa: D301  # click reads \b as "do not wrap"
    question = _question(query)
    with open_corpus(folder, state=state) as corpus:
        if not no_sync:
            _sync(corpus, folder, assume_yes=assume_yes)
        began = perf_counter()
        results = corpus.search(
            question, top_k=top_k, where=where, mode=mode, per_document=per_document, explain=explain
        )
        seconds = perf_counter() - began
        if as_json:
            print_json(results.to_dict())
        elif results:
            _print(results, folder, explain=explain)
            _tell_unknown(corpus, results)
            talk(mode_line(results, seconds=seconds))
        if not results:
            from firstlight.cli.nothing import why_nothing

            talk(why_nothing(corpus, results, where=where))
        if results.mode != "hybrid" and mode != "bm25":
            from firstlight.cli.detach import embed_behind

            embed_behind(corpus, pasteable(folder, state))
    return 0 if results else 1


def _question(words: tuple[str, ...]) -> str:
    question = " ".join(words)
    if not question.strip():
        raise click.UsageError("the question is empty: say what to search for")
    from firstlight.lexical.query import LONGEST_QUESTION

    if len(question) > LONGEST_QUESTION:
        raise click.UsageError(
            f"the question has {len(question):,} characters; at most {LONGEST_QUESTION:,} make one"
        )
    if any(map(_is_binary, question)):
        raise click.UsageError("the question is not text: it has control characters or bytes outside UTF-8")
    return question


def _is_binary(character: str) -> bool:
    control = character < " " and not character.isspace()
    return control or "\x7f" <= character < "\xa0" or "\ud800" <= character <= "\udfff"


def _sync(corpus: Corpus, folder: Path, *, assume_yes: bool) -> None:
    """Bring the index up to date; where that fails, the last good state goes on serving."""
    try:
        report = bring_up_to_date(corpus, assume_yes=assume_yes, wait=_WAIT)
    except FirstlightError as error:
        if corpus.status().generation == 0:
            raise
        talk(f"warning: {error}")
        talk("warning: the index could not be brought up to date; this is what it held before")
        return
    tell_errors(report.errors, folder=folder, most=_MOST_ERRORS)
    if done := summary(report):
        talk(done)


def _tell_unknown(corpus: Corpus, results: Results) -> None:
    """A misspelt word among others hides in the hits for the rest: it is named."""
    if not any(hit.unmatched for hit in results):
        return
    from firstlight.cli.nothing import unknown_words

    if unknown := unknown_words(corpus, results):
        talk(f"no document has: {unknown}")


def _print(results: Results, folder: Path, *, explain: bool) -> None:
    style = style_for(sys.stdout)
    margin = len(str(len(results))) + 2
    for hit in results:
        if hit.rank > 1:
            show("")
        lines = render_hit(
            hit, folder=folder, columns=columns(sys.stdout), style=style, margin=margin, explain=explain
        )
        show("\n".join(lines))
    if is_terminal(sys.stdout):
        show("")
