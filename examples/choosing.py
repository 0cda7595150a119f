"""The place of the model: what the agent does next, given its State and what came back so far.

Rules stand here, so that the examples run without an account anywhere. To use a model, send it the State, the descriptions of the tools
and the history, and return the call that it asks for, or None when it is done.
"""

from typing import Any

INBOX = ("ada@example.org", "grace@example.org")

Call = tuple[str, dict[str, Any]]
History = list[tuple[Call, dict[str, Any]]]


def next_call(state: dict[str, Any], history: History) -> Call | None:
    """Return the next tool and its arguments, or None."""
    if not any(table["name"] == "leads" and table["access"] == "WRITE" for table in state["collections"]):
        raise SystemExit("this agent may not write to a collection `leads`; take the demo's agent Scout")
    asked = [call[1]["where"]["email"]["eq"] for call, _ in history if call[0] == "record_list"]
    if history and history[-1][0][0] == "record_list" and history[-1][1].get("total") == 0:
        return "record_add", {"collection": "leads", "body": {"email": asked[-1], "status": "new"}}
    for email in INBOX:
        if email not in asked:
            return "record_list", {"collection": "leads", "where": {"email": {"eq": email}}}
    if history[-1][0][0] != "note_write":
        added = sum(call[0] == "record_add" for call, _ in history)
        return "note_write", {"level": "agent", "key": "inbox.md", "content": f"{len(asked)} messages read, {added} leads added.\n"}
    return None
