"""Who is calling: a token or a signed claim becomes a Caller with its rights as they are now, within a run's tool call if one is named."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt

from models.caller import ActorKind, Caller
from models.clock import now
from models.errors import Problem, Unauthenticated, Unprocessable
from models.limits import TOOL_FIELD_CHARACTERS
from models.text import fault, printable
from store.database import Database, Reader, Row
from store.tokens import PREFIX, digest

# How stale a token's last use may be told; a write for every request would cost more than the request.
_USE_EVERY = timedelta(minutes=1)

# Times are compared here, by the same clock as everything else.
_JWT_OPTIONS: Any = {"require": ["exp"], "verify_exp": False, "verify_nbf": False, "verify_iat": False}
_YEAR_10000 = 253_402_300_800

_AGENT = "a.id AS agent_id, a.name AS agent_name, a.guild_id, a.read_guild, a.read_org, a.write_guild, a.write_org"
_BEARERS = """LEFT JOIN users u ON u.org_id = {org} AND u.id = {user}
        AND EXISTS (SELECT FROM memberships m WHERE m.org_id = u.org_id AND m.user_id = u.id AND m.ended_at IS NULL)
    LEFT JOIN agents a ON a.org_id = {org} AND a.id = {agent} AND a.deleted_at IS NULL"""
_TOKEN = f"""SELECT t.org_id, t.id AS token_id, t.last_used_at, u.id AS user_id, u.name AS user_name, {_AGENT}
    FROM tokens t {_BEARERS.format(org="t.org_id", user="t.user_id", agent="t.agent_id")}
    WHERE t.revoked_at IS NULL AND {{condition}}"""
_BY_SECRET = _TOKEN.format(condition="t.secret_hash = $1")
_BY_ID = _TOKEN.format(condition="t.org_id = $1 AND t.id = $2")
_NAMED = f"""SELECT $1::text AS org_id, NULL::text AS token_id, u.id AS user_id, u.name AS user_name, {_AGENT}
    FROM (SELECT) one {_BEARERS.format(org="$1", user="$2::text", agent="$3::text")}"""
_USED = "UPDATE tokens SET last_used_at = $3 WHERE org_id = $1 AND id = $2"
_RUN = "SELECT finished_at FROM runs WHERE org_id = $1 AND id = $2 AND agent_id = $3"


async def resolve(db: Database, bearer: str, *, jwt_secret: str | None = None) -> Caller:
    """Who a bearer token, or a JWT signed with `jwt_secret`, speaks for; a JWT's run is the caller's.

    Raises Unauthenticated for anything that is not valid now, Unprocessable for a signed run that is none of the agent's.
    """
    if bearer.startswith(PREFIX):
        return await _of_token(db, bearer)
    if jwt_secret:
        return await _of_claims(db, _claims(bearer, jwt_secret))
    raise Unauthenticated(f"this is not a token: one begins with {PREFIX}")


async def still_valid(db: Database, caller: Caller) -> Caller | None:
    """The caller with its rights as they are now, for a socket that lives on; None once its token, membership or agent has ended."""
    if caller.kind is ActorKind.SYSTEM:
        return caller
    if caller.expires_at is not None and caller.expires_at <= now():
        return None
    async with db.read() as reader:
        if caller.token_id is not None:
            row = await reader.row(_BY_ID, caller.org_id, caller.token_id)
        else:
            row = await _named(reader, caller.org_id, caller)
    found = _caller(row, expires_at=caller.expires_at) if row else None
    return found.in_call(caller.run_id, caller.tool_call_id, caller.tool_name) if found else None


async def in_call(
    db: Database, caller: Caller, *, run_id: str | None, tool_call_id: str | None = None, tool_name: str | None = None
) -> Caller:
    """The caller within the run and tool call that a request names; a run that the caller's JWT names wins.

    Without a run the tool call is ignored. Raises Unprocessable, naming the header, for a run that is not the agent's own and unfinished.
    """
    signed = caller.run_id
    run = signed or run_id
    # A tool call means something within a run alone.
    if not run:
        return caller
    problems = [*_tool_faults("X-Tool-Call-Id", tool_call_id), *_tool_faults("X-Tool-Name", tool_name)]
    if signed is None and (reason := await _run_fault(db, caller, run)):
        problems.insert(0, Problem("X-Run-Id", reason))
    if problems:
        raise Unprocessable("; ".join(f"{problem.column}: {problem.message}" for problem in problems), problems=problems)
    return caller.in_call(run, tool_call_id or None, tool_name or None)


async def _of_token(db: Database, secret: str) -> Caller:
    async with db.read() as reader:
        row = await reader.row(_BY_SECRET, digest(secret))
    caller = _caller(row) if row else None
    if row is None or caller is None:
        raise Unauthenticated("this token is unknown or has been revoked")
    at = now()
    if row.last_used_at is None or at - row.last_used_at >= _USE_EVERY:
        async with db.write_once() as writer:
            await writer.execute(_USED, row.org_id, row.token_id, at)
    return caller


def _claims(token: str, secret: str) -> Mapping[str, Any]:
    """The claims of a JWT that is signed with the secret and valid now. Raises Unauthenticated."""
    try:
        claims: Mapping[str, Any] = jwt.decode(token, secret, algorithms=["HS256"], options=_JWT_OPTIONS)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
        raise Unauthenticated(f"this JWT is not valid: {error}") from error
    at = now().timestamp()
    if not _is_time(claims["exp"]) or claims["exp"] <= at:
        raise Unauthenticated("this JWT has expired")
    if not _is_time(claims.get("nbf", 0)) or claims.get("nbf", 0) > at:
        raise Unauthenticated("this JWT is not valid yet")
    return claims


def _is_time(value: object) -> bool:
    """Whether this is a number of seconds that is a date: not a boolean, not beyond the year 9999."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _YEAR_10000


async def _of_claims(db: Database, claims: Mapping[str, Any]) -> Caller:
    org, user, agent, run = (claims.get(name) for name in ("org", "user", "agent", "run"))
    given = [value for value in (org, user, agent, run) if value is not None]
    if org is None or (user is None) == (agent is None) or not all(isinstance(value, str) and not fault(value) for value in given):
        raise Unauthenticated("this JWT must claim org and either user or agent, each a text")
    async with db.read() as reader:
        row = await reader.row(_NAMED, org, user, agent)
    caller = _caller(row, expires_at=datetime.fromtimestamp(claims["exp"], UTC)) if row else None
    if caller is None:
        raise Unauthenticated("this JWT names nobody: no such agent, or no operator, of this organisation")
    # Checked here and not only by the signer: a signed run may have ended since.
    if run is not None:
        if reason := await _run_fault(db, caller, str(run)):
            raise Unprocessable(f"the JWT's claim run: {reason}", problems=[Problem("run", reason)])
        return caller.in_call(str(run), None, None)
    return caller


async def _named(reader: Reader, org_id: str, caller: Caller) -> Row | None:
    user = None if caller.is_agent else caller.id
    return await reader.row(_NAMED, org_id, user, caller.agent_id)


def _caller(row: Row, *, expires_at: datetime | None = None) -> Caller | None:
    """The living bearer of a row, or None."""
    if row.agent_id is not None:
        return Caller(
            org_id=row.org_id,
            kind=ActorKind.AGENT,
            id=row.agent_id,
            name=row.agent_name,
            guild_id=row.guild_id,
            read_guild=row.read_guild,
            read_org=row.read_org,
            write_guild=row.write_guild,
            write_org=row.write_org,
            token_id=row.token_id,
            expires_at=expires_at,
        )
    if row.user_id is not None:
        return Caller(
            org_id=row.org_id, kind=ActorKind.USER, id=row.user_id, name=row.user_name, token_id=row.token_id, expires_at=expires_at
        )
    return None


async def _run_fault(db: Database, caller: Caller, run_id: str) -> str | None:
    """Why this is no run that the caller may write in, or None."""
    if not caller.is_agent:
        return "only an agent's calls belong to a run; an operator sends none"
    if reason := fault(run_id):
        return reason
    async with db.read() as reader:
        run = await reader.row(_RUN, caller.org_id, run_id, caller.id)
    if run is None:
        return f"{printable(run_id)[:100]!r} is no run of this agent"
    return None if run.finished_at is None else f"run {run_id} has finished"


def _tool_faults(header: str, value: str | None) -> list[Problem]:
    if value is None:
        return []
    if reason := fault(value):
        return [Problem(header, reason)]
    if len(value) > TOOL_FIELD_CHARACTERS:
        return [Problem(header, f"has {len(value):,} characters; at most {TOOL_FIELD_CHARACTERS} are allowed")]
    return []
