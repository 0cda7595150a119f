"""What the subscribers of one organisation can read just now, read for all of them together."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from models.caller import ActorKind, Caller
from models.clock import now
from store import access
from store.database import Database, Reader
from store.feed.change import Rights

Key: TypeAlias = tuple[ActorKind, str, str | None]
"""A caller's kind and id, and the id of its token or session."""

EVERYTHING = Rights(everything=True)

_COLLECTIONS = f"""SELECT array_agg(k.id) FROM artifact_collections k {access.joins("a.id", "a.guild_id")}
    WHERE k.org_id = $1 AND k.deleted_at IS NULL AND {access.effective("a.id", "a.guild_id")} <> 'NONE'"""
_DEPARTED = f"""SELECT array_agg(k.id) FROM artifact_collections k
    {access.joins("a.id", "a.guild_id").replace("collection_access", "departed_access")}
    WHERE k.org_id = $1 AND k.deleted_at IS NOT NULL AND {access.effective("a.id", "a.guild_id")} <> 'NONE'"""
_AGENTS = f"""SELECT a.id, CASE WHEN a.read_guild THEN a.guild_id END AS guild_id, a.read_org,
        ({_COLLECTIONS}) AS collections, ({_DEPARTED}) AS departed
    FROM agents a WHERE a.org_id = $1 AND a.id = ANY($2::text[]) AND a.deleted_at IS NULL"""
_USERS = "SELECT user_id FROM memberships WHERE org_id = $1 AND user_id = ANY($2::text[]) AND ended_at IS NULL"
_CREDENTIALS = """SELECT id FROM tokens WHERE org_id = $1 AND id = ANY($2::text[]) AND revoked_at IS NULL
    UNION ALL SELECT id FROM sessions WHERE org_id = $1 AND id = ANY($2::text[]) AND ended_at IS NULL"""


class Standing:
    """The rights of each caller that subscribes; a caller that has lost every right has none."""

    def __init__(self, db: Database, org_id: str) -> None:
        self._db = db
        self._org_id = org_id
        self._members: Counter[Key] = Counter()
        self._rights: dict[Key, Rights] = {}
        self._read: set[Key] = set()
        self._lock = asyncio.Lock()
        self._readings = 0
        self._as_of = float("-inf")

    def join(self, caller: Caller) -> None:
        """Take a caller in; its rights are known after the next `refresh`."""
        self._members[_key(caller)] += 1

    def leave(self, caller: Caller) -> None:
        """Let one subscription of a caller go."""
        key = _key(caller)
        self._members[key] -= 1
        if not self._members[key]:
            del self._members[key]
            self._read.discard(key)

    def knows(self, caller: Caller) -> bool:
        """Whether this caller's rights have been read at all."""
        return _key(caller) in self._read

    def of(self, caller: Caller) -> Rights | None:
        """What a known caller can read, as last read, or None when it has lost every right."""
        # The end of a signed token, or of a session that nobody ends before, is known from the beginning.
        if caller.expires_at is not None and caller.expires_at <= now():
            return None
        return self._rights.get(_key(caller))

    @property
    def age(self) -> float:
        """Seconds since the last reading began."""
        return asyncio.get_running_loop().time() - self._as_of

    async def refresh(self) -> None:
        """Read again; a reading that began after this call serves everybody who waits for one."""
        # Many subscribers ask at the same time; one reading answers them all.
        ticket = self._readings
        async with self._lock:
            if self._readings == ticket:
                self._readings += 1
                await self._read_all()

    async def _read_all(self) -> None:
        # The age counts from before the reading: what was revoked while it ran may not be in it.
        began = asyncio.get_running_loop().time()
        members = list(self._members)
        async with self._db.read() as reader:
            credentials = await self._living(reader, _CREDENTIALS, {credential for _, _, credential in members if credential})
            users = await self._living(reader, _USERS, {member for kind, member, _ in members if kind is ActorKind.USER})
            agents = await self._agents(reader, {member for kind, member, _ in members if kind is ActorKind.AGENT})
        found = {ActorKind.USER: dict.fromkeys(users, EVERYTHING), ActorKind.AGENT: agents}
        rights = {key: EVERYTHING if key[0] is ActorKind.SYSTEM else found[key[0]].get(key[1]) for key in members}
        self._rights = {key: held for key, held in rights.items() if held and (key[2] is None or key[2] in credentials)}
        self._read = set(members)
        self._as_of = began

    async def _living(self, reader: Reader, statement: str, ids: Iterable[str]) -> set[str]:
        wanted = list(ids)
        return {row[0] for row in await reader.rows(statement, self._org_id, wanted)} if wanted else set()

    async def _agents(self, reader: Reader, ids: Iterable[str]) -> dict[str, Rights]:
        wanted = list(ids)
        rows = await reader.rows(_AGENTS, self._org_id, wanted) if wanted else []
        return {
            row.id: Rights(
                agent_id=row.id,
                guild_id=row.guild_id,
                org_notes=row.read_org,
                collections=frozenset(row.collections or ()),
                departed=frozenset(row.departed or ()),
            )
            for row in rows
        }


def _key(caller: Caller) -> Key:
    return (caller.kind, caller.id, caller.token_id or caller.session_id)
