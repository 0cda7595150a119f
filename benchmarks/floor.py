"""What nothing could undercut here: bare Starlette and asyncpg, the same rows to JSON, without a caller, rights or a log."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_PAGE = """SELECT number::text AS id, content_json::text AS body, version, updated_at, updated_by_name, count(*) OVER () AS total
    FROM artifacts WHERE org_id = $1 AND collection_id = $2 AND kind = 'OBJECT' AND deleted_at IS NULL {filter} ORDER BY number LIMIT 100"""
_FILTERED = _PAGE.format(filter="AND content_json->'score' >= to_jsonb($3::numeric)")
_ALL = _PAGE.format(filter="").replace("count(*) OVER ()", "0")
_NOTE = """SELECT key, content, version, updated_at, updated_by_name FROM artifacts
    WHERE org_id = $1 AND owner_id = $1 AND kind = 'NOTE' AND key = $2"""
_SEARCH = """SELECT number::text AS id, content_json::text AS body, version, updated_at
    FROM artifacts a, websearch_to_tsquery('simple', $3) q
    WHERE org_id = $1 AND collection_id = $2 AND deleted_at IS NULL AND search @@ q ORDER BY ts_rank_cd(search, q) DESC LIMIT 20"""
_INSERT = """WITH counted AS (UPDATE artifact_collections SET next_id = next_id + 1, record_count = record_count + 1
        WHERE org_id = $1 AND id = $2 RETURNING next_id - 1 AS number),
    added AS (INSERT INTO artifacts (org_id, id, kind, level, owner_id, key, collection_id, number, content_json, search_blob, version,
            created_at, created_by_kind, created_by_id, created_by_name, updated_at, updated_by_kind, updated_by_id, updated_by_name)
        SELECT $1, $3, 'OBJECT', 'ORG', $1, number::text, $2, number, $4::jsonb, $5, 1, now(), 'USER', 'u', 'u', now(), 'USER', 'u', 'u'
        FROM counted RETURNING number),
    changed AS (INSERT INTO file_changes (org_id, file_id, display_path, event_path, kind, operation, version, collection_id,
            actor_kind, actor_id, actor_name, at)
        SELECT $1, $3, 'p', 'p', 'RECORD', 'CREATE', 1, $2, 'USER', 'u', 'u', now() FROM added)
    SELECT number::text AS id FROM added"""


def app() -> Starlette:
    """An application whose five paths do the bare work of five operations."""
    org, collection = os.environ["BENCH_ORG"], os.environ["BENCH_COLLECTION"]
    pool = asyncpg.create_pool(os.environ["BENCH_DSN"], min_size=10, max_size=10)

    @asynccontextmanager
    async def opened(_app: Starlette) -> AsyncIterator[None]:
        async with pool:
            yield

    async def query(statement: str, *arguments: object) -> Response:
        rows = await pool.fetch(statement, *arguments)
        items = [{key: orjson.Fragment(value) if key == "body" else value for key, value in row.items()} for row in rows]
        return Response(orjson.dumps({"data": items}), media_type="application/json")

    async def page_filtered(request: Request) -> Response:
        await request.body()
        return await query(_FILTERED, org, collection, 10)

    async def page(request: Request) -> Response:
        await request.body()
        return await query(_ALL, org, collection)

    async def note(request: Request) -> Response:
        return await query(_NOTE, org, orjson.loads(await request.body())["key"])

    async def search(request: Request) -> Response:
        await request.body()
        return await query(_SEARCH, org, collection, "lorem")

    async def insert(request: Request) -> Response:
        asked = orjson.loads(await request.body())
        body = orjson.dumps(asked["body"]).decode()
        return await query(_INSERT, org, collection, asked["id"], body, body)

    return Starlette(
        lifespan=opened,
        routes=[Route(f"/{endpoint.__name__}", endpoint, methods=["POST"]) for endpoint in (page_filtered, page, note, search, insert)],
    )
