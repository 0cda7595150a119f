import asyncio
import contextlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from models import clock
from models.caller import system
from server import demo
from server.demo import cars, week
from store import agents, collections, embeds, grants, guilds, invariants, memory, organisations, records, schedules, scripts, tasks
from store.database import Database, Row
from tests.world import add_org


async def of_org(db: Database, statement: str) -> list[Row]:
    async with db.read() as reader:
        return await reader.rows(statement)


async def loaded(db: Database) -> str:
    assert await demo.load_if_new(db) is True
    [organisation] = await organisations.listed(db)
    assert organisation.name == "Meridian Classics"
    return str(organisation.id)


async def test_a_new_database_gets_a_living_organisation(db: Database) -> None:
    org = await loaded(db)
    operator = system(org)
    assert [guild.name for guild in await guilds.listed(db, org)] == ["Research", "Sales", "Workshop"]
    people = {agent.name: agent for agent in await agents.listed(db, org)}
    assert sorted(people) == ["Atlas", "Ledger", "Mender", "Piston", "Quill", "Scout"]
    assert [name for name, agent in people.items() if agent.write_org] == ["Ledger"]
    assert all("\ufffd" not in agent.task and "![[" in agent.task for agent in people.values())
    found = {row.name: row for row in await collections.listed(db, operator)}
    counts = {name: (row.scope, row.record_count) for name, row in found.items()}
    assert counts == {"cars": ("ORG", 406), "jobs": ("GUILD", 4), "leads": ("ORG", 9), "sources": ("ORG", 4), "viewings": ("ORG", 2)}
    levels = await of_org(db, "SELECT DISTINCT level FROM artifacts WHERE kind = 'NOTE' AND deleted_at IS NULL")
    assert {row.level for row in levels} == {"ORG", "GUILD", "AGENT"}
    assert len(await memory.of_agents(db, operator, [agent.id for agent in people.values()])) == 3
    assert [row.name for row in await scripts.listed(db, operator, people["Scout"].id)] == ["score_lead.py"]
    assert len(await schedules.of_agents(db, operator, [agent.id for agent in people.values()])) == 3
    assert await invariants.findings(db) == []


async def test_tasks_show_what_they_embed(db: Database) -> None:
    org = await loaded(db)
    rendered = {}
    for agent in await agents.listed(db, org):
        rendered[agent.name] = await embeds.render(db, org, (await tasks.get(db, system(org), agent.id)).content)
    assert "keep leads right" in rendered["Scout"]
    assert "# House style" in rendered["Scout"]
    assert "# How we hand over" in rendered["Ledger"]
    assert not [name for name, text in rendered.items() if "![[" in text or "org/" in text.replace(f"org/{org}/house-style.md", "")]


async def test_grants_differ_as_the_product_lets_them(db: Database) -> None:
    org = await loaded(db)
    people = {agent.name: agent.id for agent in await agents.listed(db, org)}
    names = {row.id: row.name for row in await collections.listed(db, system(org))}
    found = await grants.agent_access(db, system(org), list(people.values()))
    effective = {name: {names[row.collection_id]: row.effective for row in found[people[name]]} for name in people}
    assert {name: modes["leads"] for name, modes in effective.items()} == {
        "Atlas": "READ",
        "Ledger": "NONE",
        "Mender": "READ",
        "Piston": "NONE",
        "Quill": "WRITE",
        "Scout": "WRITE",
    }
    assert {name: modes.get("jobs") for name, modes in effective.items() if "jobs" in modes} == {"Mender": "WRITE", "Piston": "WRITE"}
    assert (effective["Mender"]["cars"], effective["Piston"]["cars"], effective["Piston"]["viewings"]) == ("WRITE", "READ", "READ")


async def test_every_agents_change_tells_its_run_and_tool_call_in_the_past_in_order(db: Database) -> None:
    org = await loaded(db)
    changes = await of_org(db, "SELECT * FROM file_changes ORDER BY id")
    mine = [change for change in changes if change.actor_kind == "AGENT"]
    assert len({change.actor_name for change in mine}) == 6
    assert all(change.run_id and change.tool_call_id and change.tool_name for change in mine)
    assert [change.at for change in changes] == sorted(change.at for change in changes)
    assert changes[-1].at < datetime.now(UTC)
    runs = await of_org(db, "SELECT * FROM runs")
    assert {run.status for run in runs} == {"completed"}
    assert {run.routine for run in runs} == {None, "morning-leads", "evening-round", "weekly-digest"}
    fired = [run for run in runs if run.routine is not None]
    assert all(run.schedule_id is not None for run in fired)
    assert abs((clock.now() - datetime.now(UTC)).total_seconds()) < 60, org


async def test_the_example_of_a_rejected_record_can_be_tried(db: Database) -> None:
    org = await loaded(db)
    with pytest.raises(Exception, match="record rejected") as refused:
        await records.add(db, system(org), "leads", {"status": "pending", "score": "42", "notes": "call back"})
    assert str(refused.value).splitlines()[1:] == [
        '- column "status": expected one of new, contacted, won, lost; got "pending"',
        '- column "score": expected number; got "42"',
        '- column "notes": unknown column; declared columns are email, status, score, signed_up_at',
    ]


async def test_the_cars_are_the_public_data_set_value_for_value(db: Database) -> None:
    org = await loaded(db)
    first = await records.get(db, system(org), "cars", "1")
    assert first is not None
    assert json.loads(first.body) == {
        "name": "chevrolet chevelle malibu",
        "year": "1970-01-01T00:00:00Z",
        "origin": "USA",
        "cylinders": 8,
        "horsepower": 130,
        "miles_per_gallon": 18,
        "displacement": 307,
        "weight": 3504,
        "acceleration": 12,
    }


async def test_without_the_package_the_demo_says_so_and_leaves_the_cars_out(
    db: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cars, "_PACKAGE", "vega_datasets_that_is_not_there")
    org = await loaded(db)
    assert [row.name for row in await collections.listed(db, system(org))] == ["jobs", "leads", "sources", "viewings"]
    assert "vega-datasets is not installed" in caplog.text
    assert await invariants.findings(db) == []


async def test_nothing_is_loaded_where_there_is_an_organisation(db: Database) -> None:
    org, _ = await add_org(db, "Mine")
    assert await demo.load_if_new(db) is False
    assert [row.id for row in await organisations.listed(db)] == [org]


async def test_two_that_start_at_once_load_it_once(db: Database) -> None:
    assert sorted(await asyncio.gather(demo.load_if_new(db), demo.load_if_new(db))) == [False, True]
    assert len(await organisations.listed(db)) == 1


async def test_a_load_that_was_cut_off_is_begun_anew(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async def cut_off(_story: Any) -> None:
        raise ConnectionAbortedError

    with monkeypatch.context() as patched, contextlib.suppress(ConnectionAbortedError):
        patched.setattr(week, "tell", cut_off)
        await demo.load_if_new(db)
    [half] = await organisations.listed(db)
    assert half.name == "Meridian Classics (being loaded)"
    org = await loaded(db)
    assert org != half.id
    assert await of_org(db, "SELECT DISTINCT org_id FROM file_changes") == [(org,)]
