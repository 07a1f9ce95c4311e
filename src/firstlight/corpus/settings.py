"""The keys of `firstlight.toml`: what each may say, and what to tell where one is wrong."""

from __future__ import annotations

import codecs
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firstlight.embed.spec import parse_spec
from firstlight.errors import ConfigError
from firstlight.lexical.languages import LATIN_STEMMERS
from firstlight.text.gitignore import parse_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_UNITS = {
    "": 1,
    "b": 1,
    "kb": 1000,
    "mb": 1000**2,
    "gb": 1000**3,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """Where settings come from: the parsed table, and the file's bytes, which tell their lines."""

    table: Mapping[str, Any]
    path: str | None = None
    data: bytes = b""

    def line(self, key: str) -> int | None:
        """Return the 1-based line that sets `key` (dotted, as in `lexical.k1`)."""
        table, _, name = key.rpartition(".")
        inside = ""
        for number, line in enumerate(self.data.decode("utf-8-sig").splitlines(), 1):
            if header := re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line):
                inside = header[1].replace('"', "").replace(" ", "")
                if inside == key:
                    return number
            elif found := re.match(r"\s*([\w.\"' -]+?)\s*=", line):
                said = found[1].replace('"', "").replace("'", "").replace(" ", "")
                if (inside, said) in ((table, name), ("", key)):
                    return number
        return None


@dataclass(frozen=True, slots=True)
class Setting:
    """One key: `read` turns what it says into a value, or raises a ValueError that says what is right."""

    name: str
    read: Callable[[Any], Any]


def parse_settings(source: Source) -> dict[str, Any]:
    """Return the settings by the name of their field; ConfigError with file and line where one is wrong.

    `places` has the file and line of each that can turn out to be wrong later.
    """
    settings: dict[str, Any] = {}
    places = {}
    for key, value in _flat(source.table):
        if key not in SETTINGS:
            raise ConfigError(
                f"unknown key{_suggestion(key, value)}", path=source.path, line=source.line(key), key=key
            )
        setting = SETTINGS[key]
        try:
            settings[setting.name] = setting.read(value)
        except ValueError as error:
            raise ConfigError(str(error), path=source.path, line=source.line(key), key=key) from None
        if key in _JUDGED_LATER:
            places[key] = (source.path, source.line(key))
    return settings | {"places": places}


def _flat(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if key in _TABLES and isinstance(value, dict):
            yield from ((f"{key}.{name}", item) for name, item in value.items())
        else:
            yield key, value


def _suggestion(key: str, value: Any) -> str:
    import difflib  # noqa: PLC0415  # only where something is wrong

    if isinstance(value, dict) and (tables := difflib.get_close_matches(key, _TABLES, n=1)):
        return f"; did you mean '[{tables[0]}]'?"
    table, _, name = key.rpartition(".")
    near = difflib.get_close_matches(key, SETTINGS, n=1)
    if not near and table:
        near = [known for known in SETTINGS if known.rpartition(".")[2] == name]
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; the keys are: {', '.join(sorted(SETTINGS))}"


def _anything(value: Any) -> Any:
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be text in quotes")
    return value


def _strings(value: Any) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(
        isinstance(item, str) and item.strip() for item in items
    ):
        raise ValueError('must be a list of texts, as in ["docs", "notes"]')
    return tuple(items)


def _folder(value: Any) -> str:
    folder = _string(value)
    if "\0" in folder:
        raise ValueError("no folder has a NUL in its name")
    return folder


def _patterns(value: Any) -> tuple[str, ...]:
    patterns = _strings(value)
    for pattern in patterns:
        if parse_rules([pattern]) is None:
            raise ValueError(
                f"'{pattern:.60}' matches nothing; patterns are those of .gitignore, as in 'docs/*.md'"
            )
    return patterns


def _sources(value: Any) -> tuple[str, ...]:
    paths = tuple(path.replace("\\", "/").removeprefix("./").rstrip("/") for path in _strings(value))
    for path in paths:
        if path.startswith("/") or ".." in path.split("/"):
            raise ValueError(f"'{path:.60}' is not below this folder; open that folder itself")
    return tuple(path for path in paths if path not in ("", "."))


def _extensions(value: Any) -> tuple[str, ...]:
    items = _strings(value)
    for item in items:
        if not re.fullmatch(r"\.?\w[\w.+-]*", item):
            raise ValueError(f"'{item:.60}' is not a file extension such as '.rst'")
    return tuple(sorted({f".{item.lower().removeprefix('.')}" for item in items}))


def _bytes(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[2].lower() not in _UNITS or not 0 < float(match[1]) < math.inf:
        raise ValueError('must be a size above zero, as in "10 MB" or 10000000')
    return int(float(match[1]) * _UNITS[match[2].lower()])


def _encoding(value: Any) -> str:
    try:
        return codecs.lookup(_string(value)).name
    except LookupError:
        raise ValueError(
            f"{value!r:.60} is not an encoding that Python knows; try 'latin-1' or 'cp1252'"
        ) from None


def _language(value: Any) -> str:
    code = _string(value).lower()
    if code != "auto" and code not in LATIN_STEMMERS:
        raise ValueError(
            f"{value!r:.60} is neither 'auto' nor one of the ISO 639-1 codes {', '.join(LATIN_STEMMERS)}; "
            "languages in other scripts than the Latin are told by their script"
        )
    return code


def _embedder(value: Any) -> str:
    return str(parse_spec(_string(value)))


def _url(value: Any) -> str:
    url = _string(value).strip()
    if not re.fullmatch(r"https?://[^\s/@?#]+(?:/[^\s?#]*)?", url):
        raise ValueError(
            "must be an address such as 'http://127.0.0.1:8080/v1', without a name, key or query"
        )
    return url


def _yes_or_no(value: Any) -> bool:
    if value is True or value is False:
        return value
    raise ValueError(f"must be true or false, not {value!r:.60}")


def _number(low: float, high: float, *, whole: bool = False) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        kinds = (int,) if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
            raise ValueError(
                f"must be a {'whole ' if whole else ''}number from {low:g} to {high:g}, not {value!r:.60}"
            )
        return value if whole else float(value)

    return read


_TABLES = ("chunks", "lexical", "hybrid", "embedding", "cache", "openai", "ollama", "tei")
_JUDGED_LATER = ("sources", "chunks.min_tokens", "chunks.max_tokens")
SETTINGS: Mapping[str, Setting] = {
    "sources": Setting("sources", _sources),
    "include": Setting("include", _patterns),
    "exclude": Setting("exclude", _patterns),
    "extensions": Setting("extensions", _extensions),
    "max_file_size": Setting("max_file_size", _bytes),
    "encoding": Setting("encoding", _encoding),
    "language": Setting("language", _language),
    "state": Setting("state", _folder),
    "chunks.min_tokens": Setting("min_tokens", _number(1, 8000, whole=True)),
    "chunks.max_tokens": Setting("max_tokens", _number(16, 8000, whole=True)),
    "chunks.overlap": Setting("overlap", _number(0, 0.49)),
    "lexical.k1": Setting("k1", _number(0, 10)),
    "lexical.b": Setting("b", _number(0, 1)),
    "lexical.fts5": Setting("fts5", _yes_or_no),
    "hybrid.weight": Setting("weight", _number(0, 1)),
    "embedder": Setting("embedder", _embedder),
    "embedding.query_timeout": Setting("query_timeout", _number(0.01, 60)),
    "embedding.token_budget": Setting("token_budget", _number(0, 10**15, whole=True)),
    "embedding.allow_downloads": Setting("allow_downloads", _yes_or_no),
    "cache.max_size": Setting("cache_bytes", _bytes),
    "openai.base_url": Setting("openai_url", _url),
    "ollama.base_url": Setting("ollama_url", _url),
    "tei.base_url": Setting("tei_url", _url),
    "store": Setting("store", _anything),
    "schema": Setting("schema", _anything),
    "horizons": Setting("horizons", _anything),
    "alerts": Setting("alerts", _anything),
}
# What makes sense for every folder of a person; the rest describes one folder.
PERSONAL = frozenset(setting.name for key, setting in SETTINGS.items()) - {
    "sources",
    "include",
    "state",
    "schema",
}
# What concerns the user and no folder: a folder that names these is refused, trusted or not.
USERS_OWN = frozenset({"allow_downloads", "cache_bytes", "openai_url", "ollama_url", "tei_url"})
