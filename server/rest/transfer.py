"""The routes that carry a collection's records out and in as files."""

import asyncio

from pydantic import Field
from starlette.responses import Response, StreamingResponse

from models import columns as dialect
from models.errors import Problem, Unprocessable
from server.rest import models, shapes, upload
from server.rest.arguments import Query
from server.rest.collections import found
from server.rest.fields import FileFormat, Flag
from server.rest.route import Answer, Call, Route
from store import access
from store.transfer import Format, ImportResult, export_collection, import_into, parse, require_room

_MEDIA = {Format.JSONL: "application/x-ndjson", Format.CSV: "text/csv; charset=utf-8"}
_SHOWN = 20


class ExportQuery(Query):
    """How records are written."""

    format: FileFormat = Field(default=Format.JSONL, description="jsonl: JSON Lines; csv.")
    facts: Flag = Field(default=True, description="Whether each record also has id, created_at, updated_at, created_by and updated_by.")
    for_spreadsheet: Flag = Field(
        default=False, description="Whether, in CSV, texts that a spreadsheet would run begin with an apostrophe."
    )


class ImportQuery(Query):
    """How a file is read."""

    format: FileFormat | None = Field(default=None, description="By default what the file's name or content type tells.")
    dry_run: Flag = Field(default=False, description="Say what would happen, problems included, and write nothing.")


async def export_records(call: Call, args: ExportQuery) -> Response:
    """The live records by id as a file: one record a line, columns beside the facts. It can be imported again.

    Each record is as it is when its turn comes; where the columns change or the table is deleted meanwhile, the answer breaks off.
    """
    table = await found(call, call.path["id"])
    headers = {"Content-Disposition": f'attachment; filename="{table.name}.{args.format}"', "X-Content-Type-Options": "nosniff"}
    pieces = export_collection(call.db, table, args.format, facts=args.facts, for_spreadsheet=args.for_spreadsheet)
    return StreamingResponse(pieces, media_type=_MEDIA[args.format], headers=headers)


async def import_records(call: Call, args: ImportQuery) -> Answer:
    """Add every record of a CSV or JSON Lines file, or none of them. A value of the unique column that is live merges.

    Columns are found by name; the facts of an export are passed over. Every problem is told by its line.
    """
    # Who may not write is told so before anything is taken in.
    table = await found(call, call.path["id"])
    async with call.db.read() as reader:
        await access.for_write(reader, call.caller, table.name)
    async with upload.received(call.scope, call.receive, call.services.settings.max_upload_bytes) as uploaded:
        kind = args.format or uploaded.kind
        if kind is None:
            raise Unprocessable.listing("request rejected", [Problem("format", "required: the file's name does not tell it; jsonl or csv")])
        columns = dialect.load(table.columns)
        await asyncio.to_thread(require_room, table, columns, uploaded.file, kind)
        rows = parse(uploaded.file, kind, columns)
        result = await import_into(call.db, call.caller, table.name, rows, dry_run=args.dry_run)
    # A dry run asks for the problems: they are its answer. An import that was meant to write has failed.
    if result.problem_count and not args.dry_run:
        raise _rejected(result)
    return Answer(shapes.imported(result), status=200 if args.dry_run else 201)


def _rejected(result: ImportResult) -> Unprocessable:
    problems = [
        Problem(item.column, item.message if item.line is None else f"line {item.line}: {item.message}") for item in result.problems
    ]
    told = Unprocessable.listing("import rejected; nothing was written", problems[:_SHOWN])
    more = result.problem_count - _SHOWN
    message = told.message + (f"\nand {more:,} more problems" if more > 0 else "")
    return Unprocessable(message, problems=problems, rows=result.rows, problem_count=result.problem_count)


_GROUP = "transfer"
_FILES = ("application/x-ndjson", "text/csv")
ROUTES = (
    Route("GET", "/api/collections/{id}/export", export_records, _GROUP, query=ExportQuery, gives=_FILES),
    Route(
        "POST",
        "/api/collections/{id}/import",
        import_records,
        _GROUP,
        query=ImportQuery,
        answer=models.ImportOutcome,
        status=201,
        takes=(upload.FORM, *_FILES),
    ),
)
