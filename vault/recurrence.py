"""Traps: what their text says about them, and when a new one is an old one again."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from vault.schema import Invalid, layer_of

THRESHOLD = 0.7

_FIELD = r"^[ \t]*(?:[-*][ \t]+)?\*\*{name}(?:\*\*[ \t]*:|:\*\*)(.+)$"
_LAYER = re.compile(_FIELD.format(name="Layer"), re.MULTILINE | re.IGNORECASE)
_MODULE = re.compile(_FIELD.format(name="Module"), re.MULTILINE | re.IGNORECASE)
_WORDS = re.compile(r"\w+")
_SECURITY = frozenset({"security", "segurança", "seguranca"})

K = TypeVar("K", bound=Hashable)


def words(text: str) -> frozenset[str]:
    """Return the set of lower-cased words of a text."""
    return frozenset(_WORDS.findall(text.lower()))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the size of the intersection over that of the union; 1 for two empty sets."""
    union = len(one | other)
    return len(one & other) / union if union else 1.0


def classify(data: Mapping[str, Any], body: str) -> dict[str, Any]:
    """Return layer, module and tags of a trap, from its frontmatter or else its body.

    A security label is no layer: it becomes a tag. Raises Invalid for an unknown layer in the frontmatter.
    """
    written = data.get("tags") or []
    tags = list(written) if isinstance(written, list) else []
    given = data.get("layer")
    layer = None if given is None or _promoted(given, tags) else layer_of(given)
    changes: dict[str, Any] = {"layer": layer or _layer_from(body, tags)}
    module = data.get("module") or _labelled(_MODULE, body)
    if module:
        changes["module"] = module
    if tags and isinstance(written, list):  # what a person wrote in another form is theirs to correct
        changes["tags"] = tags
    return changes


def _promoted(label: Any, tags: list[str]) -> bool:
    if not isinstance(label, str) or label.strip().lower() not in _SECURITY:
        return False
    if "security" not in tags:
        tags.append("security")
    return True


def _layer_from(body: str, tags: list[str]) -> str:
    label = _labelled(_LAYER, body)
    if not label or _promoted(label.split("/")[0], tags):
        return "other"
    for text in (label, label.split("/")[0]):  # `n/a` is an alias with a slash of its own
        try:
            return layer_of(text)
        except Invalid:
            continue
    raise Invalid("in the body's **Layer** line is unknown")


def _labelled(pattern: re.Pattern[str], body: str) -> str | None:
    found = pattern.search(body)
    text = found.group(1).replace("`", "").strip() if found else ""
    return text or None


class Similar(Generic[K]):
    """Finds the texts that share most words with a new one, without comparing it with all of them."""

    def __init__(self) -> None:
        self._words: dict[K, frozenset[str]] = {}
        self._postings: defaultdict[str, set[K]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._words)

    def put(self, key: K, text: str) -> None:
        """Add or replace a text."""
        self.drop(key)
        self._words[key] = found = words(text)
        for word in found:
            self._postings[word].add(key)

    def drop(self, key: K) -> None:
        """Forget a text."""
        for word in self._words.pop(key, frozenset()):
            self._postings[word].discard(key)

    def matches(self, text: str) -> list[tuple[float, K]]:
        """Return all texts at or above the threshold with their overlap, best first."""
        wanted = words(text)
        scored = ((jaccard(wanted, self._words[key]), key) for key in self._candidates(wanted))
        return sorted(((score, key) for score, key in scored if score >= THRESHOLD), key=lambda pair: -pair[0])

    def _candidates(self, wanted: frozenset[str]) -> Iterable[K]:
        if not wanted:
            return [key for key, found in self._words.items() if not found]
        # Whoever overlaps enough holds one of any |A| - ceil(t|A|) + 1 words of A: look under the rarest.
        enough = len(wanted) - math.ceil(THRESHOLD * len(wanted) - 1e-9) + 1
        rarest = sorted(wanted, key=lambda word: len(self._postings.get(word, ())))[:enough]
        return {key for word in rarest for key in self._postings.get(word, ())}
