"""The models that an index has vectors of: which there are, and which of them serves."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from firstlight.corpus.embedding import open_embedding
from firstlight.corpus.migration_types import ROLLED_BACK, MigrationReport, MigrationStatus, Model
from firstlight.errors import ConfigError
from firstlight.store import embedders, lease
from firstlight.store.embedders import PREVIOUS, SERVING, SHADOW, read_embedders
from firstlight.store.meta import raise_generation, read_meta
from firstlight.store.vectors import count_vectors

if TYPE_CHECKING:
    import sqlite3

    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.site import Site
    from firstlight.corpus.upgrade import Upgrade
    from firstlight.store.embedders import EmbedderRow


def roll_back(site: Site, upgrade: Upgrade) -> MigrationReport:
    """Let the model before the last migration serve again; see `Corpus.roll_back`."""
    began = time.perf_counter()
    own = own_embedding(upgrade)
    upgrade.pause()
    if not site.database.exists():
        raise ConfigError("nothing is indexed yet: there is nothing to roll back to")
    with site.database.write() as connection:
        site.check_owner(read_meta(connection))
        if not embedders.roll_back(connection):
            raise ConfigError("no migration was made that could be undone: nothing is kept of another model")
        lease.revoke(connection)  # who embeds now does it for the model that no longer serves
        generation = raise_generation(connection)
        rows = read_embedders(connection)
        model = model_of(connection, rows[SERVING])
        old = model_of(connection, rows[PREVIOUS]) if PREVIOUS in rows else None
        chunks = count_vectors(connection, rows[SERVING].id).total
    reason = f"{model.name} serves again"
    if model.waiting:
        reason += f"; {model.embedded:,} of {chunks:,} chunks have its vectors"
    report = MigrationReport(ROLLED_BACK, reason, model, old, chunks, generation=generation)
    configured = follow(site, upgrade, own)
    return replace(report, configured=configured, seconds=time.perf_counter() - began)


def drop_shadow(site: Site) -> str | None:
    """Throw away what a migration has filled so far; return its model, if there is one."""
    if not site.database.exists():
        return None
    with site.database.write() as connection:
        site.check_owner(read_meta(connection))
        shadow = read_embedders(connection).get(SHADOW)
        if shadow is None:
            return None
        lease.revoke(connection)
        embedders.drop_embedder(connection, SHADOW)
        raise_generation(connection)
    return shadow.name


def status(site: Site) -> MigrationStatus:
    """Return which models the index has vectors of; nothing is written."""
    if not site.database.exists():
        return MigrationStatus()
    with site.database.read() as connection:
        site.check_owner(read_meta(connection))
        rows = read_embedders(connection)
        held = lease.read(connection)
        models = {role: model_of(connection, row) for role, row in rows.items()}
        chunks = count_vectors(connection, 0).total
    return MigrationStatus(
        models.get(SERVING),
        models.get(SHADOW),
        models.get(PREVIOUS),
        chunks,
        worker=held.owner if held.live else None,
        rate=held.rate if held.live else 0.0,
    )


def own_embedding(upgrade: Upgrade) -> Embedding | None:
    """Return the embedder that this object has, or None where what the settings name cannot be had."""
    try:
        return upgrade.embedding()
    except ConfigError:  # no reason not to go to another
        return None


def follow(site: Site, upgrade: Upgrade, own: Embedding | None, new: Embedding | None = None) -> bool:
    """Have this object go on with the model that serves; return whether its settings name it already."""
    with site.database.read() as connection:
        serving = read_embedders(connection)[SERVING]
    configured = own is not None and own.made(serving)
    found = None
    if not configured and new is not None:
        found = open_embedding(new.given, site.config)  # with one thread: questions are answered beside it
    upgrade.follow(serving, found)
    return configured


def model_of(connection: sqlite3.Connection, row: EmbedderRow) -> Model:
    """Return an embedder with how far it is."""
    counts = count_vectors(connection, row.id)
    return Model(
        row.name,
        row.spec,
        counts.embedded,
        counts.failed,
        counts.foreign,
        counts.waiting,
        row.tokens,
        row.trouble,
    )
