"""YAML front matter from PyYAML's events: safe, bounded, with the line of every field.

Events instead of `yaml.safe_load`: depth and aliases are bounded before anything is built, nothing recurses,
and a key keeps its line and its spelling.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn

import yaml
from yaml.reader import ReaderError

from firstlight.errors import DocumentError
from firstlight.text.field_values import INT64, MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["read_yaml_mapping"]

_MAX_NODES = 10_000  # after aliases: ten references to ten references to ten… are a bomb
_MERGE = "<<"
_TAG = "tag:yaml.org,2002:"
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # without libyaml, slower but equal
_RESOLVERS: dict[str, list[tuple[str, Any]]] = _Loader.yaml_implicit_resolvers
_TAGGED: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
    "timestamp": (date,),
}
_CONTAINER_TAGS = {dict: (None, "!", f"{_TAG}map"), list: (None, "!", f"{_TAG}seq")}


def read_yaml_mapping(source: str, *, first_line: int = 1) -> tuple[dict[str, object], dict[str, int]] | None:
    """Return the fields of a YAML mapping and the line of each, or None if `source` is no mapping.

    Values are those of PyYAML's safe loader (YAML 1.1), but keys are text as written; so are numbers that are
    not finite or not of 64 bits, and dates that do not exist. Anchors and merge keys work within bounds.

    Raises:
        DocumentError: It is not YAML, or holds what front matter may not; `error.line` counts from
            `first_line`.
    """
    try:
        return _Reader(_Loader(source), first_line).read()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line + (mark.line if mark else 0)
        raise DocumentError(_explain(error), line=line) from None
    except ReaderError as error:
        line = first_line + source.encode()[: error.position].count(b"\n")
        raise DocumentError(
            f"the YAML front matter holds a control character: {error.reason}", line=line
        ) from None


@dataclass(slots=True)
class _Frame:
    """A mapping or sequence that is being read."""

    value: dict[str, object] | list[object]
    anchor: str | None
    key: str | None = None
    merging: bool = False  # the key is an unquoted `<<`
    merges: list[dict[str, object]] = field(default_factory=list)
    nodes: int = 1


class _Reader:
    """Turns a stream of events into one value; `stack` holds the containers that are open."""

    def __init__(self, loader: Any, first_line: int) -> None:
        self.loader = loader
        self.first_line = first_line
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[object, int]] = {}
        self.lines: dict[str, int] = {}
        self.root: object = None

    def read(self) -> tuple[dict[str, object], dict[str, int]] | None:
        next_event: Callable[[], Any] = self.loader.get_event
        documents = 0
        while not isinstance(event := next_event(), yaml.StreamEndEvent):
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._open(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._close(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse(event, "front matter is one YAML document: '---' may only close it")
        return (self.root, self.lines) if isinstance(self.root, dict) else None

    def _refuse(self, event: Any, reason: str) -> NoReturn:
        raise DocumentError(reason, line=self.first_line + event.start_mark.line)

    def _scalar(self, event: Any) -> None:
        frame = self.stack[-1] if self.stack else None
        if frame is not None and frame.key is None and isinstance(frame.value, dict):
            self._key(frame, event)
            if event.anchor:
                self.anchors[event.anchor] = event.value, 1
            return
        value = _plain(event.value, self.loader) if event.implicit[0] else event.value
        if event.tag not in (None, "!", f"{_TAG}str"):
            value = self._tagged(event)
        self._put(event, value, event.anchor, 1)

    def _key(self, frame: _Frame, event: Any) -> None:
        key: str = event.value
        if not key and event.style is None:
            self._refuse(event, "a key is missing before ':'")
        if key in frame.value:
            first = f", first on line {self.lines[key]}" if len(self.stack) == 1 else ""
            self._refuse(event, f"the key {key!r} is there twice{first}: remove one")
        frame.key = key
        frame.merging = key == _MERGE and event.implicit[0]
        if len(self.stack) == 1:
            self.lines.setdefault(key, self.first_line + event.start_mark.line)

    def _tagged(self, event: Any) -> object:
        """Construct a scalar with an explicit tag; only YAML's own plain types have one."""
        name = event.tag.removeprefix(_TAG)
        if name not in _TAGGED or not event.tag.startswith(_TAG):
            self._refuse(event, f"the tag {event.tag!r} is not allowed: front matter holds plain values")
        value = _plain(event.value, self.loader)
        if isinstance(value, str) or not isinstance(value, _TAGGED[name]):
            self._refuse(event, f"{event.value[:60]!r} is not a YAML {name}")
        return float(value) if name == "float" and isinstance(value, int) else value

    def _alias(self, event: Any) -> None:
        if event.anchor not in self.anchors:
            self._refuse(event, f"the alias *{event.anchor} refers to nothing before it")
        value, nodes = self.anchors[event.anchor]
        self._put(event, value, None, nodes)

    def _open(self, event: Any) -> None:
        value: dict[str, object] | list[object] = {} if isinstance(event, yaml.MappingStartEvent) else []
        if self.stack and self.stack[-1].key is None and isinstance(self.stack[-1].value, dict):
            self._refuse(
                event, "a key must be plain text: put quotes around a value that begins with '{' or '['"
            )
        if event.tag not in _CONTAINER_TAGS[type(value)]:
            self._refuse(event, f"the tag {event.tag!r} is not allowed: front matter holds plain values")
        if len(self.stack) == MAX_DEPTH:
            self._refuse(event, f"the front matter is nested more than {MAX_DEPTH} deep")
        self.stack.append(_Frame(value, event.anchor))

    def _close(self, event: Any) -> None:
        frame = self.stack.pop()
        value: object = frame.value
        if frame.merges and isinstance(frame.value, dict):
            merged: dict[str, object] = {}
            for other in reversed(frame.merges):
                merged |= other
            value = merged | frame.value
        self._put(event, value, frame.anchor, frame.nodes)

    def _put(self, event: Any, value: object, anchor: str | None, nodes: int) -> None:
        """Hand a finished value to what encloses it."""
        if anchor:
            self.anchors[anchor] = value, nodes
        if not self.stack:
            self.root = value
            return
        frame = self.stack[-1]
        frame.nodes += nodes
        if frame.nodes > _MAX_NODES:
            self._refuse(
                event, f"the front matter has more than {_MAX_NODES:,} values once its aliases are expanded"
            )
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is None:
            self._refuse(event, "an alias cannot be a key: write the key out")
        else:
            self._set(frame, frame.key, value, event)
            frame.key = None

    def _set(self, frame: _Frame, key: str, value: object, event: Any) -> None:
        if not frame.merging and isinstance(frame.value, dict):
            frame.value[key] = value
            return
        others = value if isinstance(value, list) else [value]
        for other in others:
            if not isinstance(other, dict):
                self._refuse(event, "the merge key '<<' takes a mapping, or a list of them")
            frame.merges.append(other)
            if len(self.stack) == 1:
                for name in other:
                    self.lines.setdefault(name, self.first_line + event.start_mark.line)


def _plain(text: str, loader: Any) -> object:
    """Resolve an unquoted scalar as YAML 1.1 does; most begin like none of its special forms."""
    for tag, pattern in _RESOLVERS.get(text[:1], ()):
        if pattern.match(text):
            construct = _CONSTRUCTORS.get(tag)
            return text if construct is None else construct(loader, text, tag)
    return text


def _number(loader: Any, text: str, tag: str) -> object:
    construct = loader.construct_yaml_int if tag.endswith(":int") else loader.construct_yaml_float
    try:
        value = construct(yaml.ScalarNode(tag, text))
    except (ValueError, OverflowError):  # `0x_`, or more digits than Python converts
        return text
    fits = isfinite(value) if isinstance(value, float) else -INT64 <= value < INT64
    return value if fits else text


def _timestamp(loader: Any, text: str, tag: str) -> object:
    try:
        return loader.construct_yaml_timestamp(yaml.ScalarNode(tag, text))
    except (ValueError, OverflowError):  # the 31st of February: the text is what an audit can show
        return text


def _bool(loader: Any, text: str, tag: str) -> object:
    return loader.construct_yaml_bool(yaml.ScalarNode(tag, text))


def _null(_loader: Any, _text: str, _tag: str) -> object:
    return None


_CONSTRUCTORS: dict[str, Callable[[Any, str, str], object]] = {
    f"{_TAG}int": _number,
    f"{_TAG}float": _number,
    f"{_TAG}timestamp": _timestamp,
    f"{_TAG}bool": _bool,
    f"{_TAG}null": _null,
}


def _explain(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "it cannot be parsed"
    hint = ""
    if "mapping values are not allowed" in problem:
        hint = "; put quotes around a value that holds ': '"
    elif "cannot start any token" in problem:
        hint = "; indent with spaces, and put quotes around a value that begins with a special character"
    return f"the YAML front matter is damaged: {problem}{hint}"
