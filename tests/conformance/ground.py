"""The ground that every case stands on: the organisation of tests/world.py with a few tables and grants, and an id for each `{name}`."""

import re
from dataclasses import dataclass
from typing import Any

from models.caller import Caller
from models.kinds import AccessMode, SubjectType
from store import collections, grants
from store import tokens as secrets
from store.database import Database
from tests import world as worlds
from tests.world import World

LEADS: list[dict[str, Any]] = [
    {"name": "email", "type": "text", "description": "how to reach them", "unique": True},
    {"name": "status", "type": "text", "description": "where it stands", "values": ["new", "contacted", "won", "lost"]},
    {"name": "score", "type": "number", "description": "how promising"},
    {"name": "signed_up_at", "type": "datetime", "description": "when"},
    {"name": "newsletter", "type": "boolean", "description": "whether they asked for it"},
    {"name": "topics", "type": "array", "description": "what they ask about"},
    {"name": "tier", "type": "array", "description": "their plans", "values": ["free", "team", "company"]},
]
TASKS: list[dict[str, Any]] = [
    {"name": "title", "type": "text", "description": "what to do", "required": True},
    {"name": "number", "type": "number", "description": "its number", "unique": True},
]
_NAME = re.compile(r"{(\w+)}")


@dataclass(frozen=True)
class Ground:
    """An organisation of its own for one case, its callers and their tokens, and the ids that arguments name."""

    world: World
    tokens: dict[str, str]
    names: dict[str, str]

    def caller(self, name: str) -> Caller:
        found: Caller = getattr(self.world, name)
        return found

    def fill(self, value: Any) -> Any:
        """The value with every `{name}` replaced."""
        match value:
            case str():
                return _NAME.sub(lambda match: self.names.get(match[1], match[0]), value)
            case dict():
                return {key: self.fill(item) for key, item in value.items()}
            case list():
                return [self.fill(item) for item in value]
        return value


async def lay(db: Database) -> Ground:
    """`leads`: Ada and Bob write by their guild's grant, Cyd's guild reads. `tasks`: an organisation table that nobody is granted.

    `workshop`: the first guild's own table, from which Bob is held back.
    """
    world = await worlds.build(db)
    operator = world.operator
    leads = await collections.create(db, operator, name="leads", purpose="People who asked.", columns=LEADS)
    tasks = await collections.create(db, operator, name="tasks", purpose="Work to do.", columns=TASKS)
    workshop = await collections.create(db, operator, name="workshop", purpose="The guild's own.", columns=TASKS, guild_id=world.writers)
    for guild, mode in ((world.writers, AccessMode.WRITE), (world.readers, AccessMode.READ)):
        await grants.set_grant(db, operator, collection_id=leads.id, subject_type=SubjectType.GUILD, subject_id=guild, mode=mode)
    await grants.set_grant(
        db, operator, collection_id=workshop.id, subject_type=SubjectType.AGENT, subject_id=world.bob.id, mode=AccessMode.NONE
    )
    people = ("ada", "bob", "cyd", "loner", "foreign_agent")
    tokens = {name: await secrets.create_for_agent(db, getattr(world, name).id) for name in people}
    for name in ("operator", "stranger"):
        caller: Caller = getattr(world, name)
        tokens[name] = await secrets.create_for_user(db, caller.org_id, caller.name)
    names = {
        "org": world.org,
        "other_org": world.stranger.org_id,
        "writers": world.writers,
        "readers": world.readers,
        **{name: getattr(world, name).id for name in people},
        "leads": leads.id,
        "tasks": tasks.id,
        "workshop": workshop.id,
    }
    return Ground(world, tokens, names)
