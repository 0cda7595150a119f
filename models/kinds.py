"""The closed sets of values that the store keeps; their names are those of the GraphQL contract."""

from enum import StrEnum


class NoteLevel(StrEnum):
    """Whose a note is."""

    AGENT = "AGENT"
    GUILD = "GUILD"
    ORG = "ORG"


class ColumnType(StrEnum):
    """What a column's values are."""

    TEXT = "TEXT"
    NUMBER = "NUMBER"
    BOOLEAN = "BOOLEAN"
    DATETIME = "DATETIME"
    ARRAY = "ARRAY"


class CollectionScope(StrEnum):
    """Whether a table belongs to the organisation or to one guild."""

    ORG = "ORG"
    GUILD = "GUILD"


class AccessMode(StrEnum):
    """What a grant allows; write implies read."""

    NONE = "NONE"
    READ = "READ"
    WRITE = "WRITE"


class SubjectType(StrEnum):
    """Who a grant is for."""

    GUILD = "GUILD"
    AGENT = "AGENT"


class ArtifactKind(StrEnum):
    """The four kinds of stored artifact; an object is a collection's record."""

    NOTE = "NOTE"
    OBJECT = "OBJECT"
    MEMORY = "MEMORY"
    SCRIPT = "SCRIPT"


class FileKind(StrEnum):
    """What sort of file a change is about."""

    NOTE = "NOTE"
    MEMORY = "MEMORY"
    SCRIPT = "SCRIPT"
    TASK = "TASK"
    COLLECTION = "COLLECTION"
    RECORD = "RECORD"
    VAULT = "VAULT"


class FileOperation(StrEnum):
    """What a change did to its file."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MOVE = "MOVE"
    CLEAR = "CLEAR"
    GRANT = "GRANT"
    RESTORE = "RESTORE"


class SortDirection(StrEnum):
    """Which end of an order comes first."""

    ASC = "ASC"
    DESC = "DESC"
