"""The store in miniature: what it should answer, kept in dictionaries and decided by the rules as they read."""

import unicodedata
from dataclasses import dataclass, field
from typing import Any

from models.caller import Caller


class Refused(Exception):
    """The model's refusal; its text is the code."""


def normal(text: str) -> str | None:
    return unicodedata.normalize("NFC", text).strip().lower() or None


@dataclass
class Record:
    body: dict[str, Any]
    version: int = 1


@dataclass
class Table:
    """`records` by id; `versions` of every id that there ever was, since a path goes on from its last."""

    org: str
    name: str
    guild: str | None
    records: dict[int, Record] = field(default_factory=dict)
    next_id: int = 1
    grants: dict[tuple[str, str], str] = field(default_factory=dict)
    alive: bool = True

    def mode(self, caller: Caller) -> str:
        if caller.org_id != self.org or not self.alive:
            return "NONE"
        if not caller.is_agent:
            return "WRITE"
        own = self.grants.get(("AGENT", caller.id))
        if self.guild is not None:
            return (own or "WRITE") if caller.guild_id == self.guild else "NONE"
        return own or self.grants.get(("GUILD", caller.guild_id or ""), "NONE")

    def holder(self, email: str | None) -> int | None:
        own = normal(email) if email is not None else None
        return next((number for number, record in self.records.items() if own and normal(record.body.get("email", "")) == own), None)


class Model:
    """Notes by path with content and version, versions of every path, and tables by organisation and name."""

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.tables: list[Table] = []

    # Notes

    def note_write(self, caller: Caller, level: str, owner: str, path: str, content: str) -> int:
        if not self._may(caller, level, owner, "write"):
            raise Refused("FORBIDDEN")
        self.notes[path] = content
        return self._next(path)

    def note_get(self, caller: Caller, level: str, owner: str, path: str) -> str:
        if path not in self.notes or not self._may(caller, level, owner, "read"):
            raise Refused("NOT_FOUND")
        return self.notes[path]

    def note_delete(self, caller: Caller, level: str, owner: str, path: str) -> int:
        if not self._may(caller, level, owner, "read"):
            raise Refused("NOT_FOUND")
        if not self._may(caller, level, owner, "write"):
            raise Refused("FORBIDDEN")
        if path not in self.notes:
            raise Refused("NOT_FOUND")
        del self.notes[path]
        return self._next(path)

    def _next(self, path: str) -> int:
        self.versions[path] = self.versions.get(path, 0) + 1
        return self.versions[path]

    def _may(self, caller: Caller, level: str, owner: str, what: str) -> bool:
        if not caller.is_agent:
            return True
        match level:
            case "AGENT":
                return owner == caller.id
            case "GUILD":
                return owner == caller.guild_id and (caller.read_guild if what == "read" else caller.write_guild)
        return owner == caller.org_id and (caller.read_org if what == "read" else caller.write_org)

    # Records

    def table(self, caller: Caller, name: str, *, write: bool = False) -> Table:
        found = next((table for table in self.tables if table.name == name and table.mode(caller) != "NONE"), None)
        if found is None:
            raise Refused("NOT_FOUND")
        if write and found.mode(caller) != "WRITE":
            raise Refused("FORBIDDEN")
        return found

    def record_add(self, caller: Caller, name: str, body: dict[str, Any]) -> tuple[int, int, bool]:
        table = self.table(caller, name, write=True)
        if "status" not in body or body["status"] == "bad":
            raise Refused("UNPROCESSABLE")
        holder = table.holder(body.get("email"))
        if holder is not None:
            return holder, self._patched(table, holder, body), True
        number, table.next_id = table.next_id, table.next_id + 1
        path = f"{table.org}/{table.name}/{number}"
        table.records[number] = Record(body, self._next(path))
        return number, table.records[number].version, False

    def record_update(self, caller: Caller, name: str, number: int, patch: dict[str, Any]) -> int:
        table = self.table(caller, name, write=True)
        if number not in table.records:
            raise Refused("NOT_FOUND")
        if patch.get("status", "new") in {"bad", None}:
            raise Refused("UNPROCESSABLE")
        merged = {**table.records[number].body, **patch}
        if table.holder(merged.get("email")) not in {None, number}:
            raise Refused("CONFLICT")
        return self._patched(table, number, patch)

    def _patched(self, table: Table, number: int, patch: dict[str, Any]) -> int:
        record = table.records[number]
        record.body = {name: value for name, value in {**record.body, **patch}.items() if value is not None}
        record.version = self._next(f"{table.org}/{table.name}/{number}")
        return record.version

    def record_remove(self, caller: Caller, name: str, number: int) -> None:
        table = self.table(caller, name, write=True)
        if number not in table.records:
            raise Refused("NOT_FOUND")
        del table.records[number]
        self._next(f"{table.org}/{table.name}/{number}")

    def clear(self, table: Table) -> int:
        dropped = len(table.records)
        table.records.clear()
        return dropped

    # Grants

    def grant(self, table: Table, subject_type: str, subject: Caller, mode: str | None) -> None:
        if subject_type == "GUILD":
            if table.guild is not None or mode == "NONE":
                raise Refused("UNPROCESSABLE")
            key = ("GUILD", subject.guild_id or "")
        else:
            if table.guild is not None and table.guild != subject.guild_id:
                raise Refused("UNPROCESSABLE")
            key = ("AGENT", subject.id)
        if mode is None:
            table.grants.pop(key, None)
        else:
            table.grants[key] = mode
