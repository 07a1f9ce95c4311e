"""`firstlight cache`: what the vector cache holds, and how it is emptied."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

import click

from firstlight.cli.options import as_json, print_json
from firstlight.cli.terminal import count, printable, show, style_for, talk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from firstlight.embed.cache import CacheStats, ModelStats, VectorCache

__all__ = ["command"]

_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


@click.group("cache", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> int | None:
    """Show or empty the cache of vectors.

    It keeps the vector of every text that was embedded, for all your folders, so that none is made or paid
    for twice. It holds hashes and vectors, no text.

    \b
    Examples:
      firstlight cache status
      firstlight cache clear
      firstlight cache clear --model all-MiniLM-L6-v2
    """  # noqa: D301  # click reads \b as "do not wrap"
    if context.invoked_subcommand is not None:
        return None
    code: int = context.invoke(status, as_json=False)
    return code


@command.command("status")
@as_json
def status(*, as_json: bool) -> int:
    """Show how much there is, of which models."""
    with closing(_open()) as cache:
        stats = cache.stats()
    if as_json:
        print_json(stats.to_dict())
        return 0
    style = style_for(sys.stdout)
    for name, value in _rows(stats):
        show(f"{style.faint(f'{name:<8}')} {printable(value)}")
    for model in stats.models:
        figures = f"{count(model.entries, 'vector')}, {_size(model.bytes)}"
        fingerprint = style.faint(f"({printable(model.fingerprint)})")
        show(f"  {printable(model.name) or 'a model'}: {figures} {fingerprint}")
    return 0


@command.command("clear")
@click.option("--model", metavar="NAME", help="Drop only this model's, by its name or fingerprint.")
@as_json
def clear(*, model: str | None, as_json: bool) -> int:
    """Empty the cache; indexes keep what they have."""
    with closing(_open()) as cache:
        chosen = [None] if model is None else _chosen(model, cache.stats().models)
        dropped = sum(cache.clear(fingerprint) for fingerprint in chosen)
    if as_json:
        print_json({"path": str(cache.path), "dropped": dropped})
    else:
        show(f"dropped {count(dropped, 'vector')}")
    return 0


def _open() -> VectorCache:
    from firstlight.corpus.config import load_config
    from firstlight.corpus.places import VECTOR_CACHE_NAME, state_root
    from firstlight.embed.cache import VectorCache

    config, _ = load_config("", {})  # the user's own settings, and no folder's
    return VectorCache(
        state_root() / VECTOR_CACHE_NAME,
        max_bytes=config.cache_bytes,
        warn=lambda line: talk(f"warning: {line}"),
    )


def _chosen(model: str, known: Sequence[ModelStats]) -> list[str]:
    """Return the fingerprints that a person means: a model may have several, of its revisions."""
    found = [it.fingerprint for it in known if model in (it.name, it.fingerprint)]
    if not found:
        there = ", ".join(sorted({it.name or it.fingerprint for it in known}))
        raise click.UsageError(
            f"the cache has nothing of '{model}'; it {f'has {there}' if there else 'is empty'}"
        )
    return found


def _rows(stats: CacheStats) -> Iterator[tuple[str, str]]:
    yield "cache", stats.path
    yield "vectors", f"{stats.entries:,}"
    yield "size", f"{_size(stats.size)} of {_size(stats.max_bytes)} at most"


def _size(size: int) -> str:
    for unit, step in _UNITS:
        if size >= step:
            return f"{size / step:.3g} {unit}" if size < 1000 * step else f"{size / step:,.0f} {unit}"
    return count(size, "byte")
