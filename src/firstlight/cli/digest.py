"""`firstlight digest`: one document, one question, and an answer that says where it is from."""

from __future__ import annotations

import os
import re
import sys
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from firstlight.cli.options import as_json, print_json
from firstlight.cli.terminal import columns, count, duration, is_terminal, printable, show, style_for, talk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firstlight.cli.source import Source
    from firstlight.digest.engine import DigestEngine
    from firstlight.digest.llm import ChatClient
    from firstlight.digest.types import Citation, Digest
    from firstlight.embed.types import Embedder

__all__ = ["command"]

CACHE_NAME = "digest.db"  # in the folder of all states
_KEY, _OPENAI_KEY, _OPENAI_URL = "FIRSTLIGHT_LLM_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"
_OPENAI_HOST = "api.openai.com"
_TIMEOUT = 45.0
_WIDEST = 100  # columns that are read with ease
_LINE_END = re.compile(r"\r\n|[\r\n]")


@click.command("digest")
@click.argument("file", metavar="FILE")
@click.argument("question", nargs=-1)
@click.option("--llm", "url", metavar="URL", help="Let the model at this OpenAI-compatible address write the "
              "answer, as in http://127.0.0.1:8080/v1.")  # fmt: skip
@click.option("--model", metavar="NAME", help="The model there; its first one by default. Needs --llm.")
@click.option("--embedder", metavar="SPEC", help="Choose passages with this one, as in local or none.")
@click.option("--stream", "streams", is_flag=True, help="Show the answer as it is written.")
@click.option("--wait", "waits", is_flag=True, help="After the answer, stay until all of FILE is embedded.")
@click.option("--timeout", metavar="SECONDS", type=click.FloatRange(0.1, 3600), default=_TIMEOUT,
              show_default=True, help="Give up an answer that takes longer.")  # fmt: skip
@as_json
def command(
    *,
    file: str,
    question: tuple[str, ...],
    url: str | None,
    model: str | None,
    embedder: str | None,
    streams: bool,
    waits: bool,
    timeout: float,
    as_json: bool,
) -> int:
    """Answer a question from one document.

    FILE is a .txt, .md, .html, .pdf or .docx, or - for standard input. Without --llm the answer is the best
    sentences, word for word; without a question it is about the beginning. The key of --llm is taken from
    FIRSTLIGHT_LLM_KEY, or, for OpenAI itself, from OPENAI_API_KEY.

    \b
    Examples:
      firstlight digest report.pdf what does the audit find
      firstlight digest book.txt 'who is the captain?' --llm http://127.0.0.1:8080/v1 --stream
    """  # noqa: D301  # click reads \b as "do not wrap"
    if as_json and streams:
        raise click.UsageError("--json prints a whole object: leave out --stream")
    if model is not None and url is None:
        raise click.UsageError("--model is one of a server's: say which one with --llm URL")
    from firstlight.cli.source import read_source

    asked = _question(question)
    llm = None if url is None else _client(url, model)
    source = read_source(file)
    if not source.text.strip():
        talk(f"nothing found: {source.title} has no text")
        return 1
    with _engine(llm, embedder, timeout) as engine:
        began = perf_counter()
        digest = _ask(engine, source, asked, streams=streams, by=None if llm is None else str(url))
        seconds = perf_counter() - began
        _tell(digest, source, asked, seconds=seconds, as_json=as_json, streamed=streams)
        if digest.provisional:
            _wait(engine, waits=waits)
    return 0 if digest.text.strip() else 1


def _question(words: tuple[str, ...]) -> str:
    from firstlight.lexical.query import LONGEST_QUESTION

    question = " ".join(words)
    if len(question) > LONGEST_QUESTION:
        raise click.UsageError(
            f"the question has {len(question):,} characters; at most {LONGEST_QUESTION:,} make one"
        )
    return question


def _client(url: str, model: str | None) -> ChatClient:
    from firstlight.digest.llm import ChatClient

    return ChatClient(url, model=model, key=_key_for(url))


def _key_for(url: str) -> str | None:
    """Return the key that belongs to an address: the one for models, or OpenAI's at its own host alone."""
    if key := os.environ.get(_KEY):
        return key
    try:
        host = urlsplit(url).hostname
        own = {_OPENAI_HOST, urlsplit(os.environ.get(_OPENAI_URL, "")).hostname} - {None}
    except ValueError:  # no address, which the client says
        return None
    return os.environ.get(_OPENAI_KEY) or None if host in own else None


def _engine(llm: ChatClient | None, embedder: str | None, timeout: float) -> DigestEngine:
    from firstlight.corpus.places import state_root
    from firstlight.digest.engine import DigestEngine

    return DigestEngine(
        llm=llm, embedder=_embedder(embedder), cache=state_root() / CACHE_NAME, timeout=timeout
    )


def _embedder(spec: str | None) -> Embedder | None:
    """Return the embedder that is named, else the environment's, the user's own, or the local one."""
    from firstlight.corpus.config import load_config
    from firstlight.corpus.embedding import open_embedding

    config, warnings = load_config("", {})  # the user's own settings, and no folder's
    for warning in warnings:
        talk(f"warning: {warning}")
    embedding = open_embedding(spec, config)
    return None if embedding is None else embedding.embedder


def _ask(engine: DigestEngine, source: Source, question: str, *, streams: bool, by: str | None) -> Digest:
    from firstlight.cli.waiting import Waiting

    what = "reading" if by is None else f"waiting for {printable(by)}"
    with Waiting(what) as waiting, engine.stream(source.text, question) as parts:
        for part in parts:
            if streams:
                waiting.end()
                sys.stdout.write(_shown(part))
                sys.stdout.flush()
        return parts.digest


def _tell(
    digest: Digest, source: Source, question: str, *, seconds: float, as_json: bool, streamed: bool
) -> None:
    if as_json:
        print_json({"file": source.name, "question": question, **digest.to_dict()})
    elif digest.text.strip():
        if not streamed:
            sys.stdout.write(_shown(_text(digest)))
        show("")
        for line in _sources(digest, source):
            show(line)
        if is_terminal(sys.stdout):
            show("")
        if digest.removed:
            talk(f"removed {count(digest.removed, 'citation')} of passages that do not exist")
    if not digest.text.strip():
        talk(_why_nothing(digest, source))
    elif not as_json:
        talk(_mode_line(digest, seconds))


def _text(digest: Digest) -> str:
    """Return the answer; for a person the sentences of an extract are not broken where the document's are."""
    text = digest.text.rstrip()
    if digest.llm is not None or not is_terminal(sys.stdout):
        return text
    width = min(columns(sys.stdout), _WIDEST)
    return "\n\n".join(_filled(part, width) if "\n" in part else part for part in text.split("\n\n"))


def _filled(text: str, width: int) -> str:
    from textwrap import fill

    return fill(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)


def _shown(text: str) -> str:
    """Return text of a document or a model with its lines, and without what could act on a terminal."""
    encoding = sys.stdout.encoding or "ascii"
    lines = _LINE_END.sub("\n", text).split("\n")
    safe = "\n".join("\t".join(map(printable, line.split("\t"))) for line in lines)
    return safe.encode(encoding, "backslashreplace").decode(encoding)


def _sources(digest: Digest, source: Source) -> Iterator[str]:
    """Yield a line for each place that is cited, in the answer's order."""
    style = style_for(sys.stdout)
    places = [(citation.number, _place(citation, digest, source)) for citation in digest.citations]
    if places:
        yield ""
    for number, place in dict.fromkeys(places):
        yield style.faint(printable(f"[{number}] {place}"))


def _place(citation: Citation, digest: Digest, source: Source) -> str:
    """Return where what is cited begins: the page of what has pages, else the line."""
    passage = next(found for found in digest.passages if found.number == citation.number)
    cited = passage.text[max(citation.start - passage.start, 0) : citation.end - passage.start]
    begins = max(citation.start - passage.start, 0) + len(cited) - len(cited.lstrip())
    if source.has_pages:
        return f"{source.title} page {_page_at(source.text, passage.start + begins)}"
    line = passage.line_start + len(_LINE_END.findall(passage.text, 0, begins))
    return f"{source.title}:{line}" if source.has_lines else f"{source.title}, line {line} of its text"


def _page_at(text: str, offset: int) -> int:
    return text.count("\f", 0, offset) + 1


def _mode_line(digest: Digest, seconds: float) -> str:
    """Say in one line how the answer came about: rule 2, for a person."""
    is_said = f"{digest.embedded} of {digest.total}" in digest.reason  # not everything twice
    counts = digest.embedded and not is_said
    parts = [
        digest.retrieval,
        f"{digest.embedded:,} of {count(digest.total, 'chunk')} embedded" if counts else None,
        digest.llm,
        digest.reason,
        duration(seconds),
    ]
    return " · ".join(part for part in parts if part)


def _why_nothing(digest: Digest, source: Source) -> str:
    searched = f"{count(digest.total, 'chunk')} of {source.title}"
    if digest.llm is not None:
        return f"nothing found: {digest.llm} gave an empty answer from {searched} ({digest.reason})"
    return f"nothing found in {searched}: no sentence has a word of the question ({digest.retrieval})"


def _wait(engine: DigestEngine, *, waits: bool) -> None:
    if engine.wait_background(0):
        talk("provisional: it is not kept, and the same question is answered anew")
        return
    if not waits:
        talk("provisional: --wait stays until the document is embedded, and the next answer is better")
        return
    from firstlight.cli.waiting import Waiting

    with Waiting("embedding the document"):
        engine.wait_background()
    talk("more of the document is embedded now: ask again")
