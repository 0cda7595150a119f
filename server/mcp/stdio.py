"""The tools over standard input and output, for a client that starts its own server: one token says who all its calls are from."""

from mcp.server.stdio import stdio_server
from starlette.requests import Request as HTTPRequest

from models.caller import Caller
from server.mcp.calls import Calls
from server.mcp.protocol import make_server
from server.settings import Settings
from store import callers
from store.database import Database


async def serve(settings: Settings, db: Database, token: str) -> None:
    """Serve until standard input ends. Raises Unauthenticated at once for a token that is not valid."""
    secret = settings.jwt_secret.get_secret_value() if settings.jwt_secret else None

    async def who(_request: HTTPRequest | None) -> Caller:
        # Asked again for each call: a token may be revoked, and rights change.
        return await callers.resolve(db, token, jwt_secret=secret)

    # A wrong token should end the command at once, not with the first call of a client that shows no errors.
    await who(None)
    server = make_server(Calls(db, settings.operation_timeout), who)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
