"""What stands around an agent: it starts a run, reads the agent's State, and ends the run. Standard library only.

MUNIMENT_URL             the server, by default http://127.0.0.1:8000
MUNIMENT_OPERATOR_TOKEN  starts and ends runs
MUNIMENT_TOKEN           the agent's own token
"""

import json
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

URL = os.environ.get("MUNIMENT_URL", "http://127.0.0.1:8000")
OPERATOR, AGENT = os.environ["MUNIMENT_OPERATOR_TOKEN"], os.environ["MUNIMENT_TOKEN"]

STATE = """{ viewer { agent { id name state {
  task memory notes { displayPath } scripts { name }
  collections { name purpose access columns { name type required unique values description } }
} } } }"""
START = 'mutation($agent: ID!) { runStart(agentId: $agent, kind: "inbox") { id } }'
FINISH = "mutation($run: ID!, $status: String!) { runFinish(id: $run, status: $status) { status changes { displayPath } } }"


class Refused(Exception):
    """The server refused; the message says what is wrong and what to do, and is meant for the model to read."""


@dataclass
class Run:
    """A run that has begun, and what the agent is given for it."""

    id: str
    agent: str
    state: dict[str, Any]
    status: str = "failed"


def ask(token: str, query: str, variables: dict[str, Any] | None = None, headers: dict[str, str] | None = None) -> Any:
    """Return the data of a GraphQL answer. Raises Refused."""
    told = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(f"{URL}/graphql", json.dumps({"query": query, "variables": variables}).encode(), told)
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
    if "errors" in answer:
        raise Refused("\n".join(error["message"] for error in answer["errors"]))
    return answer["data"]


@contextmanager
def run() -> Iterator[Run]:
    """A run of the agent; it ends as failed unless the block sets another status."""
    agent = ask(AGENT, STATE)["viewer"]["agent"]
    started = Run(ask(OPERATOR, START, {"agent": agent["id"]})["runStart"]["id"], agent["name"], agent["state"])
    try:
        yield started
    finally:
        ended = ask(OPERATOR, FINISH, {"run": started.id, "status": started.status})["runFinish"]
        print(f"{started.agent}'s run {ended['status']} with {len(ended['changes'])} changes")
