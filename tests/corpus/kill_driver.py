"""Forks a child that edits and syncs without end, and kills it at a random moment; many times.

Run as a process of its own, so that forking meets no threads of the test run. Prints one line of JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sqlite3
import sys
import time
from pathlib import Path

from firstlight import Corpus
from firstlight.corpus import writer as writer_module
from firstlight.lexical import merge
from firstlight.store import segments

NAMES = [f"{letter}.md" for letter in "abcdefghijkl"]


def text_of(name: str, version: int) -> str:
    return f"{name[0]}page version{version} " + f"common words of {name[0]} " * (version % 40 + 1) + "\n"


def live(root: Path, log: int, seed: int, version: int) -> None:
    """Edit and sync for ever; every step is told to the log before it is done, and every sync after."""
    dice = random.Random(seed)
    with Corpus.open(root) as corpus:
        while True:
            for name in dice.sample(NAMES, dice.randint(1, 8)):
                version += 1
                gone = dice.random() < 0.25
                os.write(log, json.dumps([name, None if gone else version]).encode() + b"\n")
                if gone:
                    (root / name).unlink(missing_ok=True)
                else:
                    fresh = root / f".{name}"
                    fresh.write_text(text_of(name, version))
                    fresh.replace(root / name)
            corpus.sync(rebuild=dice.random() < 0.15)
            os.write(log, b'["synced", 0]\n')


def tell_what_is(root: Path, log: int) -> None:
    """Tell the log what each file says after a kill: its last edit may have been told and not done."""
    for name in NAMES:
        text = (root / name).read_text() if (root / name).exists() else ""
        version = int(text.split()[1].removeprefix("version")) if text else None
        os.write(log, json.dumps([name, version]).encode() + b"\n")


def possible(lines: list[tuple[str, int | None]]) -> dict[str, set[int | None]]:
    """What each file may be in the index: as at the last sync, or anything since."""
    at_sync: dict[str, int | None] = dict.fromkeys(NAMES)
    now = dict(at_sync)
    since: dict[str, set[int | None]] = {name: {None} for name in NAMES}
    for name, version in lines:
        if name == "synced":
            at_sync = dict(now)
            since = {each: {at_sync[each]} for each in NAMES}
        else:
            now[name] = version
            since[name].add(version)
    return since


def indexed(state: Path) -> dict[str, str]:
    if not (state / "corpus.db").exists():
        return {}
    connection = sqlite3.connect(state / "corpus.db")
    rows = connection.execute(
        "SELECT d.path, d.hash, c.text FROM documents d JOIN chunks c ON c.document = d.id"
    ).fetchall()
    connection.close()
    for path, digest, text in rows:
        assert hashlib.sha256(text.encode()).digest() == digest, path
    return {path: text for path, _, text in rows}


def check(root: Path, lines: list[tuple[str, int | None]]) -> int:
    with Corpus.open(root) as corpus:
        findings = corpus.verify().findings
        assert findings == (), findings
        held = indexed(corpus.state)
        for name, versions in possible(lines).items():
            allowed = {None if version is None else text_of(name, version) for version in versions}
            assert held.get(name) in allowed, (name, versions, held.get(name))
        for name, text in held.items():
            found = {hit.path for hit in corpus.search(f"{name[0]}page", top_k=20)}
            assert found == {name}, (name, found, text)
        return corpus.status().generation


def main(root: Path, kills: int, seed: int) -> None:
    merge.MOST_SEGMENTS = 4
    segments.FILE_BYTES = 600
    writer_module.BATCH_CHARACTERS = 2000
    dice = random.Random(seed)
    log_path = root.with_name("log")
    log = os.open(log_path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    generation = syncs = 0
    for round_ in range(kills):
        lines = [tuple(json.loads(line)) for line in log_path.read_text().splitlines()]
        child = os.fork()
        if child == 0:
            try:
                live(root, log, seed * 1000 + round_, len(lines))
            finally:
                os._exit(9)  # an error in the child, seen below
        time.sleep(dice.choice([0.005, 0.02, 0.1, 0.25]) * dice.random() * 2)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        tell_what_is(root, log)
        lines = [tuple(json.loads(line)) for line in log_path.read_text().splitlines()]
        now = check(root, lines)
        assert now >= generation, (now, generation)
        generation = now
        syncs = sum(name == "synced" for name, _ in lines)
    (root / "last.md").write_text("what a killed process left is swept by the next sync that writes\n")
    with Corpus.open(root) as corpus:
        corpus.sync()
        left = sorted(file.name for file in (corpus.state / "segments").iterdir())
        sound = corpus.verify().findings == ()
    report = {"kills": kills, "syncs": syncs, "generation": generation, "files": left, "ok": sound}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
