"""Arguments that the OpenAPI document and /api/docs show as examples."""

from typing import Any

_EMAIL = {"name": "email", "type": "text", "description": "Where the person can be reached.", "required": True, "unique": True}
_STATUS = {"name": "status", "type": "text", "description": "How far the lead has come.", "values": ["new", "contacted", "won", "lost"]}
_TEXT = {"content": "# Plan\n\nCall before noon."}

BODIES: dict[str, dict[str, Any]] = {
    "collections.create": {"name": "leads", "purpose": "People who may buy.", "columns": [_EMAIL, _STATUS]},
    "collections.update": {
        "purpose": "People who may buy a car.",
        "columns": [_EMAIL, {**_STATUS, "name": "state", "rename_from": "status"}],
    },
    "access.set_guild_access": {"collection_id": "ID", "mode": "read"},
    "access.set_agent_access": {"collection_id": "ID", "mode": "write"},
    "records.add": {"body": {"email": "ada@example.org", "status": "new"}},
    "records.add_many": {"bodies": [{"email": "ada@example.org", "status": "new"}, {"email": "grace@example.org"}], "dry_run": True},
    "records.update": {"body": {"status": "contacted"}},
    "notes.put": _TEXT,
    "notes.move": {"path": "org/ORG/plan.md", "level": "guild", "key": "plan.md", "owner_id": "GUILD"},
    "agents.put_task": {"content": "Find new leads and keep them up to date."},
    "agents.put_memory": {"content": "Ada answers in the morning."},
    "agents.put_script": {"content": "print('clean')\n"},
    "agents.restore_memory": {"path": "org/ORG/agents/AGENT/history-archive/STAMP-SOURCE.md"},
    "file_changes.latest_of": {"display_paths": ["org/ORG/plan.md", "org/ORG/collections/leads/1"]},
}
"""The body of each operation that takes JSON; a test holds each to its model. Names in capitals stand for ids of one's own."""

PARAMETERS: dict[str, str] = {
    "where": '{"status": "new", "score": {"gte": 50}}',
    "order": '{"column": "score", "direction": "desc"}',
    "query": "ford OR buick",
    "since": "2026-03-01T00:00:00Z",
    "format": "csv",
    "level": "org",
    "display_path": "org/ORG/plan.md",
    "display_paths": "org/ORG/plan.md,org/ORG/collections/leads/1",
    "path": "org/ORG/plan.md",
}
"""Values of parameters, whichever operation takes them."""
