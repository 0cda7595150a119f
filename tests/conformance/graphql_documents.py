"""Each operation as a GraphQL document, and its arguments as variables."""

from collections.abc import Callable
from typing import Any

Variables = Callable[[dict[str, Any]], dict[str, Any]]

_NOTE = "displayPath level ownerId key content version createdBy { kind id name } updatedBy { kind id name }"
_RECORD = "id collection displayPath body version createdAt updatedAt createdBy { kind id name } updatedBy { kind id name }"
_FILE = "displayPath content version updatedBy { kind id name }"
_CHANGE = "displayPath eventPath previousPath kind operation version actor { kind id name }"
_TABLE = "id name displayPath purpose scope recordCount access columns { name type description required unique values }"
_COLUMNS = "columns { name type description required unique values }"


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


def _variables(*upper: str) -> Variables:
    """The arguments with GraphQL's names, and with its spelling of closed values."""

    def of(arguments: dict[str, Any]) -> dict[str, Any]:
        return {
            _camel(key): value.upper() if key in upper and isinstance(value, str) else _input(key, value)
            for key, value in arguments.items()
        }

    return of


def _input(key: str, value: Any) -> Any:
    if key == "columns" and isinstance(value, list):
        return [
            {_camel(name): item.upper() if name == "type" and isinstance(item, str) else item for name, item in column.items()}
            for column in value
        ]
    if key == "order" and isinstance(value, str):
        column, _, direction = value.partition(" ")
        return {"column": column, "direction": (direction or "asc").upper()}
    return value


DOCUMENTS: dict[str, tuple[str, Variables]] = {
    "note_find": (
        (
            "query($query: String!, $level: NoteLevel, $limit: Int) { noteFind(query: $query, level: $level, limit: $limit) "
            "{ notes { displayPath level key snippet version } } }"
        ),
        _variables("level"),
    ),
    "note_get": (f"query($path: String!) {{ noteGet(path: $path) {{ {_NOTE} }} }}", _variables()),
    "note_write": (
        (
            "mutation($level: NoteLevel!, $key: String!, $content: String!, $ownerId: ID, $expectedVersion: Int) { "
            "noteWrite(level: $level, "
            f"key: $key, content: $content, ownerId: $ownerId, expectedVersion: $expectedVersion) {{ {_NOTE} }} }}"
        ),
        _variables("level"),
    ),
    "note_delete": (f"mutation($path: String!) {{ noteDelete(path: $path) {{ {_CHANGE} }} }}", _variables()),
    "note_move": (
        (
            "mutation($path: String!, $level: NoteLevel!, $key: String!, $ownerId: ID) { noteMove(path: $path, level: $level, key: $key, "
            f"ownerId: $ownerId) {{ {_NOTE} }} }}"
        ),
        _variables("level"),
    ),
    "record_search": (
        (
            "query($query: String!, $collection: String, $where: JSON, $limit: Int) { recordSearch(query: $query, collection: $collection, "
            f"where: $where, limit: $limit) {{ records {{ {_RECORD} }} }} }}"
        ),
        _variables(),
    ),
    "record_list": (
        (
            "query($collection: String!, $where: JSON, $since: DateTime, $order: RecordOrder, $limit: Int, $offset: Int) { recordList("
            "collection: $collection, where: $where, since: $since, order: $order, limit: $limit, offset: $offset) "
            f"{{ total hint records {{ {_RECORD} }} }} }}"
        ),
        _variables(),
    ),
    "record_add": (
        (
            "mutation($collection: String!, $body: JSON!, $idempotencyKey: String) { recordAdd(collection: $collection, body: $body, "
            f"idempotencyKey: $idempotencyKey) {{ merged note record {{ {_RECORD} }} }} }}"
        ),
        _variables(),
    ),
    "record_update": (
        (
            "mutation($collection: String!, $id: ID!, $body: JSON!, $expectedVersion: Int) { recordUpdate(collection: "
            "$collection, id: $id, "
            f"body: $body, expectedVersion: $expectedVersion) {{ warnings {{ column message }} record {{ {_RECORD} }} }} }}"
        ),
        _variables(),
    ),
    "record_remove": (
        "mutation($collection: String!, $id: ID!) { recordRemove(collection: $collection, id: $id) { removed } }",
        _variables(),
    ),
    "memory_write": (
        (
            "mutation($content: String!, $agentId: ID, $expectedVersion: Int) { memoryWrite(content: $content, agentId: $agentId, "
            f"expectedVersion: $expectedVersion) {{ {_FILE} }} }}"
        ),
        _variables(),
    ),
    "script_get": (f"query($path: String!) {{ script(path: $path) {{ name {_FILE} }} }}", _variables()),
    "script_write": (
        (
            "mutation($name: String!, $content: String!, $agentId: ID) { scriptWrite(name: $name, content: $content, agentId: $agentId) "
            f"{{ name {_FILE} }} }}"
        ),
        _variables(),
    ),
    "script_delete": (f"mutation($path: String!) {{ scriptDelete(path: $path) {{ {_CHANGE} }} }}", _variables()),
    "task_save": (
        (
            "mutation($agentId: ID!, $content: String!, $expectedVersion: Int) { taskSave(agentId: $agentId, content: $content, "
            f"expectedVersion: $expectedVersion) {{ {_FILE} rendered }} }}"
        ),
        _variables(),
    ),
    "collection_create": (
        (
            "mutation($name: String!, $purpose: String!, $columns: [ColumnInput!]!, $guildId: ID) { collectionCreate(name: $name, "
            f"purpose: $purpose, columns: $columns, guildId: $guildId) {{ {_TABLE} }} }}"
        ),
        _variables(),
    ),
    "collection_update": (
        (
            "mutation($id: ID!, $name: String, $purpose: String, $columns: [ColumnInput!], $guildId: ID) { collectionUpdate(id: $id, "
            f"name: $name, purpose: $purpose, columns: $columns, guildId: $guildId) {{ {_TABLE} }} }}"
        ),
        _variables(),
    ),
    "collection_delete": (f"mutation($id: ID!) {{ collectionDelete(id: $id) {{ {_CHANGE} }} }}", _variables()),
    "collection_clear": ("mutation($id: ID!) { collectionClear(id: $id) }", _variables()),
    "grant_set": (
        (
            "mutation($collectionId: ID!, $subjectType: SubjectType!, $subjectId: ID!, $mode: AccessMode) { grantSet(collectionId: "
            "$collectionId, subjectType: $subjectType, subjectId: $subjectId, mode: $mode) { scope base grant effective } }"
        ),
        _variables("subject_type", "mode"),
    ),
    "state": (
        (
            "query($agentId: ID!) { agent(id: $agentId) { state { task memory notes { displayPath version } "
            "scripts { displayPath name version } "
            f"collections {{ name purpose access scope displayPath truncated {_COLUMNS} }} }} }} }}"
        ),
        _variables(),
    ),
}
