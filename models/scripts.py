"""What an agent's script may be called."""

import re

from models.text import fault, printable

NAME_CHARACTERS = 128
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


def name_faults(name: str) -> list[str]:
    """Why this is no name of a script: a plain file name that every shell and sandbox takes as it is."""
    if reason := fault(name):
        return [reason]
    if not name:
        return ["is empty; give a file name like report.py"]
    reasons = []
    if not _NAME.fullmatch(name):
        rule = "must be one file name of letters (A-Z, a-z), digits, '.', '_' and '-' that begins with a letter, a digit or '_'"
        reasons.append(f"{rule}; got {printable(name)[:80]!r}")
    if len(name) > NAME_CHARACTERS:
        reasons.append(f"has {len(name)} characters; at most {NAME_CHARACTERS} are allowed")
    return reasons
