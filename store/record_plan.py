"""What adding bodies to a collection comes to: which records are new, which take a body as a patch, and what stands in the way."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from models import identity
from models.clock import new_id
from models.columns import ColumnDef, unique_column
from models.errors import Problem
from models.values import checked_body, merged
from store.database import Reader, Row

_HELD = """SELECT id, number, content_json, version, identity FROM artifacts
    WHERE org_id = $1 AND collection_id = $2 AND identity_hash = ANY($3::bytea[]) AND deleted_at IS NULL"""


@dataclass(frozen=True, slots=True)
class BatchProblem:
    """One thing that is wrong with one body of a batch; bodies count from 0."""

    index: int
    column: str | None
    message: str


@dataclass(slots=True, eq=False)
class Draft:
    """A record in the making. `number` and `version` are those of the stored record, or 0 for a new one."""

    file_id: str
    body: dict[str, Any]
    number: int = 0
    version: int = 0

    @property
    def is_new(self) -> bool:
        """Whether no such record is stored yet."""
        return self.version == 0


@dataclass(slots=True)
class Plan:
    """The drafts, and for each body in order the draft that it goes to and whether it goes as a patch."""

    columns: tuple[ColumnDef, ...]
    drafts: dict[Draft, None] = field(default_factory=dict)
    steps: list[tuple[Draft, bool]] = field(default_factory=list)
    problems: list[BatchProblem] = field(default_factory=list)

    @property
    def new(self) -> list[Draft]:
        """The drafts that are no records yet, in the order in which they get their ids."""
        return [draft for draft in self.drafts if draft.is_new]

    @property
    def merged(self) -> int:
        """How many bodies go into records that are there, or that came earlier."""
        return sum(patch for _, patch in self.steps)


async def plan(reader: Reader, org_id: str, collection_id: str, columns: tuple[ColumnDef, ...], bodies: Sequence[Any]) -> Plan:
    """The plan for all bodies in their order; with problems, it is not to be carried out."""
    made = Plan(columns)
    checked = [_checked(made, index, body) for index, body in enumerate(bodies)]
    identities = [identity.identity(columns, values) for values in checked]
    known = await _held(reader, org_id, collection_id, identities) if unique_column(columns) else {}
    for index, (values, own) in enumerate(zip(checked, identities, strict=True)):
        _step(made, known, index, values, own)
    # A body that is too large is found after the checks of all; the sort is stable, so each body keeps the order of its own.
    made.problems.sort(key=attrgetter("index"))
    return made


def _checked(made: Plan, index: int, body: Any) -> dict[str, Any]:
    values, problems = checked_body(made.columns, body)
    made.problems += [_at(index, problem) for problem in problems]
    return values


def _step(made: Plan, known: dict[str, Draft], index: int, values: dict[str, Any], own: str | None) -> None:
    # A value that came earlier in the batch is as good as a stored one: no two new records may share it.
    draft = known.get(own) if own is not None else None
    patch = draft is not None
    if draft is None:
        draft = Draft(new_id(), {})
        if own is not None:
            known[own] = draft
    made.drafts[draft] = None
    draft.body = merged(draft.body, values)
    made.steps.append((draft, patch))
    if reason := identity.indexed_fault(identity.search_blob(made.columns, draft.body)):
        made.problems.append(BatchProblem(index, None, reason))


async def _held(reader: Reader, org_id: str, collection_id: str, identities: Sequence[str | None]) -> dict[str, Draft]:
    # By digest, which the unique index carries.
    digests = [identity.digest(own) for own in dict.fromkeys(identities) if own is not None]
    rows: list[Row] = await reader.rows(_HELD, org_id, collection_id, digests) if digests else []
    return {row.identity: Draft(row.id, json.loads(row.content_json), row.number, row.version) for row in rows}


def _at(index: int, problem: Problem) -> BatchProblem:
    return BatchProblem(index, problem.column, problem.message)
