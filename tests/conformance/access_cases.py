"""Who reaches tables; tables themselves; the files of an agent and its State."""

from typing import Any

from tests.conformance.case import Call, Case, Refused
from tests.conformance.records_cases import add, listed, update

THREE = frozenset({"operations", "graphql", "rest"})
ACCESS, TABLES, COLUMNS, GUILDS = "who-reaches-tables", "tables", "changing-columns", "guild-tables"


def create(caller: str, name: str = "things", **more: Any) -> Call:
    given = {"name": name, "purpose": "Things.", "columns": [{"name": "a", "type": "text", "description": "a"}], **more}
    return Call(caller, "collection_create", given)


def column(name: str, kind: str = "text", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "description": "what it holds", **more}


def change(**what: Any) -> Call:
    return Call("operator", "collection_update", {"id": "{leads}", **what})


def grant(kind: str, subject: str, mode: str | None, table: str = "leads", caller: str = "operator") -> Call:
    return Call(caller, "grant_set", {"collection_id": f"{{{table}}}", "subject_type": kind, "subject_id": subject, "mode": mode})


REACH = [
    Case(
        "a guild's grant lets its agents write",
        ACCESS,
        add("bob", {"score": 1}),
        {"record": {"updated_by": {"kind": "agent", "name": "Bob"}}},
    ),
    Case("a guild that reads does not write", ACCESS, add("cyd", {"score": 1}), Refused("FORBIDDEN", says=("leads",))),
    Case("but it reads", ACCESS, listed("cyd"), {"total": 0}),
    Case("what is not granted does not exist", ACCESS, listed("loner"), Refused("NOT_FOUND", says=("unknown collection",))),
    Case("nor does another organisation's", ACCESS, listed("stranger"), Refused("NOT_FOUND", says=("unknown collection",))),
    Case("an operator reaches every table with write", ACCESS, add("operator", {"title": "a"}, "tasks"), {"record": {"id": "1"}}),
    Case(
        "an agent's own grant raises it above its guild",
        ACCESS,
        add("cyd", {"score": 1}),
        {"record": {"id": "1"}},
        before=(grant("agent", "{cyd}", "write"),),
    ),
    Case(
        "or holds it to reading",
        ACCESS,
        add("bob", {"score": 1}),
        Refused("FORBIDDEN", says=("leads",)),
        before=(grant("agent", "{bob}", "read"),),
    ),
    Case("or keeps it out", ACCESS, listed("bob"), Refused("NOT_FOUND"), before=(grant("agent", "{bob}", "none"),)),
    Case(
        "a removed grant gives the guild's again",
        ACCESS,
        add("bob", {"score": 1}),
        {"record": {"id": "1"}},
        before=(grant("agent", "{bob}", "none"), grant("agent", "{bob}", None)),
    ),
    Case("write implies read", ACCESS, listed("ada"), {"total": 0}),
    Case(
        "an update needs write",
        ACCESS,
        update("cyd", "1", {"score": 2}),
        Refused("FORBIDDEN", says=("leads",)),
        before=(add("ada", {"score": 1}),),
    ),
    Case(
        "so does a removal",
        ACCESS,
        Call("cyd", "record_remove", {"collection": "leads", "id": "1"}),
        Refused("FORBIDDEN", says=("leads",)),
        before=(add("ada", {"score": 1}),),
    ),
    Case("grants are set by operators", ACCESS, grant("agent", "{ada}", "write", caller="ada"), Refused("FORBIDDEN")),
    Case("a guild's grant is read or write", ACCESS, grant("guild", "{readers}", "none"), Refused("UNPROCESSABLE")),
    Case("a grant tells what comes of it", ACCESS, grant("agent", "{bob}", "read"), {"grant": "read"}),
    Case("an unknown guild is granted nothing", ACCESS, grant("guild", "nobody", "read"), Refused("NOT_FOUND")),
    Case("a guild's own table is written by its agents", GUILDS, add("ada", {"title": "a"}, "workshop"), {"record": {"id": "1"}}),
    Case("and reached by no other guild", GUILDS, listed("cyd", "workshop"), Refused("NOT_FOUND")),
    Case("one member can be held back", GUILDS, listed("bob", "workshop"), Refused("NOT_FOUND")),
    Case("it takes no guild's grant", GUILDS, grant("guild", "{readers}", "read", "workshop"), Refused("UNPROCESSABLE")),
    Case("nor one for an agent of another guild", GUILDS, grant("agent", "{cyd}", "read", "workshop"), Refused("UNPROCESSABLE")),
    Case(
        "moved to the organisation, its guild keeps writing",
        GUILDS,
        add("ada", {"title": "a"}, "workshop"),
        {"record": {"id": "1"}},
        before=(Call("operator", "collection_update", {"id": "{workshop}", "guild_id": None}),),
    ),
    Case("moved to a guild, a table drops its grants", GUILDS, listed("ada"), Refused("NOT_FOUND"), before=(change(guild_id="{readers}"),)),
]

MADE = [
    Case(
        "an operator creates a table", TABLES, create("operator"), {"name": "things", "scope": "org", "record_count": 0, "access": "write"}
    ),
    Case("an agent creates none", TABLES, create("ada"), Refused("FORBIDDEN")),
    Case("a table's name is taken in the whole organisation", TABLES, create("operator", "workshop"), Refused("CONFLICT")),
    Case("a table's name follows its rule", TABLES, create("operator", "Leads!"), Refused("UNPROCESSABLE", says=("name",))),
    Case("a purpose is required", TABLES, create("operator", purpose=" "), Refused("UNPROCESSABLE", says=("purpose",))),
    Case("and has 400 characters at most", TABLES, create("operator", purpose="x" * 401), Refused("UNPROCESSABLE", says=("400",))),
    Case(
        "ids and times are no names for columns",
        TABLES,
        create("operator", columns=[column("id")]),
        Refused("UNPROCESSABLE", says=("reserved",)),
    ),
    Case(
        "a column's description is required",
        TABLES,
        create("operator", columns=[{"name": "a", "type": "text", "description": ""}]),
        Refused("UNPROCESSABLE", says=("description",)),
    ),
    Case(
        "one unique column at most",
        TABLES,
        create("operator", columns=[column("a", unique=True), column("b", unique=True)]),
        Refused("UNPROCESSABLE", says=("unique",)),
    ),
    Case(
        "only texts and numbers are unique",
        TABLES,
        create("operator", columns=[column("a", "boolean", unique=True)]),
        Refused("UNPROCESSABLE", says=("unique",)),
    ),
    Case(
        "only texts and lists have listed values",
        TABLES,
        create("operator", columns=[column("a", "number", values=["x"])]),
        Refused("UNPROCESSABLE", says=("values",)),
    ),
    Case("a new table renames nothing", TABLES, create("operator", columns=[column("a", rename_from="b")]), Refused("UNPROCESSABLE")),
    Case(
        "a renamed column keeps its values",
        COLUMNS,
        listed(),
        {"records": [{"body": {"points": 7}}]},
        before=(add("ada", {"score": 7}), change(columns=[column("points", "number", rename_from="score")])),
    ),
    Case(
        "a removed column drops them",
        COLUMNS,
        listed(),
        {"records": [{"body": {"score": 7}}]},
        before=(add("ada", {"score": 7, "email": "a@x"}), change(columns=[column("score", "number")])),
    ),
    Case(
        "a column becomes unique only without repetitions",
        COLUMNS,
        change(columns=[column("score", "number", unique=True)]),
        Refused("CONFLICT"),
        before=(add("ada", {"score": 7}), add("ada", {"score": 7.0})),
    ),
    Case("what is not named stays", COLUMNS, change(purpose="Another."), {"name": "leads", "purpose": "Another."}),
    Case(
        "a renamed table is found by its new name",
        TABLES,
        listed(collection="prospects"),
        {"total": 1},
        before=(add("ada", {"score": 7}), change(name="prospects")),
        doors=frozenset({"operations", "graphql", "mcp"}),
    ),
    Case(
        "a deleted table is gone with its records",
        TABLES,
        listed(),
        Refused("NOT_FOUND"),
        before=(add("ada", {"score": 7}), Call("operator", "collection_delete", {"id": "{leads}"})),
    ),
    Case(
        "a cleared one stays",
        TABLES,
        listed(),
        {"total": 0},
        before=(add("ada", {"score": 7}), Call("operator", "collection_clear", {"id": "{leads}"})),
    ),
    Case("an agent deletes none", TABLES, Call("ada", "collection_delete", {"id": "{leads}"}), Refused("FORBIDDEN")),
]

MEMORY, SCRIPTS, TASK, STATE = "memory", "scripts", "tasks", "state"
PATH = "org/{org}/agents/{ada}/"


def script(caller: str, name: str = "sum.py", content: str = "print(1)", **more: Any) -> Call:
    return Call(caller, "script_write", {"name": name, "content": content, **more})


FILES = [
    Case(
        "an agent writes its memory",
        MEMORY,
        Call("ada", "memory_write", {"content": "remember"}),
        {"display_path": PATH + "memory.md", "version": 1},
    ),
    Case(
        "again, and it is version 2",
        MEMORY,
        Call("ada", "memory_write", {"content": "b"}),
        {"content": "b", "version": 2},
        before=(Call("ada", "memory_write", {"content": "a"}),),
        doors=THREE,
    ),
    Case(
        "an operator writes it for it",
        MEMORY,
        Call("operator", "memory_write", {"content": "a", "agent_id": "{ada}"}),
        {"version": 1, "updated_by": {"kind": "user"}},
        doors=THREE,
    ),
    Case("a memory has a bound", MEMORY, Call("ada", "memory_write", {"content": "x" * 262_145}), Refused("LIMIT_EXCEEDED")),
    Case("an agent writes a script", SCRIPTS, script("ada"), {"display_path": PATH + "scripts/sum.py", "name": "sum.py", "version": 1}),
    Case(
        "and reads it",
        SCRIPTS,
        Call("ada", "script_get", {"path": PATH + "scripts/sum.py"}),
        {"content": "print(1)"},
        before=(script("ada"),),
    ),
    Case(
        "another agent does not",
        SCRIPTS,
        Call("bob", "script_get", {"path": PATH + "scripts/sum.py"}),
        Refused("NOT_FOUND"),
        before=(script("ada"),),
    ),
    Case("and deletes it", SCRIPTS, Call("ada", "script_delete", {"path": PATH + "scripts/sum.py"}), {}, before=(script("ada"),)),
    Case("a script's name is one file's", SCRIPTS, script("ada", "..hidden"), Refused("UNPROCESSABLE")),
    Case(
        "its scripts are listed",
        SCRIPTS,
        Call("ada", "script_list", {}),
        {"scripts": [{"name": "sum.py", "version": 1}]},
        before=(script("ada"),),
    ),
    Case(
        "no search of notes finds a script", SCRIPTS, Call("ada", "note_find", {"query": "print"}), {"notes": []}, before=(script("ada"),)
    ),
    Case(
        "nor the memory",
        MEMORY,
        Call("ada", "note_find", {"query": "remember"}),
        {"notes": []},
        before=(Call("ada", "memory_write", {"content": "remember"}),),
    ),
    Case(
        "an operator saves a task",
        TASK,
        Call("operator", "task_save", {"agent_id": "{ada}", "content": "Do it."}),
        {"display_path": PATH + "task.md", "version": 1},
    ),
    Case("an agent saves none", TASK, Call("ada", "task_save", {"agent_id": "{ada}", "content": "Do it."}), Refused("FORBIDDEN")),
    Case(
        "a task's embeds are inlined",
        "embeds",
        Call("operator", "state", {"agent_id": "{ada}"}),
        {"task": "Read this: text. Table leads."},
        before=(
            Call("operator", "note_write", {"level": "org", "key": "a.md", "content": "text."}),
            Call(
                "operator",
                "task_save",
                {"agent_id": "{ada}", "content": "Read this: ![[org/{org}/a.md]] Table ![[org/{org}/collections/leads]]."},
            ),
        ),
    ),
    Case(
        "the State lists the tables that the agent is granted",
        STATE,
        Call("ada", "state", {"agent_id": "{ada}"}),
        {"collections": [{"name": "leads", "access": "write", "scope": "org"}, {"name": "workshop", "access": "write", "scope": "guild"}]},
    ),
    Case("and only those", STATE, Call("bob", "state", {"agent_id": "{bob}"}), {"collections": [{"name": "leads", "access": "write"}]}),
    Case("another agent's State is for operators", STATE, Call("bob", "state", {"agent_id": "{ada}"}), Refused("FORBIDDEN")),
]

CASES = [*REACH, *MADE, *FILES]
