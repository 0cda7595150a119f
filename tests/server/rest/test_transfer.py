import json

import pytest
from starlette.types import Message

from server.app import App
from server.settings import Settings
from store import collections, record_batch, records
from store.database import Database, Row
from tests.server.conftest import Tokens
from tests.server.rest.conftest import Api, columns_of, refused
from tests.store.tables import add_table, allow, bodies, everything
from tests.world import World

LINES = b'{"email": "a@b", "status": "new", "score": 1}\n{"email": "c@d", "status": "won"}\n'
TABLE = b"email,status,score\na@b,new,1\nc@d,won,\n"
BODIES = [{"email": "a@b", "score": 1, "status": "new"}, {"email": "c@d", "status": "won"}]


def to(leads: Row, tail: str = "") -> str:
    return f"/api/collections/{leads.id}/import{tail}"


@pytest.mark.parametrize(("name", "content"), [("x.jsonl", LINES), ("x.csv", TABLE)])
async def test_an_uploaded_file_becomes_records(api: Api, db: Database, leads: Row, name: str, content: bytes) -> None:
    before = await everything(db)
    files = {"file": (name, content)}
    trial = await api("POST", to(leads, "?dry_run=true"), files=files)
    assert (trial.status_code, trial.json()["rows"], trial.json()["added"], trial.json()["written"]) == (200, 2, 2, False)
    assert await everything(db) == before
    done = await api("POST", to(leads), files=files)
    expected = {"rows": 2, "added": 2, "merged": 0, "merged_within": 0, "skipped": 0, "written": True, "problem_count": 0, "problems": []}
    assert (done.status_code, done.json()) == (201, expected)
    assert list((await bodies(db, leads)).values()) == BODIES


@pytest.mark.parametrize(("media", "content"), [("application/x-ndjson", LINES), ("text/csv; charset=utf-8", TABLE)])
async def test_a_file_may_be_the_body_itself(api: Api, db: Database, leads: Row, media: str, content: bytes) -> None:
    done = await api("POST", to(leads), content=content, headers={"Content-Type": media})
    assert done.status_code == 201
    assert list((await bodies(db, leads)).values()) == BODIES


async def test_an_export_holds_what_an_import_takes(api: Api, db: Database, world: World, leads: Row) -> None:
    for body in BODIES:
        await records.add(db, world.operator, "leads", body)
    lines = await api("GET", f"/api/collections/{leads.id}/export")
    assert lines.headers["content-disposition"] == 'attachment; filename="leads.jsonl"'
    first = json.loads(lines.text.splitlines()[0])
    assert (first["id"], first["email"], first["updated_by"]) == ("1", "a@b", "Olga")
    plain = await api("GET", f"/api/collections/{leads.id}/export", params={"facts": "false"})
    assert [json.loads(line) for line in plain.text.splitlines()] == BODIES
    table = await api("GET", f"/api/collections/{leads.id}/export", params={"format": "csv", "facts": "false"})
    assert table.text.splitlines()[0] == "email,status,score,signed_up_at"
    copy = await add_table(db, world.operator, "copy")
    for export in (lines, table):
        media = export.headers["content-type"]
        assert (await api("POST", to(copy), content=export.content, headers={"Content-Type": media})).status_code == 201
    assert list((await bodies(db, copy)).values()) == BODIES


async def test_every_problem_of_a_file_is_told_by_its_line_and_nothing_written(api: Api, db: Database, leads: Row) -> None:
    before = await everything(db)
    files = {"file": ("x.jsonl", LINES + b'{"email": "e@f", "status": "no"}\n{"status": 3\n')}
    told = refused(await api("POST", to(leads), files=files), "UNPROCESSABLE", 422)
    assert [problem["message"].partition(":")[0] for problem in told["problems"]] == ["line 3", "line 4"]
    assert told["message"].startswith('import rejected; nothing was written\n- column "status": line 3: expected one of')
    assert (told["rows"], told["problem_count"]) == (4, 2)
    trial = await api("POST", to(leads, "?dry_run=1"), files=files)
    assert (trial.status_code, [problem["line"] for problem in trial.json()["problems"]]) == (200, [3, 4])
    assert await everything(db) == before


async def test_an_upload_of_another_form_is_refused(api: Api, db: Database, leads: Row) -> None:
    before = await everything(db)
    refused(await api("POST", to(leads), json=[]), "UNPROCESSABLE", 415)
    refused(await api("POST", to(leads), files={"file": ("x.bin", LINES)}), "UNPROCESSABLE", 422)
    assert columns_of(await api("POST", to(leads), files={"other": ("x.csv", TABLE)})) == ["file"]
    refused(await api("POST", to(leads), content=b"x", headers={"Content-Type": "multipart/form-data"}), "UNPROCESSABLE", 422)
    refused(await api("POST", to(leads), content=b"--x", headers={"Content-Type": "multipart/form-data; boundary=x"}), "UNPROCESSABLE", 422)
    refused(await api("POST", to(leads), files=[("file", ("x.csv", TABLE)), ("file", ("y.csv", TABLE))]), "UNPROCESSABLE", 422)
    assert columns_of(await api("POST", to(leads, "?format=xml&dry_run=maybe"), files={"file": ("x.csv", TABLE)})) == ["format", "dry_run"]
    refused(await api("POST", to(leads), content=b"", headers={"Content-Type": "text/csv"}), "UNPROCESSABLE", 422)
    assert await everything(db) == before


async def test_an_export_for_a_spreadsheet_marks_what_it_would_run(api: Api, leads: Row) -> None:
    await api("POST", f"/api/collections/{leads.id}/records", json={"body": {"email": "=1+1", "status": "new"}})
    asked = {"format": "csv", "facts": "false"}
    plain = await api("GET", f"/api/collections/{leads.id}/export", params=asked)
    marked = await api("GET", f"/api/collections/{leads.id}/export", params={**asked, "for_spreadsheet": "true"})
    assert plain.text.splitlines()[1].startswith("=1+1,")
    assert marked.text == plain.text.replace("=1+1", "'=1+1")


async def test_who_may_not_write_may_not_import_and_who_reads_may_export(api: Api, db: Database, world: World, leads: Row) -> None:
    await allow(db, world.operator, leads, world.ada, "READ")
    before = await everything(db)
    files = {"file": ("x.csv", TABLE)}
    refused(await api("POST", to(leads), "ada", files=files), "FORBIDDEN", 403)
    refused(await api("POST", to(leads), "bob", files=files), "NOT_FOUND", 404)
    refused(await api("GET", f"/api/collections/{leads.id}/export", "bob"), "NOT_FOUND", 404)
    assert (await api("GET", f"/api/collections/{leads.id}/export", "ada")).text == ""
    assert await everything(db) == before


async def test_an_export_whose_table_goes_meanwhile_does_not_end_as_if_it_were_whole(
    app: App, db: Database, world: World, tokens: Tokens, leads: Row
) -> None:
    await record_batch.add_many(db, world.operator, "leads", [{"email": f"{n}@x", "status": "new"} for n in range(300)])
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)
        if len(sent) == 2:
            await collections.delete(db, world.operator, leads.id)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {
        "type": "http",
        "method": "GET",
        "path": f"/api/collections/{leads.id}/export",
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {tokens.operator}".encode())],
        "asgi": {"spec_version": "2.4"},
    }
    await app(scope, receive, send)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert (sent[1]["body"].count(b"\n"), sent[1]["more_body"]) == (200, True)


class TestBounds:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"max_upload_bytes": 200, "max_body_bytes": 20_000})

    async def test_an_upload_over_its_bound_is_refused(self, api: Api, db: Database, leads: Row) -> None:
        before = await everything(db)
        told = refused(await api("POST", to(leads), files={"file": ("x.csv", TABLE * 10)}), "UNPROCESSABLE", 413)
        assert told["message"] == "the upload is larger than 200 bytes, which this server takes at most"

        async def pieces() -> object:
            for _ in range(10):
                yield TABLE

        refused(await api("POST", to(leads), content=pieces(), headers={"Content-Type": "text/csv"}), "UNPROCESSABLE", 413)
        response = await api("POST", f"/api/collections/{leads.id}/records", json={"body": {"email": "x" * 20_000}})
        told = refused(response, "UNPROCESSABLE", 413)
        assert told["message"] == "the body is larger than 20,000 bytes, which this server takes at most"
        assert await everything(db) == before
