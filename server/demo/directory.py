"""Guilds, agents, tables and grants of the demo, as an operator sets them up."""

import logging

from models.kinds import AccessMode, NoteLevel, SubjectType
from server.demo import cars, tables, texts
from server.demo.story import Story
from store import agents, collections, grants, guilds, notes, record_batch, schedules, tasks

logger = logging.getLogger(__name__)

MEMBERS = {"Sales": ("Scout", "Quill"), "Workshop": ("Mender", "Piston"), "Research": ("Atlas", "Ledger")}
CURATOR = "Ledger"

# Base modes of guilds, then what single agents have instead.
_GUILD_GRANTS = (
    ("leads", "Sales", AccessMode.WRITE),
    ("leads", "Workshop", AccessMode.READ),
    ("viewings", "Sales", AccessMode.WRITE),
    ("viewings", "Workshop", AccessMode.WRITE),
    ("sources", "Research", AccessMode.WRITE),
    ("sources", "Sales", AccessMode.READ),
    ("cars", "Research", AccessMode.WRITE),
    ("cars", "Sales", AccessMode.READ),
    ("cars", "Workshop", AccessMode.READ),
)
_AGENT_GRANTS = (
    ("leads", "Piston", AccessMode.NONE),  # held back from what its guild reads
    ("leads", "Atlas", AccessMode.READ),  # reads although its guild does not
    ("cars", "Mender", AccessMode.WRITE),  # writes where its guild only reads
    ("viewings", "Piston", AccessMode.READ),  # reads where its guild writes
)


async def build(story: Story) -> None:
    """Everything that is there before the first run."""
    for guild, members in MEMBERS.items():
        story.guilds[guild] = (await guilds.create(story.db, story.operator, guild)).id
        for name in members:
            made = await agents.create(story.db, story.operator, name=name, guild_id=story.guilds[guild])
            if name == CURATOR:
                made = await agents.update(story.db, story.operator, made.id, write_org=True)
            story.add_agent(made)
    await _tables(story)
    await _notes(story)
    for name, task in texts.TASKS.items():
        await tasks.save(story.db, story.operator, story.agents[name].id, task.format(**texts.places(story)))
    for name, (routine, instruction) in texts.ROUTINES.items():
        await schedules.save(story.db, story.operator, agent_id=story.agents[name].id, name=routine, instruction=instruction)


async def _tables(story: Story) -> None:
    owned = {"jobs": "Workshop"}
    columns = {"leads": tables.LEADS, "jobs": tables.JOBS, "viewings": tables.VIEWINGS, "sources": tables.SOURCES}
    rows = {"leads": tables.FIRST_LEADS, "jobs": tables.FIRST_JOBS, "sources": tables.FIRST_SOURCES}
    if (found := cars.bodies()) is None:
        logger.warning(
            "The package vega-datasets is not installed, so the demo has no table of cars; `pip install muniment[demo]` adds it."
        )
    else:
        columns["cars"], rows["cars"] = tables.CARS, found
    made = {}
    for name, definitions in columns.items():
        guild_id = story.guilds[owned[name]] if name in owned else None
        facts = {"name": name, "purpose": tables.PURPOSES[name]}
        made[name] = (await collections.create(story.db, story.operator, columns=definitions, guild_id=guild_id, **facts)).id
        if name in rows:
            await record_batch.add_many(story.db, story.operator, name, rows[name])
    subjects = ((SubjectType.GUILD, story.guilds, _GUILD_GRANTS), (SubjectType.AGENT, _ids(story), _AGENT_GRANTS))
    for subject_type, ids, rules in subjects:
        for table, subject, mode in rules:
            if table in made:
                which = {"collection_id": made[table], "subject_type": subject_type, "subject_id": ids[subject]}
                await grants.set_grant(story.db, story.operator, mode=mode, **which)


def _ids(story: Story) -> dict[str, str]:
    return {name: caller.id for name, caller in story.agents.items()}


async def _notes(story: Story) -> None:
    for key, text in texts.ORG_NOTES.items():
        await notes.write(story.db, story.operator, NoteLevel.ORG, key, text)
    for guild, keys in texts.GUILD_NOTES.items():
        for key, text in keys.items():
            await notes.write(story.db, story.operator, NoteLevel.GUILD, key, text.format(**texts.places(story)), story.guilds[guild])
