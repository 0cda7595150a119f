"""The shapes of answers, as they are documented; a test holds every answer to them."""

from server.rest.models.base import Refusal
from server.rest.models.changes import Changes
from server.rest.models.files import Memory, Note, NoteHits, Notes, Revisions, Script, Scripts, State, Task
from server.rest.models.records import ImportOutcome, Record, RecordAdded, RecordBatch, RecordPage, RecordUpdated
from server.rest.models.tables import AgentAccess, AgentGrant, Collection, CollectionDetail, Collections, GuildAccess, SubjectGrant

__all__ = [
    "AgentAccess",
    "AgentGrant",
    "Changes",
    "Collection",
    "CollectionDetail",
    "Collections",
    "GuildAccess",
    "ImportOutcome",
    "Memory",
    "Note",
    "NoteHits",
    "Notes",
    "Record",
    "RecordAdded",
    "RecordBatch",
    "RecordPage",
    "RecordUpdated",
    "Refusal",
    "Revisions",
    "Script",
    "Scripts",
    "State",
    "SubjectGrant",
    "Task",
]
