"""Notes: levels, keys, bindings, paths, search, moves."""

from typing import Any

from tests.conformance.case import Call, Case, Refused

WEB = frozenset({"operations", "graphql"})
THREE = WEB | {"rest"}  # the protocol of the fourth has no such argument, or refuses such a text itself


def write(caller: str, level: str, key: str, content: str = "text", **more: Any) -> Call:
    return Call(caller, "note_write", {"level": level, "key": key, "content": content, **more})


def get(caller: str, path: str) -> Call:
    return Call(caller, "note_get", {"path": path})


def find(caller: str, query: str, **more: Any) -> Call:
    return Call(caller, "note_find", {"query": query, **more})


ORG, GUILD, AGENT = "org/{org}/", "org/{org}/guilds/{writers}/", "org/{org}/agents/{ada}/"
LEVELS, NAMES, SEARCH, VERSIONS, ACCESS = "notes", "display-paths", "finding-notes", "versions", "who-reaches-notes"

WRITES = [
    Case(
        "an agent writes a note of its own",
        LEVELS,
        write("ada", "agent", "a.md"),
        {"display_path": AGENT + "a.md", "version": 1, "level": "agent"},
    ),
    Case("an agent writes a note of its guild", LEVELS, write("ada", "guild", "a.md"), {"display_path": GUILD + "a.md", "version": 1}),
    Case(
        "an operator writes a note of the organisation",
        LEVELS,
        write("operator", "org", "a.md"),
        {"display_path": ORG + "a.md", "key": "a.md"},
    ),
    Case(
        "an operator writes a guild's note for it",
        LEVELS,
        write("operator", "guild", "a.md", owner_id="{writers}"),
        {"display_path": GUILD + "a.md"},
        doors=THREE,
    ),
    Case("an operator must say whose guild note it is", LEVELS, write("operator", "guild", "a.md"), Refused("UNPROCESSABLE"), doors=WEB),
    Case(
        "an agent may not say whose note it is",
        LEVELS,
        write("ada", "guild", "a.md", owner_id="{writers}"),
        Refused("UNPROCESSABLE", says=("wner",)),
        doors=WEB,
    ),
    Case("the organisation's notes need their binding to write", ACCESS, write("ada", "org", "a.md"), Refused("FORBIDDEN")),
    Case(
        "an agent without a guild has no guild notes",
        ACCESS,
        write("loner", "guild", "a.md"),
        Refused("FORBIDDEN", says=("in no guild",)),
        doors=WEB | {"mcp"},
    ),
    Case(
        "text comes back character for character",
        LEVELS,
        get("ada", AGENT + "a.md"),
        {"content": "  e\u0301 \u00e9\r\n\t\U0001f600\n\n"},
        before=(write("ada", "agent", "a.md", "  e\u0301 \u00e9\r\n\t\U0001f600\n\n"),),
    ),
    Case(
        "an empty note is a note",
        LEVELS,
        get("ada", AGENT + "a.md"),
        {"content": "", "version": 1},
        before=(write("ada", "agent", "a.md", ""),),
    ),
    Case("256 KB are accepted", LEVELS, write("ada", "agent", "a.md", "x" * 262_144), {"version": 1}),
    Case("one byte more is not", LEVELS, write("ada", "agent", "a.md", "x" * 262_145), Refused("LIMIT_EXCEEDED", says=("256 KB",))),
    Case(
        "bytes count, not characters",
        LEVELS,
        write("ada", "agent", "a.md", "\u00e9" * 131_073),
        Refused("LIMIT_EXCEEDED", says=("256 KB",)),
    ),
    Case("a key ends in .md", NAMES, write("ada", "agent", "a.txt"), Refused("UNPROCESSABLE", says=(".md",))),
    Case("in lower case", NAMES, write("ada", "agent", "MEMORY.MD"), Refused("UNPROCESSABLE", says=(".md",))),
    Case("a key has no folder", NAMES, write("ada", "agent", "a/b.md"), Refused("UNPROCESSABLE"), doors=WEB | {"mcp"}),
    Case("a key leads nowhere else", NAMES, write("ada", "agent", "../x.md"), Refused("UNPROCESSABLE"), doors=WEB | {"mcp"}),
    Case("a key has no backslash", NAMES, write("ada", "agent", "a\\b.md"), Refused("UNPROCESSABLE", says=("backslash",))),
    Case("a key of 255 bytes is accepted", NAMES, write("ada", "agent", "k" * 252 + ".md"), {"version": 1}),
    Case("a key of 300 characters is not", NAMES, write("ada", "agent", "k" * 297 + ".md"), Refused("UNPROCESSABLE", says=("255",))),
    Case("the task's name is reserved at agent level", NAMES, write("ada", "agent", "task.md"), Refused("UNPROCESSABLE", says=("task",))),
    Case(
        "the memory's name is reserved at agent level",
        NAMES,
        write("ada", "agent", "memory.md"),
        Refused("UNPROCESSABLE", says=("memory",)),
    ),
    Case("both are ordinary names in a guild", NAMES, write("ada", "guild", "task.md"), {"version": 1}),
    Case(
        "keys compare exactly, case included", NAMES, write("ada", "agent", "A.md"), {"version": 1}, before=(write("ada", "agent", "a.md"),)
    ),
    Case("no NUL is stored", NAMES, write("ada", "agent", "a.md", "a\x00b"), Refused("UNPROCESSABLE", says=("NUL",))),
    Case(
        "no lone surrogate is stored",
        NAMES,
        write("ada", "agent", "a.md", "a\ud800b"),
        Refused("UNPROCESSABLE", says=("surrogate",)),
        doors=THREE,
    ),
    Case("a second write is version 2", VERSIONS, write("bob", "guild", "a.md"), {"version": 2}, before=(write("ada", "guild", "a.md"),)),
    Case(
        "a path written again after a deletion goes on from its last version",
        VERSIONS,
        write("ada", "agent", "a.md"),
        {"version": 3},
        before=(write("ada", "agent", "a.md"), Call("ada", "note_delete", {"path": AGENT + "a.md"})),
    ),
    Case(
        "the expected version lets the next write pass",
        VERSIONS,
        write("operator", "org", "a.md", "b", expected_version=1),
        {"version": 2},
        before=(write("operator", "org", "a.md", "a"),),
        doors=THREE,
    ),
    Case(
        "a stale expected version is refused and says which is current",
        VERSIONS,
        write("operator", "org", "a.md", "c", expected_version=1),
        Refused("VERSION_CONFLICT", says=("version 2", "not at version 1")),
        before=(write("operator", "org", "a.md", "a"), write("operator", "org", "a.md", "b")),
        doors=THREE,
    ),
    Case(
        "a stale expected version passes where the note is as asked already",
        VERSIONS,
        write("operator", "org", "a.md", "b", expected_version=1),
        {"version": 2},
        before=(write("operator", "org", "a.md", "a"), write("operator", "org", "a.md", "b")),
        doors=THREE,
    ),
    Case(
        "expected version 0 means only if there is none",
        VERSIONS,
        write("operator", "org", "a.md", "b", expected_version=0),
        Refused("VERSION_CONFLICT", says=("version 1",)),
        before=(write("operator", "org", "a.md", "a"),),
        doors=THREE,
    ),
]

READS = [
    Case(
        "a guild's agent reads its notes", ACCESS, get("bob", GUILD + "a.md"), {"content": "text"}, before=(write("ada", "guild", "a.md"),)
    ),
    Case("another guild's does not", ACCESS, get("cyd", GUILD + "a.md"), Refused("NOT_FOUND"), before=(write("ada", "guild", "a.md"),)),
    Case(
        "nobody reads another agent's notes",
        ACCESS,
        get("bob", AGENT + "a.md"),
        Refused("NOT_FOUND"),
        before=(write("ada", "agent", "a.md"),),
    ),
    Case("an operator does", ACCESS, get("operator", AGENT + "a.md"), {"content": "text"}, before=(write("ada", "agent", "a.md"),)),
    Case(
        "every agent reads the organisation's",
        ACCESS,
        get("cyd", ORG + "a.md"),
        {"content": "text"},
        before=(write("operator", "org", "a.md"),),
    ),
    Case(
        "another organisation's agent does not",
        ACCESS,
        get("foreign_agent", ORG + "a.md"),
        Refused("NOT_FOUND"),
        before=(write("operator", "org", "a.md"),),
    ),
    Case("nor its operator", ACCESS, get("stranger", ORG + "a.md"), Refused("NOT_FOUND"), before=(write("operator", "org", "a.md"),)),
    Case("an unknown note is unknown", NAMES, get("ada", AGENT + "none.md"), Refused("NOT_FOUND")),
    Case("what is no display path is refused", NAMES, get("ada", "notes/a.md"), Refused("UNPROCESSABLE", says=("display path",))),
    Case(
        "a record's path points at the record tools",
        "crossing-families",
        get("ada", "org/{org}/collections/leads/1"),
        Refused("UNPROCESSABLE", says=("record_search", "record_list")),
    ),
    Case(
        "a collection's path points at the record tools",
        "crossing-families",
        get("ada", "org/{org}/collections/leads"),
        Refused("UNPROCESSABLE", says=("record_search", "record_list")),
    ),
    Case("unless the caller cannot read it", "crossing-families", get("ada", "org/{org}/collections/tasks"), Refused("NOT_FOUND")),
    Case(
        "deleting a record's path points at record_remove",
        "crossing-families",
        Call("ada", "note_delete", {"path": "org/{org}/collections/leads/1"}),
        Refused("UNPROCESSABLE", says=("record_remove",)),
    ),
    Case(
        "deleting a collection's path points at the operator",
        "crossing-families",
        Call("ada", "note_delete", {"path": "org/{org}/collections/leads"}),
        Refused("UNPROCESSABLE", says=("operator",)),
    ),
    Case("the memory is no note", "crossing-families", get("ada", AGENT + "memory.md"), Refused("UNPROCESSABLE", says=("memory",))),
    Case(
        "the task is no note",
        "crossing-families",
        Call("ada", "note_delete", {"path": AGENT + "task.md"}),
        Refused("UNPROCESSABLE", says=("task",)),
    ),
    Case(
        "the archive is unknown to agents",
        "crossing-families",
        get("ada", AGENT + "history-archive/20260101T000000Z-agent.md"),
        Refused("NOT_FOUND"),
    ),
]

FINDING = [
    Case(
        "a note is found by its words",
        SEARCH,
        find("ada", "quick fox"),
        {"notes": [{"key": "a.md"}]},
        before=(write("ada", "agent", "a.md", "the quick brown fox"),),
    ),
    Case(
        "every word must be there",
        SEARCH,
        find("ada", "quick cat"),
        {"notes": []},
        before=(write("ada", "agent", "a.md", "the quick brown fox"),),
    ),
    Case(
        "OR widens",
        SEARCH,
        find("ada", "cat OR fox"),
        {"notes": [{"key": "a.md"}]},
        before=(write("ada", "agent", "a.md", "the quick brown fox"),),
    ),
    Case(
        "a minus excludes", SEARCH, find("ada", "fox -quick"), {"notes": []}, before=(write("ada", "agent", "a.md", "the quick brown fox"),)
    ),
    Case(
        "quotes keep a phrase",
        SEARCH,
        find("ada", '"brown quick"'),
        {"notes": []},
        before=(write("ada", "agent", "a.md", "the quick brown fox"),),
    ),
    Case(
        "one word matches inside words",
        SEARCH,
        find("ada", "bro"),
        {"notes": [{"key": "a.md"}]},
        before=(write("ada", "agent", "a.md", "the quick brown fox"),),
    ),
    Case(
        "the key is searched too",
        SEARCH,
        find("ada", "roadmap"),
        {"notes": [{"key": "roadmap.md"}]},
        before=(write("ada", "agent", "roadmap.md", "x"),),
    ),
    Case("a level narrows", SEARCH, find("ada", "fox", level="guild"), {"notes": []}, before=(write("ada", "agent", "a.md", "fox"),)),
    Case(
        "nothing is found that is not readable", SEARCH, find("cyd", "fox"), {"notes": []}, before=(write("ada", "guild", "a.md", "fox"),)
    ),
    Case("at most 100 are listed", SEARCH, find("ada", "fox", limit=101), Refused("UNPROCESSABLE", says=("100",))),
    Case("and at least one", SEARCH, find("ada", "fox", limit=0), Refused("UNPROCESSABLE", says=("1",))),
    Case("an unbalanced quote is an answer", SEARCH, find("ada", '"unbalanced'), {"notes": []}),
    Case("operators of other languages are words", SEARCH, find("ada", "'; drop table artifacts"), {"notes": []}),
    Case("a query of nothing is refused", SEARCH, find("ada", "   "), Refused("UNPROCESSABLE", says=("query",))),
]

MOVES = [
    Case(
        "an operator moves a note",
        "moving-notes",
        Call("operator", "note_move", {"path": ORG + "a.md", "level": "guild", "key": "b.md", "owner_id": "{writers}"}),
        {"display_path": GUILD + "b.md", "content": "text", "version": 2},
        before=(write("operator", "org", "a.md"),),
    ),
    Case(
        "not onto a note that is there",
        "moving-notes",
        Call("operator", "note_move", {"path": ORG + "a.md", "level": "org", "key": "b.md"}),
        Refused("CONFLICT"),
        before=(write("operator", "org", "a.md"), write("operator", "org", "b.md")),
    ),
    Case(
        "an agent moves none",
        "moving-notes",
        Call("ada", "note_move", {"path": AGENT + "a.md", "level": "agent", "key": "b.md"}),
        Refused("FORBIDDEN"),
        before=(write("ada", "agent", "a.md"),),
    ),
    Case(
        "a note that a task embeds stays",
        "embeds",
        Call("operator", "note_delete", {"path": ORG + "a.md"}),
        Refused("CONFLICT", says=("Ada",)),
        before=(
            write("operator", "org", "a.md"),
            Call("operator", "task_save", {"agent_id": "{ada}", "content": "Read ![[org/{org}/a.md]]"}),
        ),
    ),
    Case(
        "also where it would be moved",
        "embeds",
        Call("operator", "note_move", {"path": ORG + "a.md", "level": "org", "key": "b.md"}),
        Refused("CONFLICT", says=("Ada",)),
        before=(
            write("operator", "org", "a.md"),
            Call("operator", "task_save", {"agent_id": "{ada}", "content": "Read ![[org/{org}/a.md]]"}),
        ),
    ),
]

CASES = [*WRITES, *READS, *FINDING, *MOVES]
