"""Records, and what adding them says."""

from datetime import datetime
from typing import Any

from pydantic import Field

from server.rest.models.base import Actor, ColumnProblem, Shape
from server.rest.models.tables import Column


class Record(Shape):
    """A record; its body holds the declared columns only."""

    id: str = Field(description="The decimal id within its collection.")
    collection: str
    display_path: str
    body: dict[str, Any]
    version: int
    created_at: datetime
    created_by: Actor
    updated_at: datetime
    updated_by: Actor


class RecordPage(Shape):
    """Some of the records that match."""

    total: int = Field(description="How many match, whatever the page.")
    records: list[Record]
    columns: list[Column]
    hint: str | None = Field(default=None, description="Why a narrowed list is empty.")


class RecordAdded(Shape):
    """A record after an add."""

    record: Record
    merged: str | None = Field(description="The id of the live record that took the body as a patch, since it has the same unique value.")
    note: str | None


class RecordUpdated(Shape):
    """A record after an update."""

    record: Record
    warnings: list[ColumnProblem] = Field(description="What its other columns hold that the table would not accept now.")


class BatchProblem(Shape):
    """What is wrong with one body of a batch."""

    index: int
    column: str | None
    message: str


class RecordBatch(Shape):
    """What a batch did; with problems it did nothing."""

    added: int
    merged: int
    records: list[Record] = Field(description="One for each body; none in a dry run.")
    problems: list[BatchProblem]


class LineProblem(Shape):
    """What is wrong with a file, at a line where one is meant."""

    line: int | None
    column: str | None
    message: str


class ImportOutcome(Shape):
    """What an import did, or in a dry run would do."""

    rows: int
    added: int
    merged: int = Field(description="Rows that went into records that were there.")
    merged_within: int = Field(description="Rows that went into records of earlier rows.")
    skipped: int = Field(description="Rows without any value.")
    written: bool
    problem_count: int
    problems: list[LineProblem] = Field(description="The first thousand; a real import with problems is refused instead.")
