r"""The text notation: `area = ai and level <= 2 and not confidence in (abandoned, historic)`.

    filter     = conjunct { "or" conjunct }
    conjunct   = term { "and" term }
    term       = "not" term | "(" filter ")" | predicate
    predicate  = field ( symbol value | [ "not" ] "in" list | "all" list | [ "not" ] "exists" )
    symbol     = "=" | "==" | "!=" | "<" | "<=" | ">" | ">="
    list       = "(" [ value { "," value } ] ")"          square brackets will do as well

Keywords are read in any case. A field or value is a bare word, or anything in single or double quotes,
where a backslash escapes. A bare value is a number, or `true` or `false`, where it looks like one; a quoted
one is a string.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeAlias
from typing import Literal as OneOf

from firstlight.errors import FilterError
from firstlight.rank.filters.nodes import (
    SYMBOLS,
    All,
    Compare,
    Exists,
    In,
    Not,
    Number,
    conjunction,
    disjunction,
    is_number,
    quote,
)

if TYPE_CHECKING:
    from firstlight.rank.filters.nodes import Filter, Literal, Operator

MAX_LENGTH = 10_000  # characters; a person's filter has fewer than 200, and a program has the Python notation
MAX_NESTING = 64  # brackets and `not` inside each other; keeps recursion far from Python's limit

_OPERATORS: dict[str, Operator] = {symbol: name for name, symbol in SYMBOLS.items()}
_OPERATORS["=="] = "eq"
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_CLOSING = {"(": ")", "[": "]"}
_TOKEN = re.compile(
    r"""(?P<symbol>[=!<>]=|[=<>()\[\],])
      | (?P<string>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")
      | (?P<word>[^\s()\[\]'",=<>!]+)
      """,
    re.VERBOSE | re.DOTALL,
)
_SPACE = re.compile(r"\s*")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


_Kind: TypeAlias = OneOf["symbol", "string", "word", "end"]
_KINDS: dict[str, _Kind] = {"symbol": "symbol", "string": "string", "word": "word"}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: _Kind
    text: str
    at: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text.lower() in words

    def is_symbol(self, *symbols: str) -> bool:
        return self.kind == "symbol" and self.text in symbols


def parse_text(text: str) -> Filter:
    """Return the tree of a filter in the text notation.

    Args:
        text: At most `MAX_LENGTH` characters, nested at most `MAX_NESTING` deep.

    Raises:
        FilterError: It does not follow the grammar; the message points at the column.

    Example:
        >>> str(parse_text("NOT level<=2 && area = ai"))
        Traceback (most recent call last):
        firstlight.errors.FilterError: filter, column 14: expected 'and', 'or' or the end, found '&&'
          NOT level<=2 && area = ai
                       ^
        >>> str(parse_text("NOT level<=2 And area='ai'"))
        'not level <= 2 and area = ai'
    """
    if len(text) > MAX_LENGTH:
        raise FilterError(
            f"the filter has {len(text):,} characters, and at most {MAX_LENGTH:,} are read; "
            "pass long lists in the Python notation"
        )
    return _Parser(text).whole()


class _Parser:
    """Recursive descent over the tokens of one filter; each method reads what its name says."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.position = 0
        self.nesting = 0

    def whole(self) -> Filter:
        where = self.disjunct()
        if self.next.kind != "end":
            self.fail_after_term()
        return where

    @property
    def next(self) -> _Token:
        return self.tokens[self.position]

    def take(self) -> _Token:
        token = self.tokens[self.position]
        self.position += 1
        return token

    def took_word(self, word: str) -> bool:
        found = self.next.is_word(word)
        self.position += found
        return found

    def disjunct(self) -> Filter:
        parts = [self.conjunct()]
        while self.took_word("or"):
            parts.append(self.conjunct())
        return disjunction(parts)

    def conjunct(self) -> Filter:
        parts = [self.term()]
        while self.took_word("and"):
            parts.append(self.term())
        return conjunction(parts)

    def term(self) -> Filter:
        if not (self.next.is_word("not") or self.next.is_symbol("(")):
            return self.predicate()
        opening = self.take()
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.fail(f"nested more than {MAX_NESTING} deep", opening)
        if opening.kind == "word":
            where: Filter = Not(self.term())
        else:
            where = self.disjunct()
            if not self.next.is_symbol(")"):
                self.expected(f"'and', 'or' or ')' for the '(' in column {opening.at + 1}")
            self.take()
        self.nesting -= 1
        return where

    def predicate(self) -> Filter:
        field = self.field()
        operator = self.take()
        if operator.kind == "symbol" and operator.text in _OPERATORS:
            return Compare(field, _OPERATORS[operator.text], self.value(f"a value after '{operator.text}'"))
        if operator.is_word("all"):
            return All(field, self.values("all"))
        denied = operator.is_word("not") and self.next.is_word("in", "exists")
        inner = self.take() if denied else operator
        if inner.is_word("in"):
            where: Filter = In(field, self.values("in"))
        elif inner.is_word("exists"):
            where = Exists(field)
        else:
            wanted = "=, !=, <, <=, >, >=, in, not in, all or exists"
            self.expected(f"an operator ({wanted}) after {quote(field)}", operator)
        return Not(where) if denied else where

    def field(self) -> str:
        token = self.next
        if token.kind not in {"word", "string"} or token.is_word("and", "or", "not"):
            self.expected("a field, 'not' or '('")
        self.take()
        name = self.unquoted(token) if token.kind == "string" else token.text
        if not name:
            self.fail("a field has a name, and this one is empty", token)
        return name

    def value(self, wanted: str) -> Literal:
        token = self.next
        if token.is_word("and", "or", "not"):
            self.expected(f"{wanted} (in quotes, if the word itself is meant)")
        if token.kind == "string":
            return self.unquoted(self.take())
        if token.kind != "word":
            self.expected(wanted)
        self.take()
        if token.is_word("true", "false"):
            return token.is_word("true")
        return Number(token.text) if is_number(token.text) else token.text

    def values(self, operator: str) -> tuple[Literal, ...]:
        if not self.next.is_symbol("(", "["):
            self.expected(f"a list such as (a, b) after '{operator}'")
        closing = _CLOSING[self.take().text]
        values: list[Literal] = []
        while values or not self.next.is_symbol(closing):
            values.append(self.value(f"a value{'' if values else f' or {closing!r}'}"))
            if self.next.is_symbol(closing):
                break
            if not self.next.is_symbol(","):
                self.expected(f"',' or '{closing}'")
            self.take()
        self.take()
        return tuple(values)

    def unquoted(self, token: _Token) -> str:
        def replace(escape: re.Match[str]) -> str:
            if escape[1] not in _ESCAPES:
                at = token.at + 1 + escape.start()
                self.fail(f"{escape[0]} means nothing; a backslash itself is written \\\\", None, at)
            return _ESCAPES[escape[1]]

        return _ESCAPE.sub(replace, token.text[1:-1])

    def fail_after_term(self) -> NoReturn:
        before = self.tokens[self.position - 1]
        hint = ""
        two_words = before.kind == self.next.kind == "word" and not before.is_word("exists")
        if two_words and self.next.text[0].isalnum():
            hint = f"; a value of several words needs quotes: '{before.text} {self.next.text}'"
        self.expected("'and', 'or' or the end", hint=hint)

    def expected(self, wanted: str, token: _Token | None = None, *, hint: str = "") -> NoReturn:
        token = token or self.next
        found = "the end" if token.kind == "end" else repr(token.text)
        self.fail(f"expected {wanted}, found {found}{hint}", token)

    def fail(self, reason: str, token: _Token | None, at: int | None = None) -> NoReturn:
        column = at if at is not None else token.at if token else len(self.text)
        raise _error(self.text, column, reason)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = _skip_space(text, 0)
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _error(text, at, _why_no_token(text[at]))
        tokens.append(_Token(_KINDS[match.lastgroup or ""], match[0], at))
        at = _skip_space(text, match.end())
    tokens.append(_Token("end", "", len(text)))
    return tokens


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _why_no_token(character: str) -> str:
    if character == "!":
        return "expected '!=', found '!'; the complement is written 'not'"
    return f"the quote {character} never closes; inside quotes it is written \\{character}"


def _error(text: str, at: int, reason: str, around: int = 36) -> FilterError:
    """Return the error with the part of the text that it is about, and a mark below the place."""
    start, end = max(0, at - around), at + around
    shown = "".join(" " if character.isspace() else character for character in text[start:end])
    return FilterError(f"filter, column {at + 1}: {reason}\n  {shown}\n  {' ' * (at - start)}^")
