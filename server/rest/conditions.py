"""Entity tags: what a client holds, and which state a write is bound to (RFC 9110, 8.8.3 and 13.1)."""

import re
from hashlib import blake2s

from starlette.datastructures import Headers

from models.errors import Problem
from models.text import printable
from server.rest.route import Guard, Tag

VERSION = r'^((?:W/)?"([0-9]{1,9})(?:-[0-9a-f]+)?"|([0-9]{1,9}))$'
"""What If-Match holds, as the document says it too."""

_VERSION = re.compile(VERSION, re.ASCII)
_ANY = "*"


def entity_tag(kind: Tag, version: int, body: bytes) -> str:
    """The tag of an answer: the version in quotes, with a digest behind it where the version does not tell everything."""
    # The version stays in front of the digest, so that a tag can be sent back as If-Match as it was received.
    return f'"{version}"' if kind is Tag.VERSION else f'"{version}-{blake2s(body, digest_size=6).hexdigest()}"'


def held(headers: Headers, tag: str) -> bool:
    """Whether a reader says that it has the answer of this tag."""
    given = headers.get("if-none-match", "")
    return given.strip() == _ANY or tag in {part.strip().removeprefix("W/") for part in given.split(",")}


def expected_version(guard: Guard, headers: Headers, problems: list[Problem]) -> int | None:
    """The version that a write is bound to, 0 for none yet, None for any; a condition that the route cannot keep is a problem."""
    match, none_match = headers.get("if-match"), headers.get("if-none-match")
    if none_match is not None:
        if guard is Guard.MATCH_OR_NEW and none_match.strip() == _ANY and match is None:
            return 0
        problems.append(Problem("If-None-Match", _unusable(guard)))
    if match is None:
        return None
    found = _VERSION.fullmatch(match.strip())
    if guard is Guard.NONE or found is None:
        reason = _unusable(guard) if guard is Guard.NONE else f'expected one version, like "3"; got {printable(match)[:80]}'
        problems.append(Problem("If-Match", reason))
        return None
    return int(found[2] or found[3])


def _unusable(guard: Guard) -> str:
    if guard is Guard.NONE:
        return "this route cannot be bound to a version"
    return "to create only use `If-None-Match: *` alone" if guard is Guard.MATCH_OR_NEW else "bind a write to a version by If-Match"
