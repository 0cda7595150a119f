"""Display paths: the one reference to a file, made of ids, so that a renamed owner keeps its paths.

org/<org>/<note>.md                                  org/<org>/guilds/<guild>/<note>.md
org/<org>/agents/<agent>/<note>.md                   org/<org>/agents/<agent>/task.md · memory.md
org/<org>/agents/<agent>/scripts/<name>              org/<org>/agents/<agent>/history-archive/<stamp>-<source>.md
org/<org>/collections/<name>                         org/<org>/collections/<name>/<id>
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum, auto

from models.errors import NotFound, Problem, Unprocessable
from models.kinds import NoteLevel
from models.limits import KEY_BYTES
from models.text import fault, printable

TASK_KEY = "task.md"
MEMORY_KEY = "memory.md"
RESERVED_AGENT_KEYS = frozenset({TASK_KEY, MEMORY_KEY})


class Family(Enum):
    """Which tools a path belongs to."""

    NOTE = auto()
    TASK = auto()
    MEMORY = auto()
    ARCHIVE = auto()
    SCRIPT = auto()
    COLLECTION = auto()
    RECORD = auto()


@dataclass(frozen=True, slots=True)
class Path:
    """A display path taken apart. `key` is the note's, the script's name, the archive's file name or the record's id."""

    text: str
    family: Family
    org_id: str
    level: NoteLevel
    owner_id: str
    key: str = ""
    collection: str = ""


def owner_prefix(org_id: str, level: NoteLevel, owner_id: str) -> str:
    """What every path of an owner begins with, `/` included."""
    match level:
        case NoteLevel.ORG:
            return f"org/{org_id}/"
        case NoteLevel.GUILD:
            return f"org/{org_id}/guilds/{owner_id}/"
        case NoteLevel.AGENT:
            return f"org/{org_id}/agents/{owner_id}/"


def note_path(org_id: str, level: NoteLevel, owner_id: str, key: str) -> str:
    """A note's display path."""
    return owner_prefix(org_id, level, owner_id) + key


def agent_path(org_id: str, agent_id: str, name: str) -> str:
    """The display path of a file of an agent: its task, its memory, or one of an archive's or script's folder."""
    return f"org/{org_id}/agents/{agent_id}/{name}"


def script_path(org_id: str, agent_id: str, name: str) -> str:
    """A script's display path."""
    return agent_path(org_id, agent_id, f"scripts/{name}")


def collection_path(org_id: str, name: str) -> str:
    """A collection's display path."""
    return f"org/{org_id}/collections/{name}"


def record_path(org_id: str, collection: str, record_id: int | str) -> str:
    """A record's display path."""
    return f"org/{org_id}/collections/{collection}/{record_id}"


# In this order: a path under collections/ is never a note, and the reserved files of an agent come before its notes.
_SEGMENT = "[^/]+"
_PATTERNS: tuple[tuple[Family, NoteLevel, re.Pattern[str]], ...] = tuple(
    (family, level, re.compile(rf"org/(?P<org>{_SEGMENT})/{tail}", re.DOTALL))
    for family, level, tail in (
        (Family.RECORD, NoteLevel.ORG, r"collections/(?P<collection>[^/]+)/(?P<key>[^/]+)"),
        (Family.COLLECTION, NoteLevel.ORG, r"collections/(?P<collection>[^/]+)"),
        (Family.TASK, NoteLevel.AGENT, r"agents/(?P<owner>[^/]+)/(?P<key>task\.md)"),
        (Family.MEMORY, NoteLevel.AGENT, r"agents/(?P<owner>[^/]+)/(?P<key>memory\.md)"),
        (Family.ARCHIVE, NoteLevel.AGENT, r"agents/(?P<owner>[^/]+)/history-archive/(?P<key>[^/]+)"),
        (Family.SCRIPT, NoteLevel.AGENT, r"agents/(?P<owner>[^/]+)/scripts/(?P<key>[^/]+)"),
        (Family.NOTE, NoteLevel.AGENT, r"agents/(?P<owner>[^/]+)/(?P<key>[^/]+\.md)"),
        (Family.NOTE, NoteLevel.GUILD, r"guilds/(?P<owner>[^/]+)/(?P<key>[^/]+\.md)"),
        (Family.NOTE, NoteLevel.ORG, r"(?P<key>[^/]+\.md)"),
    )
)


def parse(text: str, org_id: str) -> Path:
    """The path taken apart; raises Unprocessable for what is no display path, NotFound for another organisation's."""
    if reason := fault(text):
        raise Unprocessable(f"path {printable(text)[:300]!r} {reason}")
    for family, level, pattern in _PATTERNS:
        if found := pattern.fullmatch(text):
            parts = found.groupdict()
            # As if nothing were there: which ids other organisations have is not told.
            if parts["org"] != org_id:
                raise NotFound(f"unknown path {text[:500]}")
            owner = parts.get("owner") or org_id
            return Path(text, family, org_id, level, owner, parts.get("key") or "", parts.get("collection") or "")
    raise Unprocessable(
        f"{text[:300]!r} is not a display path; one looks like org/<org_id>/<note>.md, org/<org_id>/guilds/<guild_id>/<note>.md, "
        "org/<org_id>/agents/<agent_id>/<note>.md or org/<org_id>/collections/<name>/<id>"
    )


def check_key(key: str, level: NoteLevel) -> None:
    """Refuse what is no note key at this level; raises Unprocessable with every problem."""
    problems = [Problem("key", reason) for reason in _key_faults(key, level)]
    if problems:
        raise Unprocessable.listing("note rejected", problems)


def _key_faults(key: str, level: NoteLevel) -> list[str]:
    reasons = file_name_faults(key)
    if not key.endswith(".md"):
        reasons.append(f'must end in ".md" (lower case); got {printable(key)[:80]!r}')
    elif key == ".md":
        reasons.append('needs a name before ".md"')
    if level is NoteLevel.AGENT and key in RESERVED_AGENT_KEYS:
        tool = "task is the operator's" if key == TASK_KEY else "write it with memory_write"
        reasons.append(f"{key} is reserved at agent level; the agent's {tool}")
    return reasons


def file_name_faults(name: str) -> list[str]:
    """Why this is not one file name: separators, control characters, NUL, length."""
    reasons = [reason] if (reason := fault(name)) else []
    if "/" in name or "\\" in name:
        reasons.append("must be one file name without / or a backslash; each level is flat")
    if any(unicodedata.category(character) in {"Cc", "Zl", "Zp"} for character in name.replace("\x00", "")):
        reasons.append("contains a control character")
    if (size := len(name.encode("utf-8", "replace"))) > KEY_BYTES:
        reasons.append(f"has {size} bytes; at most {KEY_BYTES} are allowed")
    return reasons
