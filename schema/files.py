"""Notes, the files of an agent, and the changes of all files."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry
from strawberry import ID

from engine import column, embedded
from models.caller import ActorKind
from models.cursor import Cursor
from models.kinds import FileKind, FileOperation, NoteLevel
from resolvers import agent_files, provenance
from schema.fields import field

if TYPE_CHECKING:
    from schema.directory import Run


@strawberry.type(description="Who did something; the name is the one borne at that time.")
class Actor:
    kind: ActorKind = field(description="A person, an agent, or the product itself.")
    id: ID | None = field(description="The person's or agent's id.")
    name: str = field(description="The name at that time.")


@strawberry.type(description="One write to one file: what happened, by whom, when, in which run, by which tool call.")
class FileChange:
    @column(description="The change's position in the feed; take it to resume from here.")
    def cursor(self) -> Cursor:
        return Cursor(self.xid, self.change_id)  # type: ignore[attr-defined]  # self is the row

    display_path: str = field(description="The file that changed.")
    event_path: str = field(
        description="The path that the change is published for: the collection's when a record is created, else the file's."
    )
    previous_path: str | None = field(description="Where a moved file came from.")
    kind: FileKind = field(description="What sort of file it is.")
    operation: FileOperation = field(description="What happened to it.")
    version: int | None = field(description="The version that the change made.")
    actor: Actor = embedded("actor_", description="Who wrote.")
    run: Annotated["Run", strawberry.lazy("schema.directory")] | None = field(
        resolver=provenance.run_of, description="The agent's run that wrote, if one did."
    )
    tool_call_id: str | None = field(description="The tool call within the run.")
    tool_name: str | None = field(description="The tool that was called.")
    at: datetime = field(description="When.")
    recorded: bool = field(description="False where no change was recorded: then these are the file's last-saved facts.")


@strawberry.type(description="A Markdown note.")
class Note:
    display_path: str = field(description="The one reference to this note.")
    level: NoteLevel = field(description="Whose it is.")
    owner_id: ID = field(description="The id of the agent, guild or organisation that it belongs to.")
    key: str = field(description="Its file name.")
    content: str = field(description="Its text, character for character as written.")
    version: int = field(description="How often its path was written; pass it as expectedVersion to guard a write.")
    created_at: datetime = field(description="When it was first written.")
    updated_at: datetime = field(description="When it was last written.")
    created_by: Actor = embedded("created_by_", description="Who wrote it first.")
    updated_by: Actor = embedded("updated_by_", description="Who wrote it last.")
    latest_change: FileChange = field(resolver=provenance.latest_change, description="The newest change of it.")
    changes: list[FileChange] = field(resolver=provenance.changes, description="Its changes, newest first.")


@strawberry.type(description="A previous version of a file of an agent.")
class Revision:
    display_path: str | None = field(description="Where it can be read, if it has a path of its own.")
    content: str = field(description="Its text.")
    version: int = field(description="The version that it was.")
    source: str = field(description="What made the version: who or which tool saved it.")
    saved_at: datetime = field(description="When it was saved.")
    saved_by: Actor = embedded("saved_by_", description="Who saved it.")


@strawberry.type(description="An agent's standing task, kept by operators.")
class Task:
    display_path: str = field(description="Its virtual path.")
    content: str = field(description="Its text as written, embeds as ![[path]].")
    rendered: str = field(resolver=agent_files.rendered_task, description="Its text with embedded notes inlined and tables named.")
    version: int = field(description="How often it was saved; 0 when never.")
    updated_at: datetime = field(description="When it was last saved.")
    updated_by: Actor = embedded("updated_by_", description="Who saved it last.")
    revisions: list[Revision] = field(
        resolver=agent_files.task_revisions, description="Previous saves, newest first; the latest 50 are kept."
    )
    latest_change: FileChange | None = field(resolver=provenance.latest_change_if_any, description="The newest change of it.")


@strawberry.type(description="An agent's private free-form text for its future runs.")
class Memory:
    display_path: str = field(description="Its path.")
    content: str = field(description="Its text.")
    version: int = field(description="How often it was written.")
    updated_at: datetime = field(description="When it was last written.")
    updated_by: Actor = embedded("updated_by_", description="Who wrote it last.")
    revisions: list[Revision] = field(resolver=agent_files.memory_revisions, description="Previous versions, newest first; for operators.")
    latest_change: FileChange | None = field(resolver=provenance.latest_change_if_any, description="The newest change of it.")


@strawberry.type(description="Source that an agent's runs carry into their sandbox.")
class Script:
    display_path: str = field(description="Its path.")
    name: str = field(description="Its file name.")
    content: str = field(description="Its source.")
    version: int = field(description="How often its path was written.")
    updated_at: datetime = field(description="When it was last written.")
    updated_by: Actor = embedded("updated_by_", description="Who wrote it last.")
    latest_change: FileChange | None = field(resolver=provenance.latest_change_if_any, description="The newest change of it.")


@strawberry.type(description="A note that a search found.")
class NoteHit:
    display_path: str = field(description="The note's path.")
    level: NoteLevel = field(description="Whose it is.")
    key: str = field(description="Its file name.")
    snippet: str = field(description="The text around the match.")
    version: int = field(description="Its version.")
    updated_at: datetime = field(description="When it was last written.")


@strawberry.type(description="What a search of notes found, best first.")
class NoteFindResult:
    notes: list[NoteHit] = field(description="The notes found.")
