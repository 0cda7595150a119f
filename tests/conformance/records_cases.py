"""Collections and records: columns, values, merges, patches, lists, searches."""

from typing import Any

from tests.conformance.case import Call, Case, Refused

THREE = frozenset({"operations", "graphql", "rest"})


def add(caller: str, body: Any, collection: str = "leads", **more: Any) -> Call:
    return Call(caller, "record_add", {"collection": collection, "body": body, **more})


def update(caller: str, record_id: str, body: Any, collection: str = "leads", **more: Any) -> Call:
    return Call(caller, "record_update", {"collection": collection, "id": record_id, "body": body, **more})


def listed(caller: str = "operator", collection: str = "leads", **more: Any) -> Call:
    return Call(caller, "record_list", {"collection": collection, **more})


def search(caller: str, query: str, collection: str = "leads", **more: Any) -> Call:
    return Call(caller, "record_search", {"collection": collection, "query": query, **more})


REJECTED = """record rejected
- column "status": expected one of new, contacted, won, lost; got "pending"
- column "score": expected number; got "42"
- column "notes": unknown column; declared columns are email, status, score, signed_up_at, newsletter, topics, tier"""
VALUES, ADDING, UNIQUE, UPDATING, REMOVING = "column-types", "adding-records", "unique-columns", "updating-records", "removing-records"
LIST, WHERE, SEARCH = "listing-records", "terms", "searching-records"

SMITHS = (
    add("ada", {"email": "smith@x.org", "score": 10, "status": "new"}),
    add("ada", {"email": "jones@x.org", "score": 20, "status": "won"}),
)


def refused_value(name: str, column: str, value: Any, *says: str, doors: frozenset[str] | None = None) -> Case:
    return Case(name, VALUES, add("ada", {column: value}), Refused("UNPROCESSABLE", says=says, columns=(column,)), doors=doors)


def kept_value(name: str, column: str, value: Any, stored: Any = None) -> Case:
    return Case(name, VALUES, add("ada", {column: value}), {"record": {"id": "1", "body": {column: value if stored is None else stored}}})


TYPES = [
    kept_value("a text is kept as it is", "email", " A@x.org "),
    kept_value("an integer beyond 2^53 is kept exactly", "score", 12345678901234567890123),
    kept_value("a number with a fraction is kept", "score", 0.1),
    kept_value("a boolean is kept", "newsletter", value=True),
    kept_value("a time is normalised to UTC", "signed_up_at", "2026-11-30T10:00:00+02:00", "2026-11-30T08:00:00Z"),
    kept_value("a list is kept in its order", "topics", ["b", "a"]),
    kept_value("an empty list is a value", "topics", []),
    refused_value("a text with listed values takes no other", "status", "pending", "expected one of new, contacted, won, lost"),
    refused_value("no number is read from a text", "score", "42", "expected number"),
    refused_value("true is no number", "score", True, "expected number"),
    refused_value("1 is no boolean", "newsletter", 1, "expected", "1"),
    refused_value("a number is no text", "email", 7, "expected"),
    refused_value("a time needs its zone", "signed_up_at", "2026-11-30T10:00:00", "time"),
    refused_value("a time is of a day that there is", "signed_up_at", "2026-02-30T00:00:00Z", "2026-02-30"),
    refused_value("a list repeats nothing", "topics", ["a", "a"], "distinct"),
    refused_value("a list holds no empty text", "topics", [""], "empty"),
    refused_value("a list has 50 items at most", "topics", [str(n) for n in range(51)], "50"),
    refused_value("an item has 200 characters at most", "topics", ["x" * 201], "200"),
    refused_value("a list with listed values takes no other", "tier", ["gold"], "free, team, company"),
    refused_value("an object is no value", "email", {"a": 1}, "expected"),
    refused_value("no NUL is stored", "email", "a\x00", "NUL"),
]

ADDS = [
    Case(
        "every problem is told at once",
        ADDING,
        add("ada", {"status": "pending", "score": "42", "notes": 1}),
        Refused("UNPROCESSABLE", exact=REJECTED, columns=("status", "score", "notes")),
    ),
    Case("a required column must be there", ADDING, add("operator", {"number": 1}, "tasks"), Refused("UNPROCESSABLE", columns=("title",))),
    Case("null counts as absent", ADDING, add("ada", {"email": "a@x.org", "score": None}), {"record": {"body": {"email": "a@x.org"}}}),
    Case("a body is an object", ADDING, add("ada", ["a"]), Refused("UNPROCESSABLE"), doors=THREE),
    Case(
        "ids count from 1",
        ADDING,
        add("ada", {"email": "b@x.org"}),
        {"record": {"id": "2", "version": 1}},
        before=(add("ada", {"email": "a@x.org"}),),
    ),
    Case("a refused add takes no id", ADDING, add("ada", {"email": "b@x.org"}), {"record": {"id": "1"}}),
    Case(
        "a record's path is its table's and its id",
        ADDING,
        add("ada", {"email": "a@x.org"}),
        {"record": {"display_path": "org/{org}/collections/leads/1", "collection": "leads"}},
    ),
    Case(
        "a removed record's id is not used again",
        REMOVING,
        add("ada", {"email": "b@x.org"}),
        {"record": {"id": "2"}},
        before=(add("ada", {"email": "a@x.org"}), Call("ada", "record_remove", {"collection": "leads", "id": "1"})),
    ),
    Case(
        "a cleared table goes on counting",
        REMOVING,
        add("ada", {"email": "b@x.org"}),
        {"record": {"id": "2"}},
        before=(add("ada", {"email": "a@x.org"}), Call("operator", "collection_clear", {"id": "{leads}"})),
    ),
    Case(
        "the same unique value is merged",
        UNIQUE,
        add("ada", {"email": "a@x.org", "score": 7}),
        {
            "note": "merged into existing record 1",
            "record": {"id": "1", "version": 2, "body": {"email": "a@x.org", "score": 7, "status": "new"}},
        },
        before=(add("bob", {"email": "a@x.org", "status": "new"}),),
    ),
    Case(
        "blanks, case and composition do not count",
        UNIQUE,
        add("ada", {"email": "  CAFE\u0301@X.org "}),
        {"note": "merged into existing record 1", "record": {"id": "1", "body": {"email": "  CAFE\u0301@X.org "}}},
        before=(add("bob", {"email": "caf\u00e9@x.org"}),),
    ),
    Case(
        "1 and 1.0 are one number",
        UNIQUE,
        add("ada", {"title": "b", "number": 1.0}, "workshop"),
        {"record": {"id": "1", "version": 2}},
        before=(add("ada", {"title": "a", "number": 1}, "workshop"),),
    ),
    Case(
        "similar is not the same",
        UNIQUE,
        add("ada", {"email": "a@x.orgs"}),
        {"record": {"id": "2"}},
        before=(add("ada", {"email": "a@x.org"}),),
    ),
    Case(
        "a removed record is merged into no more",
        UNIQUE,
        add("ada", {"email": "a@x.org"}),
        {"record": {"id": "2"}},
        before=(add("ada", {"email": "a@x.org"}), Call("ada", "record_remove", {"collection": "leads", "id": "1"})),
    ),
    Case(
        "the same idempotency key and body answer as before",
        "idempotency",
        add("ada", {"score": 1}, idempotency_key="k"),
        {"record": {"id": "1", "version": 1}},
        before=(add("ada", {"score": 1}, idempotency_key="k"),),
        doors=THREE,
    ),
    Case(
        "another body with the key is a conflict",
        "idempotency",
        add("ada", {"score": 2}, idempotency_key="k"),
        Refused("CONFLICT"),
        before=(add("ada", {"score": 1}, idempotency_key="k"),),
        doors=THREE,
    ),
]

UPDATES = [
    Case(
        "a patch leaves the rest",
        UPDATING,
        update("ada", "1", {"score": 11}),
        {"record": {"version": 2, "body": {"email": "smith@x.org", "score": 11, "status": "new"}}},
        before=SMITHS,
    ),
    Case(
        "null clears an optional column",
        UPDATING,
        update("ada", "1", {"score": None}),
        {"record": {"body": {"email": "smith@x.org", "status": "new"}}},
        before=SMITHS,
    ),
    Case(
        "null is a problem on a required one",
        UPDATING,
        update("ada", "1", {"title": None}, "workshop"),
        Refused("UNPROCESSABLE", columns=("title",)),
        before=(add("ada", {"title": "a"}, "workshop"),),
    ),
    Case(
        "a patch is checked as an add is",
        UPDATING,
        update("ada", "1", {"score": "x", "nope": 1}),
        Refused("UNPROCESSABLE", columns=("score", "nope")),
        before=SMITHS,
    ),
    Case("an unknown id is unknown", UPDATING, update("ada", "9", {"score": 1}), Refused("NOT_FOUND", says=("9",)), before=SMITHS),
    Case(
        "another record's unique value is a conflict that names it",
        UNIQUE,
        update("ada", "2", {"email": "SMITH@x.org"}),
        Refused("CONFLICT", says=("record 1",)),
        before=SMITHS,
    ),
    Case(
        "a stale version is refused",
        "versions",
        update("ada", "1", {"score": 3}, expected_version=1),
        Refused("VERSION_CONFLICT", says=("version 2",)),
        before=(*SMITHS, update("ada", "1", {"score": 2})),
        doors=THREE,
    ),
    Case(
        "stale columns that the patch does not touch are warned of",
        UPDATING,
        update("operator", "1", {"score": 5}),
        {"record": {"body": {"score": 5, "status": "new"}}, "warnings": [{"column": "status"}]},
        before=(
            add("ada", {"score": 1, "status": "new"}),
            Call(
                "operator",
                "collection_update",
                {
                    "id": "{leads}",
                    "columns": [
                        {"name": "score", "type": "number", "description": "s"},
                        {"name": "status", "type": "text", "description": "s", "values": ["open", "done"]},
                    ],
                },
            ),
        ),
    ),
    Case(
        "a removed record is gone",
        REMOVING,
        listed(),
        {"total": 1, "records": [{"id": "2"}]},
        before=(*SMITHS, Call("ada", "record_remove", {"collection": "leads", "id": "1"})),
    ),
    Case(
        "removing twice is unknown",
        REMOVING,
        Call("ada", "record_remove", {"collection": "leads", "id": "1"}),
        Refused("NOT_FOUND"),
        before=(*SMITHS, Call("ada", "record_remove", {"collection": "leads", "id": "1"})),
    ),
]

LISTS = [
    Case("records are listed by id with their exact total", LIST, listed(limit=1), {"total": 2, "records": [{"id": "1"}]}, before=SMITHS),
    Case("a page beyond the end is empty, its total exact", LIST, listed(offset=10), {"total": 2, "records": []}, before=SMITHS),
    Case("an order by a column", LIST, listed(order="score desc"), {"records": [{"id": "2"}, {"id": "1"}]}, before=SMITHS),
    Case(
        "an order as an object",
        LIST,
        listed(order={"column": "email", "direction": "ASC"}),
        {"records": [{"id": "2"}, {"id": "1"}]},
        before=SMITHS,
        doors=frozenset({"operations", "graphql", "mcp"}),
    ),
    Case("no order by a list", LIST, listed(order="topics asc"), Refused("UNPROCESSABLE", says=("topics",))),
    Case("limit 0 is refused", LIST, listed(limit=0), Refused("UNPROCESSABLE", says=("1", "100"))),
    Case("limit 101 is refused", LIST, listed(limit=101), Refused("UNPROCESSABLE", says=("1", "100"))),
    Case("limit -1 is refused", LIST, listed(limit=-1), Refused("UNPROCESSABLE", says=("1", "100"))),
    Case("offset -1 is refused", LIST, listed(offset=-1), Refused("UNPROCESSABLE", says=("0",))),
    Case("a text term finds a part", WHERE, listed(where={"email": "mith"}), {"total": 1, "records": [{"id": "1"}]}, before=SMITHS),
    Case(
        "and what is spelled alike",
        WHERE,
        listed(where={"email": "smiht"}),
        {"total": 1, "records": [{"id": "1"}]},
        before=(add("ada", {"email": "Smith"}), add("ada", {"email": "Berths"})),
    ),
    Case(
        "but not what only begins alike", WHERE, listed(where={"email": "berlin"}), {"total": 0}, before=(add("ada", {"email": "Berths"}),)
    ),
    Case(
        "a term with a digit by its characters only",
        WHERE,
        listed(where={"email": "2026-1"}),
        {"total": 1, "records": [{"id": "2"}]},
        before=(add("ada", {"email": "2026-2"}), add("ada", {"email": "x2026-11"})),
    ),
    Case("a listed value exactly", WHERE, listed(where={"status": "won"}), {"total": 1, "records": [{"id": "2"}]}, before=SMITHS),
    Case(
        "a value that is not listed is refused with those that are",
        WHERE,
        listed(where={"status": "wo"}),
        Refused("UNPROCESSABLE", says=("new, contacted, won, lost",), columns=("status",)),
    ),
    Case("a number exactly", WHERE, listed(where={"score": 10}), {"total": 1}, before=SMITHS),
    Case("a number's range", WHERE, listed(where={"score": {"gte": 10, "lte": 19}}), {"total": 1, "records": [{"id": "1"}]}, before=SMITHS),
    Case("a range upside down is empty", WHERE, listed(where={"score": {"gte": 20, "lte": 10}}), {"total": 0}, before=SMITHS),
    Case(
        "a time's range, in any zone",
        WHERE,
        listed(where={"signed_up_at": {"gte": "2026-01-01T01:00:00+01:00"}}),
        {"total": 1},
        before=(add("ada", {"signed_up_at": "2026-01-01T00:00:00Z"}), add("ada", {"signed_up_at": "2025-12-31T23:59:59Z"})),
    ),
    Case(
        "an item of a list by a part",
        WHERE,
        listed(where={"topics": "ric"}),
        {"total": 1},
        before=(add("ada", {"topics": ["price", "x"]}), add("ada", {"topics": ["y"]})),
    ),
    Case("a listed item exactly", WHERE, listed(where={"tier": "team"}), {"total": 1}, before=(add("ada", {"tier": ["free", "team"]}),)),
    Case(
        "null finds what is missing",
        WHERE,
        listed(where={"score": None}),
        {"total": 1, "records": [{"id": "2"}]},
        before=(add("ada", {"score": 1}), add("ada", {"email": "b"})),
    ),
    Case("an id reads one record", WHERE, listed(where={"id": "2"}), {"total": 1, "records": [{"id": "2"}]}, before=SMITHS),
    Case("an id may be a number", WHERE, listed(where={"id": 2}), {"total": 1}, before=SMITHS),
    Case(
        "an unknown column is refused",
        WHERE,
        listed(where={"nope": 1}),
        Refused("UNPROCESSABLE", says=("nope", "email"), columns=("nope",)),
    ),
    Case("a term of 201 characters is refused", WHERE, listed(where={"email": "x" * 201}), Refused("UNPROCESSABLE", says=("200",))),
    Case("a term of another type is refused", WHERE, listed(where={"score": "ten"}), Refused("UNPROCESSABLE", columns=("score",))),
    Case("nine columns are refused", WHERE, listed(where={f"c{n}": 1 for n in range(9)}), Refused("UNPROCESSABLE", says=("8",))),
    Case("a narrowed list of nothing explains itself", LIST, listed(where={"email": "nobody"}), {"total": 0, "hint": "..."}, before=SMITHS),
    Case("so does one since a time", LIST, listed(since="2100-01-01T00:00:00Z"), {"total": 0, "hint": "..."}, before=SMITHS),
]

SEARCHES = [
    Case("records are found by words in their values", SEARCH, search("ada", "jones"), {"records": [{"id": "2"}]}, before=SMITHS),
    Case("never by the names of columns", SEARCH, search("ada", "score"), {"records": []}, before=SMITHS),
    Case("never by what is spelled alike", SEARCH, search("ada", "smiht"), {"records": []}, before=SMITHS),
    Case("one word by a part of it", SEARCH, search("ada", "mith@x"), {"records": [{"id": "1"}]}, before=SMITHS),
    Case(
        "OR widens",
        SEARCH,
        search("ada", "jones OR lost"),
        {"records": [{"id": "2"}]},
        before=(add("ada", {"email": "smith"}), add("ada", {"email": "jones"})),
    ),
    Case("where narrows", SEARCH, search("ada", "x.org", where={"status": "new"}), {"records": [{"id": "1"}]}, before=SMITHS),
    Case(
        "where needs its table",
        SEARCH,
        Call("ada", "record_search", {"query": "x", "where": {"status": "new"}}),
        Refused("UNPROCESSABLE", says=("collection",)),
        doors=frozenset({"operations", "graphql", "mcp"}),
    ),
    Case(
        "without a table all that the caller reads are searched",
        SEARCH,
        Call("cyd", "record_search", {"query": "needle"}),
        {"records": [{"collection": "leads"}]},
        before=(add("ada", {"email": "needle"}), add("ada", {"title": "needle"}, "workshop")),
        doors=frozenset({"operations", "graphql", "mcp"}),
    ),
    Case("punctuation alone finds nothing", SEARCH, search("ada", "& ! |"), {"records": []}, before=SMITHS),
    Case("a colon is no operator", SEARCH, search("ada", "a:b & !"), {"records": []}, before=SMITHS),
    Case("a backslash is text", SEARCH, search("ada", "\\"), {"records": []}, before=SMITHS),
    Case(
        "an emoji is text",
        SEARCH,
        search("ada", "\U0001f600"),
        {"records": [{"id": "1"}]},
        before=(add("ada", {"email": "a \U0001f600 b"}),),
    ),
    Case("10,000 characters are refused", SEARCH, search("ada", "x " * 5_000), Refused("UNPROCESSABLE", says=("characters",))),
]

CASES = [*TYPES, *ADDS, *UPDATES, *LISTS, *SEARCHES]
