"""Chunks, questions and folders of files in any number, made from the real corpora; the same in every run."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from benchmarks import places
from benchmarks.vocabulary import Copies, cut

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VERSION = 1  # of what this module makes: raise it when that changes
CHUNK = 1_850  # characters
OLD = 1_700_000_000  # the date of made files: a sync need not suspect them of having just changed
_WORDS = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")
_SEPARATOR = "\0"


def chunks(count: int, *, size: int = CHUNK) -> list[str]:
    """Return the first `count` chunks: those of a smaller count, and more."""
    return list(stream(count, size=size))


def stream(count: int, *, size: int = CHUNK) -> Iterator[str]:
    """Yield the first `count` chunks from the scratch folder, without holding them."""
    with _chunk_file(count, size).open(encoding="utf-8", newline="") as file:
        rest = ""
        while block := file.read(1 << 20):
            *whole, rest = (rest + block).split(_SEPARATOR)
            yield from whole


def prepare(count: int, *, size: int = CHUNK) -> None:
    """Make the file of chunks, where it is not made yet."""
    _chunk_file(count, size)


def questions(texts: list[str], count: int, *, seed: int = 1) -> list[str]:
    """Return questions of 10 to 20 words in a row, each from prose of a text drawn at random."""
    random = Random(f"questions {seed}")
    asked: list[str] = []
    while len(asked) < count:
        length = random.randint(10, 20)
        prose = [line for line in random.choice(texts).splitlines() if line[:1].isalpha() and "/" not in line]
        long_enough = [words for words in map(_WORDS.findall, prose) if len(words) >= length]
        if long_enough:
            words = random.choice(long_enough)
            start = random.randint(0, len(words) - length)
            asked.append(" ".join(words[start : start + length]))
    return asked


def folder(count: int) -> Path:
    """Return a folder of `count` Markdown files in folders of 100, made once."""
    root = places.scratch(f"files-v{VERSION}-{count}")
    done = places.scratch() / f"{root.name}.done"
    if not done.exists():
        copies = Copies(path.read_text(encoding="utf-8") for path in _markdown())
        for number, text in enumerate(_pages(copies, count)):
            target = root / f"{number // 100:03}" / f"page-{number:05}.md"
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8")
            os.utime(target, (OLD, OLD))
        done.touch()
    return root


def _pages(copies: Copies, count: int) -> Iterator[str]:
    for copy in range(-(-count // len(copies))):
        for position in copies.order(copy)[: count - copy * len(copies)]:
            yield _keep_front_matter(copies, copy, position)


def _keep_front_matter(copies: Copies, copy: int, position: int) -> str:
    original, changed = copies.text(0, position), copies.text(copy, position)
    front = re.match(r"---\n.*?\n---\n", original, re.DOTALL)
    return front[0] + changed[changed.index("\n---\n", 3) + 5 :] if front else changed


def _chunk_file(count: int, size: int) -> Path:
    target = places.scratch() / f"chunks-v{VERSION}-{size}-{count}.txt"
    if not target.exists():
        partial = target.with_suffix(".partial")
        with partial.open("w", encoding="utf-8", newline="") as file:
            for text in _made(count, size):
                file.write(text + _SEPARATOR)
        partial.rename(target)
    return target


def _made(count: int, size: int) -> Iterator[str]:
    copies, copy, made = Copies(_prose()), 0, 0
    while True:
        run = "\n\n".join([copies.text(copy, position) for position in copies.order(copy)])
        for text in cut(run, size):
            yield text
            made += 1
            if made == count:
                return
        copy += 1


@cache
def _markdown() -> tuple[Path, ...]:
    return tuple(sorted((places.data() / "md").rglob("*.md")))


def _prose() -> Iterator[str]:
    """Yield every English text of the data pack, without NUL (our separator)."""
    root = places.data()
    plain = [root / "long" / "moby_dick.txt", *sorted((root / "longqa/chroma_chunking_eval/files").iterdir())]
    for path in (*_markdown(), *plain):
        yield path.read_text(encoding="utf-8", errors="replace").replace(_SEPARATOR, "")
    for name in (
        "ir/scifact_train/corpus",
        "ir/cranfield/corpus",
        "ir/xquad_en/corpus",
        "longqa/covidqa/docs",
    ):
        for line in (root / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield f"{row.get('title', '')}\n\n{row['text']}"
