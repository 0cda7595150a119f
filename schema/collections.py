"""Typed tables and their records."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry
from strawberry import ID
from strawberry.scalars import JSON

from engine import column, embedded, raw_json
from models.columns import load
from models.kinds import AccessMode, CollectionScope, ColumnType
from resolvers import directory, grants, provenance, records
from schema.fields import field
from schema.files import Actor, FileChange

if TYPE_CHECKING:
    from schema.access import Grant
    from schema.directory import Guild


@strawberry.type(description="One typed column of a table.")
class Column:
    name: str = field(description="Its name, the key in record bodies.")
    type: ColumnType = field(description="What its values are.")
    description: str = field(description="What it holds, as agents are told.")
    required: bool = field(description="Whether every record must have it.")
    unique: bool = field(description="Whether no two live records may share a value; a record added with a value that is there is merged.")
    values: list[str] | None = field(description="The only values that it accepts, if they are listed.")


@strawberry.type(description="A record as it is stored.")
class Record:
    id: ID = field(description="Its number within the table; never used again.")
    collection: str = field(description="The table's name.")
    display_path: str = field(description="The one reference to this record.")
    body: JSON = raw_json(description="Its values by column name; declared columns only.")
    version: int = field(description="How often it was written; pass it as expectedVersion to guard an update.")
    created_at: datetime = field(description="When it was added.")
    updated_at: datetime = field(description="When it was last written.")
    created_by: Actor = embedded("created_by_", description="Who added it.")
    updated_by: Actor = embedded("updated_by_", description="Who wrote it last.")
    latest_change: FileChange = field(resolver=provenance.latest_change, description="The newest change of it.")
    changes: list[FileChange] = field(resolver=provenance.changes, description="Its changes, newest first.")


@strawberry.type(description="A page of records.")
class RecordList:
    total: int = field(description="How many records match, whatever the page.")
    records: list[Record] = field(description="This page.")
    hint: str | None = field(description="Why a narrowed list is empty and what to try instead.")


@strawberry.type(description="A typed table of records.")
class Collection:
    id: ID = field(description="Its id, which outlives a rename.")
    display_path: str = field(description="Its path.")
    name: str = field(description="Its name, unique in the organisation among live tables.")
    purpose: str = field(description="What it is for, as agents are told.")
    scope: CollectionScope = field(description="Whether it belongs to the organisation or to one guild.")
    guild: Annotated["Guild", strawberry.lazy("schema.directory")] | None = field(
        resolver=directory.guild_of, description="The guild that owns it, if one does."
    )

    @column(description="Its columns, in order.")
    def columns(self) -> list[Column]:
        return load(self.columns)  # type: ignore[return-value]  # self is the row, and definitions have the fields

    record_count: int = field(description="How many live records it holds.")
    created_at: datetime = field(description="When it was created.")
    updated_at: datetime = field(description="When it, not its records, was last changed.")
    access: AccessMode = field(description="What the caller may do here.")
    grants: list[Annotated["Grant", strawberry.lazy("schema.access")]] = field(
        resolver=grants.of_collection, description="Who reaches it; for operators."
    )
    records: RecordList = field(resolver=records.of_collection, description="Its records: a listing, or with `query` a text search.")
    latest_change: FileChange | None = field(resolver=provenance.latest_change_if_any, description="The newest change of the table itself.")


@strawberry.type(description="What a search of records found, best first.")
class RecordSearchResult:
    records: list[Record] = field(description="The records found.")


@strawberry.type(description="What became of an added record.")
class RecordAddResult:
    record: Record = field(description="The record as it is now.")
    merged: ID | None = field(description="The id of the live record that took the body as a patch, since it has the same unique value.")
    note: str | None = field(description="The same in words.")


@strawberry.type(description="Something wrong with a record, or stale in it.")
class RecordProblem:
    column: str | None = field(description="The column meant, if one is.")
    message: str = field(description="What is wrong, and what is expected.")


@strawberry.type(description="What became of an updated record.")
class RecordUpdateResult:
    record: Record = field(description="The record as it is now.")
    warnings: list[RecordProblem] = field(description="What is no longer right in columns that the update did not touch.")


@strawberry.type(description="What became of a removed record.")
class RecordRemoveResult:
    removed: ID = field(description="Its id, which is not used again.")


@strawberry.type(description="Something wrong with one record of many.")
class RecordBatchProblem:
    index: int = field(description="Which of the bodies, from 0.")
    column: str | None = field(description="The column meant, if one is.")
    message: str = field(description="What is wrong, and what is expected.")


@strawberry.type(description="What became of many added records: all of them, or with problems none.")
class RecordAddManyResult:
    added: int = field(description="How many records are new.")
    merged: int = field(description="How many bodies became patches of live records.")
    records: list[Record] = field(description="The records in the order of the bodies; none on a dry run.")
    problems: list[RecordBatchProblem] = field(description="Everything that is wrong; nothing was written then.")
