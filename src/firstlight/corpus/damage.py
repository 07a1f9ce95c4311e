"""Tells a damaged index from a bug: the one has rows or postings that are not as they were written."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from firstlight.corpus.commands import commands_told, pasteable
from firstlight.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firstlight.corpus.site import Site

# What code trips over that was given values which nobody wrote.
_SURPRISES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@contextmanager
def damage_told(site: Site) -> Iterator[None]:
    """Turn a surprise into a StoreError with the way out, where the index turns out to be damaged.

    Nothing is checked on the way of a search: postings are mapped, and read where a question touches them.
    """
    try:
        with commands_told(site):
            yield
    except _SURPRISES as surprise:
        from firstlight.corpus.verify import verify  # noqa: PLC0415  # only where something is wrong

        if not site.database.exists() or verify(site, repair=False, wait=0).ok:
            raise
        kind = type(surprise).__name__
        message = f"{site.database.path}: damaged ({kind}); `firstlight verify --repair` mends it"
        raise StoreError(pasteable(message, site)) from surprise
