"""One run of an agent over GraphQL: every write names the run and the tool call that made it."""

from typing import Any

from choosing import History, next_call
from orchestrator import AGENT, Refused, ask, run

TOOLS = {
    "record_list": """query($collection: String!, $where: JSON) {
        recordList(collection: $collection, where: $where) { total records { id body } } }""",
    "record_add": """mutation($collection: String!, $body: JSON!) {
        recordAdd(collection: $collection, body: $body) { record { id version } note } }""",
    "note_write": """mutation($level: NoteLevel!, $key: String!, $content: String!) {
        noteWrite(level: $level, key: $key, content: $content) { displayPath version } }""",
}


def call(tool: str, arguments: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
    """Return the answer of one tool; a refusal is an answer too, which the model reads and acts on."""
    given = {name: value.upper() if name == "level" else value for name, value in arguments.items()}
    try:
        [answer] = ask(AGENT, TOOLS[tool], given, headers).values()
    except Refused as refused:
        return {"refused": str(refused)}
    return dict(answer)


with run() as current:
    history: History = []
    while (chosen := next_call(current.state, history)) is not None:
        tool, arguments = chosen
        headers = {"X-Run-Id": current.id, "X-Tool-Call-Id": f"call_{len(history) + 1}", "X-Tool-Name": tool}
        answer = call(tool, arguments, headers)
        print(tool, arguments, "->", answer)
        history.append((chosen, answer))
    current.status = "completed"
