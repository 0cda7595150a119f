"""What five operations cost over GraphQL, as ratios to the bare work, in one run of about two minutes: python -m benchmarks.graphql_door.

The server answers with authentication, rights and its log on. Rounds are interleaved and medians compared, so that a busy machine
disturbs both alike; CPU is read from /proc, so that it stays comparable.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen
from uuid import uuid4

from benchmarks.load import Measured, measure, post
from models.caller import Caller
from models.kinds import NoteLevel
from server import migrate
from server.postgres import EmbeddedPostgres
from store import callers, collections, notes, organisations, record_batch, tokens
from store.database import Database

RECORDS = 10_000
ROUNDS = 5
DOOR, FLOOR = 8951, 8952

_FIELDS = "id body version updatedAt updatedBy { name }"
DOCUMENTS: dict[str, tuple[str, Callable[[int], dict[str, object]], int, int]] = {
    "page_filtered": (
        f'query A {{ recordList(collection: "people", where: {{score: {{gte: 10}}}}, limit: 100) {{ total records {{ {_FIELDS} }} }} }}',
        lambda _n: {},
        100,
        32,
    ),
    "page": (f'query B {{ recordList(collection: "people", limit: 100) {{ total records {{ {_FIELDS} }} }} }}', lambda _n: {}, 600, 32),
    "note": (
        "query C($path: String!) { noteGet(path: $path) { key content version updatedAt updatedBy { name } } }",
        lambda n: {"path": f"org/{{org}}/note-{n % 100}.md"},
        2_000,
        32,
    ),
    "search": (
        'query D { recordSearch(query: "lorem", collection: "people") { records { id body version updatedAt } } }',
        lambda _n: {},
        100,
        32,
    ),
    "insert": (
        'mutation E($body: JSON!) { recordAdd(collection: "log", body: $body) { record { id } } }',
        lambda n: {"body": {"name": f"entry {n}", "score": n}},
        600,
        16,
    ),
}


async def fill(db: Database) -> tuple[str, str, dict[str, str]]:
    """An organisation with 10,000 records and 100 notes: its id, an operator's token, and the collections' ids by name."""
    org = (await organisations.create(db, "Bench")).id
    token = await tokens.create_for_user(db, org, "bench")
    caller: Caller = await callers.resolve(db, token)
    columns = [
        {"name": "name", "type": "text", "description": "who"},
        {"name": "score", "type": "number", "description": "how much"},
        {"name": "notes", "type": "text", "description": "what"},
    ]
    ids = {}
    for name in ("people", "log", "log_of_floor"):
        ids[name] = (await collections.create(db, caller, name=name, purpose="a benchmark", columns=columns)).id
    words = ("lorem", "ipsum", "dolor", "sit", "amet", "consectetur", "adipiscing", "elit")
    for start in range(0, RECORDS, 500):
        bodies = [
            {"name": f"person {n}", "score": n % 100, "notes": " ".join(words[(n + k * k) % 8] for k in range(20))}
            for n in range(start, start + 500)
        ]
        await record_batch.add_many(db, caller, "people", bodies)
    for n in range(100):
        await notes.write(db, caller, NoteLevel.ORG, f"note-{n}.md", f"# Note {n}\n" + "text " * 200)
    return org, token, ids


@contextmanager
def served(command: list[str], port: int, environment: dict[str, str]) -> Iterator[int]:
    """A server process, from when it answers until the block ends; its pid."""
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1).close()
                break
            except OSError as error:
                if "HTTP Error 404" in str(error):
                    break
                time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait(10)


def requests_of(name: str, org: str, token: str) -> tuple[Callable[[int], bytes], Callable[[int], bytes]]:
    """The n-th request of a case to the door and to the floor."""
    document, variables, _, _ = DOCUMENTS[name]

    def to_door(n: int) -> bytes:
        text = json.dumps({"query": document, "variables": variables(n)}).replace("{org}", org)
        return post("/graphql", text.encode(), token)

    def to_floor(n: int) -> bytes:
        body = {"key": f"note-{n % 100}.md", "id": uuid4().hex, **variables(n)}
        return post(f"/{name}", json.dumps(body).encode(), token)

    return to_door, to_floor


async def compare(org: str, token: str, door: int, floor: int, postgres: int) -> None:
    """Measure each case in interleaved rounds and print its row."""
    print("times the floor's (and microseconds of CPU a request, the floor's after the stroke)")
    print(f"{'case':14} {'rate':>6} {'server':>7} {'postgres':>9}   {'server':>15} {'postgres':>15}")
    for name, (_, _, count, connections) in DOCUMENTS.items():
        to_door, to_floor = requests_of(name, org, token)
        rounds: dict[str, list[Measured]] = {"door": [], "floor": []}
        for number in range(ROUNDS + 1):
            for side, port, pid, make in (("door", DOOR, door, to_door), ("floor", FLOOR, floor, to_floor)):
                took = await measure(port, make, count=count, connections=connections, server=pid, postgres=postgres)
                if number:  # the first round warms caches
                    rounds[side].append(took)
        median = {
            side: [statistics.median(getattr(m, key) for m in taken) for key in ("rate", "server", "postgres")]
            for side, taken in rounds.items()
        }
        print(_row(name, median["door"], median["floor"]), flush=True)


def _row(name: str, door: list[float], floor: list[float]) -> str:
    rate, server, postgres = (mine / its if its else float("nan") for mine, its in zip(door, floor, strict=True))
    spent = [f"{mine:.0f} / {its:.0f}" for mine, its in zip(door[1:], floor[1:], strict=True)]
    return f"{name:14} {rate:6.2f} {server:7.2f} {postgres:9.2f}   {spent[0]:>15} {spent[1]:>15}"


def main() -> None:
    """Start a database and both servers, compare, and stop them."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedPostgres(Path(folder) / "home") as postgres:
        postgres.ensure_database("bench")
        dsn = postgres.dsn("bench")
        migrate.upgrade(dsn)

        async def prepare() -> tuple[str, str, dict[str, str]]:
            db = await Database(dsn).open()
            found = await fill(db)
            async with db.write_once() as writer:
                await writer.execute("ANALYZE")
            await db.close()
            return found

        org, token, ids = asyncio.run(prepare())
        pid = int((Path(folder) / "home" / "postgres" / "postmaster.pid").read_text().split()[0])
        python = sys.executable
        door = [python, "-m", "server", "serve", "--no-demo", "--port", str(DOOR)]
        bare = [python, "-m", "uvicorn", "--factory", "benchmarks.floor:app", "--port", str(FLOOR), "--no-access-log"]
        environment = {"MUNIMENT_DATABASE_URL": dsn, "MUNIMENT_HOME": f"{folder}/none", "BENCH_DSN": dsn, "BENCH_ORG": org}
        environment["BENCH_COLLECTION"] = ids["people"]
        with served(door, DOOR, environment) as door_pid, served(bare, FLOOR, environment) as floor_pid:
            asyncio.run(compare(org, token, door_pid, floor_pid, pid))


if __name__ == "__main__":
    main()
