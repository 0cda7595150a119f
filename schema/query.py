"""Everything that can be asked."""

import strawberry

from resolvers import agent_files, directory, notes, provenance, records
from resolvers import collections as tables
from schema.collections import Collection, Record, RecordList, RecordSearchResult
from schema.directory import Agent, Guild, Organisation, Run, Viewer
from schema.fields import field
from schema.files import FileChange, Note, NoteFindResult, Revision, Script
from schema.state import Embeddable
from schema.vault import VaultQuery


@strawberry.type(description="Everything that can be asked.")
class Query(VaultQuery):
    viewer: Viewer = field(resolver=directory.viewer, description="Who is asking.")
    organisation: Organisation = field(resolver=directory.organisation, description="The caller's organisation.")
    guild: Guild | None = field(resolver=directory.guild, description="A guild by its id; null for an unknown one.")
    agent: Agent | None = field(resolver=directory.agent, description="An agent by its id; null for an unknown one.")
    run: Run | None = field(resolver=directory.run, description="A run by its id; null for an unknown one.")

    note_find: NoteFindResult = field(
        resolver=notes.find,
        description='Notes whose key or text matches: terms are ANDed, OR widens, "quotes" keep a phrase, - excludes; one word alone also '
        "matches parts of words. Best first, 20 unless said, 100 at most.",
    )
    note_get: Note = field(resolver=notes.get, description="The note at a path.")
    record_search: RecordSearchResult = field(
        resolver=records.search,
        description="Records with these words in their values, in one table or in all that the caller reads; the grammar is noteFind's, nothing "
        "is fuzzy. `where` narrows by column and needs a table. Best first.",
    )
    record_list: RecordList = field(
        resolver=records.listed,
        description="A page of one collection. `where` takes a term for each of up to 8 columns. Operators ask exactly: eq, ne, in (up to 50 values) and "
        "missing on every column, contains and startsWith on text and array items, gt, gte, lt and lte on numbers and datetimes; all of one term must hold. "
        'Whether a record exists is {"eq": v} on the unique column. A plain term is fuzzy on text and array items (substring, similar spelling without a '
        "digit) and exact on other columns; null matches a missing value.",
    )

    notes: list[Note] = field(resolver=notes.listed, description="The notes of one level and owner, side by side, by key.")
    collections: list[Collection] = field(resolver=tables.listed, description="The tables that the caller reaches, by name.")
    collection: Collection | None = field(resolver=tables.get, description="A table by its id or its name; null for an unknown one.")
    record: Record | None = field(resolver=records.get, description="A record by its table's name and its id; null for an unknown one.")
    script: Script = field(resolver=agent_files.script, description="The script at a path.")
    memory_revision: Revision = field(
        resolver=agent_files.memory_revision, description="A previous version of a memory by its path; for operators."
    )
    embeddable: list[Embeddable] = field(
        resolver=agent_files.embeddable, description="The notes and tables that a task can embed, for a picker; for operators."
    )
    file_changes: list[FileChange] = field(
        resolver=provenance.history, description="The trail of all files, of one path or of one run, newest first; for operators."
    )
    latest_file_changes: list[FileChange] = field(
        resolver=provenance.latest,
        description="The newest change of each path, in the order asked; unknown paths are left out. For operators.",
    )
