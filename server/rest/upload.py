"""Taking in an uploaded file, from a form or as the body itself, without holding it in memory."""

import contextlib
import tempfile
from collections.abc import AsyncIterator
from typing import IO, NamedTuple

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from models.errors import Problem, Unprocessable
from server.body import BodyTooLarge, NotJson, header
from store.transfer import Format, format_of

FIELD = "file"
TYPES: dict[str, Format] = {
    "application/x-ndjson": Format.JSONL,
    "application/jsonl": Format.JSONL,
    "application/x-jsonlines": Format.JSONL,
    "text/csv": Format.CSV,
}
FORM = "multipart/form-data"
_IN_MEMORY = 1024 * 1024


class Uploaded(NamedTuple):
    """A file that was taken in, and the format that its name or type tells."""

    file: IO[bytes]
    kind: Format | None


@contextlib.asynccontextmanager
async def received(scope: Scope, receive: Receive, limit: int) -> AsyncIterator[Uploaded]:
    """The file of a request, for as long as the block runs. Raises NotJson (415), BodyTooLarge, Unprocessable, ClientDisconnect."""
    declared = (header(scope, b"content-type") or b"").decode("latin-1")
    media = parse_options_header(declared)[0].decode("latin-1").lower()
    chunks = _chunks(scope, receive, limit)
    if media in TYPES:
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
            async for chunk in chunks:
                file.write(chunk)
            file.seek(0)
            yield Uploaded(file, TYPES[media])
    elif media == FORM:
        async with _form(scope, chunks) as found:
            yield found
    else:
        raise NotJson(f"send the file as {FORM} in the field `{FIELD}`, or as the body with Content-Type text/csv or application/x-ndjson")


@contextlib.asynccontextmanager
async def _form(scope: Scope, chunks: AsyncIterator[bytes]) -> AsyncIterator[Uploaded]:
    # The parser's type asks for a generator of its own making; any asynchronous iterator serves.
    parser = MultiPartParser(Headers(scope=scope), chunks, max_files=1, max_fields=0)  # type: ignore[arg-type]
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError) as error:
        reason = str(getattr(error, "message", "it has no boundary")).rstrip(".")
        raise Unprocessable(f"the form cannot be read ({reason}); send one file, in the field `{FIELD}`, and nothing else") from error
    try:
        upload = form.get(FIELD)
        if not isinstance(upload, UploadFile):
            raise Unprocessable.listing("request rejected", [Problem(FIELD, "required; send the file in this field of the form")])
        media = (upload.content_type or "").partition(";")[0].strip().lower()
        yield Uploaded(upload.file, format_of(upload.filename or "") or TYPES.get(media))
    finally:
        await form.close()


async def _chunks(scope: Scope, receive: Receive, limit: int) -> AsyncIterator[bytes]:
    declared = header(scope, b"content-length")
    taken = int(declared) if declared is not None and declared.isdigit() else 0
    refused = f"the upload is larger than {limit:,} bytes, which this server takes at most"
    if taken > limit:
        raise BodyTooLarge(refused)
    taken, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        # What was declared may be wrong, or missing from a body that is sent in chunks.
        if (taken := taken + len(chunk)) > limit:
            raise BodyTooLarge(refused)
        more = message.get("more_body", False)
        if chunk:
            yield chunk
