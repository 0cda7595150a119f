"""The closed sets of the record format, and which folder each kind lives in."""

from typing import Final

KINDS: Final = ("trap", "decision", "spec", "plan", "state", "log", "scratch", "review", "prompt", "session")
STATUSES: Final = ("active", "paused", "shipped", "superseded", "archived", "completed")
SOURCES: Final = ("agent", "human", "imported")
SEVERITIES: Final = ("low", "medium", "high", "critical")
LAYERS: Final = ("application", "domain", "web", "infrastructure", "tests", "devops", "other")
LINK_TYPES: Final = ("fixes", "contradicts", "causes")
DELIVERABLE_TYPES: Final = ("pr", "commit", "spec")

DEFAULT_STATUS: Final = "active"
DEFAULT_SOURCE: Final = "agent"
DEFAULT_SEVERITY: Final = "medium"
DEFAULT_LAYER: Final = "other"

# What the compiled views list; state and scratch are passing notes and stay out of them.
DURABLE_KINDS: Final = ("trap", "decision", "spec", "plan", "log", "review", "prompt", "session")
# What no other project gets to see.
LOCAL_KINDS: Final = ("scratch", "state", "review")
# Whose retrieval counts as a hit.
HIT_KINDS: Final = ("trap", "decision", "spec", "plan")

SUBDIRS: Final = {
    "trap": "traps",
    "decision": "decisions",
    "spec": "specs",
    "plan": "plans",
    "state": "plans",
    "log": "logs",
    "scratch": "scratch",
    "review": "reviews",
    "prompt": "prompts",
    "session": "sessions",
}


def one_of(names: tuple[str, ...]) -> str:
    """Return the names as a phrase for an error text."""
    return f"{', '.join(names[:-1])} or {names[-1]}"
