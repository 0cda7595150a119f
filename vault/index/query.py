"""The query language: words, "phrases", AND OR NOT and parentheses; everything else is plain text.

    any  := all (OR all)*
    all  := item ([AND] item | [AND] NOT item)*
    item := word | "phrase" | ( any )

Operators are upper case, as in FTS5. A parenthesis groups only where it starts or ends a word: `f(x)` is text.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from vault.errors import QueryInvalid

MOST_CHARACTERS = 2_000
MOST_TERMS = 64
MOST_GROUPS = 16  # inside each other


_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase to be found as it stands, NFC."""

    text: str


@dataclass(frozen=True, slots=True)
class All:
    """What holds every one of `wanted` and none of `unwanted`; `wanted` is never empty."""

    wanted: tuple["Node", ...]
    unwanted: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """What holds at least one of `options`."""

    options: tuple["Node", ...]


Node = Term | All | AnyOf


@dataclass(frozen=True, slots=True)
class Query:
    """A query that was understood: its tree, and the terms that make a record match, in order."""

    root: Node
    wanted: tuple[Term, ...]


class _Mark(Enum):
    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    OPEN = "("
    CLOSE = ")"


_Token = Term | _Mark


def parse_query(text: str) -> Query:
    """The parsed query; raises QueryInvalid, saying why, for one without words or that cannot be read."""
    if len(text) > MOST_CHARACTERS:
        _refuse(f"it is longer than {MOST_CHARACTERS} characters")
    if "\0" in text or _SURROGATE.search(text):
        _refuse("it holds a character that no text can hold")
    tokens = list(_tokens(unicodedata.normalize("NFC", text)))
    if not any(isinstance(token, Term) for token in tokens):
        _refuse("it holds no word to look for")
    if sum(isinstance(token, Term) for token in tokens) > MOST_TERMS:
        _refuse(f"it has more than {MOST_TERMS} words")
    parser = _Parser(tokens)
    root = parser.any_of(0)
    if parser.peek() is not None:
        _refuse("a parenthesis closes nothing")
    return Query(root, tuple(dict.fromkeys(_wanted(root))))


def _refuse(why: str) -> NoReturn:
    raise QueryInvalid(f"the query cannot be read: {why}")


def _wanted(node: Node) -> Iterator[Term]:
    if isinstance(node, Term):
        yield node
        return
    for child in node.options if isinstance(node, AnyOf) else node.wanted:
        yield from _wanted(child)


def _tokens(text: str) -> Iterator[_Token]:
    at, depth = 0, 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] == '"':
            phrase, at = _phrase(text, at + 1)
            yield Term(phrase)
        else:
            end = _word_end(text, at)
            for token in _word(text[at:end], depth):
                depth += (token is _Mark.OPEN) - (token is _Mark.CLOSE)
                yield token
            at = end


def _word_end(text: str, at: int) -> int:
    while at < len(text) and not text[at].isspace() and text[at] != '"':
        at += 1
    return at


def _phrase(text: str, at: int) -> tuple[str, int]:
    """The phrase that starts at `at` and where to go on; a doubled quote stands for one."""
    pieces: list[str] = []
    while True:
        end = text.find('"', at)
        if end < 0:
            _refuse('a quote is not closed; write "" for a quote inside quotes')
        pieces.append(text[at:end])
        if text[end + 1 : end + 2] != '"':
            break
        pieces.append('"')
        at = end + 2
    phrase = " ".join("".join(pieces).split())
    if not phrase:
        _refuse("there is nothing between two quotes")
    return phrase, end + 1


def _word(word: str, depth: int) -> Iterator[_Token]:
    """The groups that a word opens, the word, the groups that it closes."""
    inner = word.lstrip("(")
    opened = len(word) - len(inner)
    body = inner
    closing = 0
    while body.endswith(")") and closing < depth + opened and body.count(")") > body.count("("):
        body, closing = body[:-1], closing + 1
    if body and not body.strip(")"):
        _refuse("a parenthesis closes nothing")
    yield from [_Mark.OPEN] * opened
    if body in ("AND", "OR", "NOT"):
        yield _Mark(body)
    elif body:
        yield Term(body)
    yield from [_Mark.CLOSE] * closing


class _Parser:
    """Recursive descent over the tokens; depth is bounded."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def peek(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def any_of(self, depth: int) -> Node:
        options = [self._all(depth)]
        while self._take(_Mark.OR):
            options.append(self._all(depth))
        return options[0] if len(options) == 1 else AnyOf(tuple(options))

    def _take(self, mark: _Mark) -> bool:
        if self.peek() is mark:
            self._at += 1
            return True
        return False

    def _all(self, depth: int) -> Node:
        wanted, unwanted = [self._item(depth)], []
        while self.peek() not in (None, _Mark.OR, _Mark.CLOSE):
            self._take(_Mark.AND)
            if self._take(_Mark.NOT):
                unwanted.append(self._item(depth))
            else:
                wanted.append(self._item(depth))
        if len(wanted) == 1 and not unwanted:
            return wanted[0]
        return All(tuple(wanted), tuple(unwanted))

    def _item(self, depth: int) -> Node:
        token = self.peek()
        if isinstance(token, Term):
            self._at += 1
            return token
        if token is not _Mark.OPEN:
            _refuse(_missing(token))
        if depth == MOST_GROUPS:
            _refuse(f"more than {MOST_GROUPS} parentheses are open")
        self._at += 1
        node = self.any_of(depth + 1)
        if not self._take(_Mark.CLOSE):
            _refuse("a parenthesis is not closed; put it in quotes to search for it")
        return node


def _missing(token: _Mark | None) -> str:
    if token is None:
        return "it ends where a word is expected"
    if token is _Mark.CLOSE:
        return "a word is missing before a closing parenthesis"
    return f'{token.value} stands where a word is expected; write "{token.value}" in quotes to search for it'
