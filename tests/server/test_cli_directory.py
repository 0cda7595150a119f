"""Organisations, tokens, and an agent's State at the command line."""

import json

import pytest
import typer
from graphql import parse, validate
from typer.testing import CliRunner

from models.caller import Caller, system
from schema import build
from server import demo, migrate
from server.cli import app
from server.documents import documents
from store import agents, callers, organisations, sessions
from store.database import Database, Row
from store.state import as_json, of_agent
from tests.docs.reference import walk
from tests.server.command import Command
from tests.store.tables import everything


@pytest.fixture
def muniment(dsn: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(dsn, monkeypatch, capfd)


def agent(muniment: Command, org: str, name: str) -> str:
    async def make(db: Database) -> str:
        return str((await agents.create(db, system(org), name=name)).id)

    return str(muniment.database(make))


def test_ids_and_tokens_are_printed_alone(muniment: Command) -> None:
    org = muniment("org", "create", "Acme").out.strip()
    (row,) = muniment.database(organisations.listed)
    assert (org, row.name) == (row.id, "Acme")
    token = muniment("token", "create", "--org", org, "--user", "Olga", "--name", "laptop")
    assert (token.code, token.err, token.out[:4], token.out.count("\n")) == (0, "", "mun_", 1)
    worker = muniment("token", "create", "--agent", agent(muniment, org, "Ada"))
    assert (worker.code, worker.err, worker.out[:4], worker.out.count("\n")) == (0, "", "mun_", 1)
    listed = [json.loads(line) for line in muniment("token", "list", "--org", org, "--json").out.splitlines()]
    assert [(entry["kind"], entry["name"], entry["last_used_at"]) for entry in listed] == [("USER", "laptop", None), ("AGENT", "Ada", None)]
    assert token.out.strip() not in muniment("token", "list").out
    assert muniment("token", "revoke", token.out.strip()).out.strip() == listed[0]["id"]
    assert [line.split()[0] for line in muniment("token", "list").out.splitlines()[1:]] == [listed[1]["id"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("org", "create", " "), "the name of an organisation is empty"),
        (("token", "create", "--org", "nope", "--user", "Olga"), "unknown organisation nope"),
        (("token", "create", "--agent", "nope"), "unknown agent nope"),
        (("token", "list", "--org", "nope"), "unknown organisation nope"),
        (("token", "revoke", "nope"), "a token with the id nope is unknown, or has been revoked already"),
        (("sign-in",), "there is no organisation yet; make one with `muniment org create NAME`"),
        (("sign-in", "--org", "nope"), "unknown organisation nope"),
        (("state", "nope"), "unknown agent nope"),
        (("state", "nope", "--org", "none"), "unknown organisation none"),
        (("migrate", "--revision", "99"), f"there is no revision '99'; there are {', '.join(migrate.revisions())}"),
    ],
)
def test_what_is_unknown_is_told_in_a_line_and_changes_nothing(muniment: Command, arguments: tuple[str, ...], message: str) -> None:
    before = muniment.database(everything)
    assert muniment(*arguments) == (1, "", f"muniment: {message}\n")
    assert muniment.database(everything) == before


def test_an_address_that_signs_in_is_printed_alone(muniment: Command) -> None:
    org = muniment("org", "create", "Acme").out.strip()
    answer = muniment("sign-in", "--user", "Olga", "--port", 8123)
    address, _, code = answer.out.strip().partition("#code=")
    assert (answer.code, answer.err, address) == (0, "", "http://127.0.0.1:8123/sign-in")

    async def open_it(db: Database) -> Caller:
        return await callers.of_session(db, await sessions.open_by_code(db, code))

    caller = muniment.database(open_it)
    assert (caller.org_id, caller.name) == (org, "Olga")


def test_the_state_of_an_agent_is_what_its_run_would_be_given(muniment: Command) -> None:
    muniment.database(demo.load_if_new)
    (org,) = muniment.database(organisations.listed)

    async def first(db: Database) -> Row:
        return (await agents.listed(db, org.id))[0]

    one = muniment.database(first)
    expected = as_json(muniment.database(lambda db: of_agent(db, system(org.id), one.id)))
    for named in (one.id, one.name):
        answer = muniment("state", named)
        assert (answer.code, answer.err, json.loads(answer.out)) == (0, "", expected)
    assert list(expected) == ["task", "memory", "notes", "scripts", "collections"]
    assert expected["collections"]


def test_a_name_that_two_organisations_know_needs_the_organisation(muniment: Command) -> None:
    orgs = [muniment("org", "create", name).out.strip() for name in ("Acme", "Beta")]
    ids = [agent(muniment, org, "Ada") for org in orgs]
    answer = muniment("state", "Ada")
    lines = [f"  {agent_id}  {name} ({org})" for agent_id, name, org in zip(ids, ("Acme", "Beta"), orgs, strict=True)]
    heading = "muniment: several organisations have an agent Ada; say which with --org ID, or name it by its id"
    assert (answer.code, answer.out, answer.err.splitlines()) == (1, "", [heading, *lines])
    assert json.loads(muniment("state", "Ada", "--org", orgs[0]).out)["task"] == ""
    assert muniment("state", ids[1]).code == 0


def test_the_version_is_told(muniment: Command) -> None:
    answer = muniment("--version")
    assert (answer.code, answer.out[:9], answer.out.count("\n")) == (0, "muniment ", 1)


def test_an_operation_is_printed_whole(muniment: Command) -> None:
    listed = muniment("queries")
    assert (listed.code, listed.err) == (0, "")
    assert [line.split("(")[0].split()[1] for line in listed.out.splitlines()] == list(documents())
    for name, text in documents().items():
        assert muniment("queries", name) == (0, text, "")
        assert validate(build()._schema, parse(text)) == []


def test_an_unknown_operation_is_told_with_the_nearest(muniment: Command) -> None:
    assert muniment("queries", "table") == (1, "", "muniment: unknown operation table; did you mean Table?\n")
    assert muniment("queries", "xyz") == (1, "", "muniment: unknown operation xyz; `muniment queries` lists them\n")


@pytest.mark.parametrize(
    "command", ["", "org", "token", *(path.removeprefix("muniment ") for path, _ in walk("muniment", typer.main.get_command(app)))]
)
def test_every_command_explains_itself_by_h(command: str) -> None:
    answer = CliRunner().invoke(app, [*command.split(), "-h"])
    assert (answer.exit_code, answer.output.split()[0]) == (0, "Usage:")
    assert answer.output == CliRunner().invoke(app, [*command.split(), "--help"]).output
