"""Reading a request's body within its bound."""

import asyncio
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from models.errors import MunimentError, Unprocessable
from models.json_text import strict

_PARSED_AT_ONCE = 64 * 1024  # bytes; a millisecond or less


class BodyTooLarge(MunimentError):
    """A body over the bound of the settings."""

    code = "UNPROCESSABLE"
    status = 413


class NotJson(MunimentError):
    """A body that is not declared to be JSON, which a page of another site could send in a form."""

    code = "UNPROCESSABLE"
    status = 415


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """The whole body. Raises BodyTooLarge before more than the limit is taken in, ClientDisconnect when the client goes."""
    declared = header(scope, b"content-length")
    if declared is not None and declared.isdigit() and int(declared) > limit:
        raise _too_large(limit)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def json_value(text: str | bytes, what: str) -> Any:
    """Return the value of a JSON text, integers of any size exact. Raises Unprocessable, which calls the text `what`."""
    try:
        return strict(text)
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    except RecursionError:
        reason = "it nests too deeply"
    except ValueError as error:
        reason = str(error)
    raise Unprocessable(f"{what} is not JSON: {reason}")


async def body_value(body: bytes) -> Any:
    """Return the value of a request's JSON body, as json_value; a large one is parsed in a thread, so that others are served meanwhile."""
    if len(body) <= _PARSED_AT_ONCE:
        return json_value(body, "the body")
    return await asyncio.to_thread(json_value, body, "the body")


def require_json(scope: Scope) -> None:
    """Let only JSON pass. Raises NotJson."""
    declared = (header(scope, b"content-type") or b"").partition(b";")[0].strip().lower()
    if declared not in {b"application/json", b"application/graphql+json"} and not declared.endswith(b"+json"):
        raise NotJson("send the body as JSON with `Content-Type: application/json`")


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of this lower-case name."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return None


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"the body is larger than {limit:,} bytes, which this server takes at most")
