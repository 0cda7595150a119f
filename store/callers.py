"""Who is calling: a token, a session or a signed claim becomes a Caller with its present rights, within the tool call that is named."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import sqlalchemy as sa
from sqlalchemy import ColumnElement, Select
from sqlalchemy.sql.selectable import FromClause
from sqlmodel import SQLModel, col

from models.caller import ActorKind, Caller
from models.clock import now
from models.errors import Problem, Unauthenticated, Unprocessable
from models.limits import TOOL_FIELD_CHARACTERS
from models.tables import Agent, Membership, Organisation, Run, Session, Token, User
from models.text import fault, printable
from store.database import Database, Reader
from store.sql import Shape, Statement, arg, command, query, table
from store.tokens import PREFIX, digest

# How stale a token's last use may be told; a write for every request would cost more than the request.
_USE_EVERY = timedelta(minutes=1)

# Times are compared here, by the same clock as everything else.
_JWT_OPTIONS: Any = {"require": ["exp"], "verify_exp": False, "verify_nbf": False, "verify_iat": False}
_YEAR_10000 = 253_402_300_800


class _BearerRow(Shape):
    """Who a credential speaks for: a user who still operates the organisation, or a live agent, or nobody."""

    user_id: str | None
    user_name: str | None
    agent_id: str | None
    agent_name: str | None
    guild_id: str | None
    read_guild: bool | None
    read_org: bool | None
    write_guild: bool | None
    write_org: bool | None


class _NamedRow(_BearerRow):
    org_id: str


class _TokenRow(_NamedRow):
    token_id: str
    last_used_at: datetime | None


class _SessionRow(Shape):
    org_id: str
    session_id: str
    last_used_at: datetime | None
    expires_at: datetime
    user_id: str
    user_name: str


class _RunRow(Shape):
    finished_at: datetime | None


def _is_operator(org_id: Any, user: Any) -> ColumnElement[bool]:
    """Whether a row of users is this person, who still operates the organisation."""
    operates = sa.exists().where(
        col(Membership.org_id) == col(User.org_id), col(Membership.user_id) == col(User.id), col(Membership.ended_at).is_(None)
    )
    return sa.and_(col(User.org_id) == org_id, col(User.id) == user, operates.correlate(table(User)))


def _bearers(of: type[SQLModel], org_id: Any, *, user: Any, agent: Any) -> FromClause:
    """The rows of a table, each with the bearer whom its user or its agent is."""
    is_agent = sa.and_(col(Agent.org_id) == org_id, col(Agent.id) == agent, col(Agent.deleted_at).is_(None))
    return table(of).outerjoin(table(User), _is_operator(org_id, user)).outerjoin(table(Agent), is_agent)


_BEARER: tuple[Any, ...] = (
    *(
        col(User.id).label("user_id"),
        col(User.name).label("user_name"),
        col(Agent.id).label("agent_id"),
        col(Agent.name).label("agent_name"),
    ),
    *(col(Agent.guild_id), col(Agent.read_guild), col(Agent.read_org), col(Agent.write_guild), col(Agent.write_org)),
)
_TOKEN = (
    sa.select(col(Token.org_id), col(Token.id).label("token_id"), col(Token.last_used_at), *_BEARER)
    .select_from(_bearers(Token, col(Token.org_id), user=col(Token.user_id), agent=col(Token.agent_id)))
    .where(col(Token.revoked_at).is_(None))
)
_TOKEN_BY_SECRET = query(_TokenRow, _TOKEN.where(col(Token.secret_hash) == arg("secret_hash")))
_TOKEN_BY_ID = query(_TokenRow, _TOKEN.where(col(Token.org_id) == arg("org_id"), col(Token.id) == arg("id")))
_SESSION: Select[*tuple[Any, ...]] = (
    sa.select(
        *(col(Session.org_id), col(Session.id).label("session_id"), col(Session.last_used_at), col(Session.expires_at)),
        *(col(User.id).label("user_id"), col(User.name).label("user_name")),
    )
    .select_from(table(Session).join(table(User), _is_operator(col(Session.org_id), col(Session.user_id))))
    .where(col(Session.ended_at).is_(None), col(Session.expires_at) > arg("at"))
)
_SESSION_BY_SECRET = query(_SessionRow, _SESSION.where(col(Session.secret_hash) == arg("secret_hash")))
_SESSION_BY_ID = query(_SessionRow, _SESSION.where(col(Session.org_id) == arg("org_id"), col(Session.id) == arg("id")))
_NAMED = query(
    _NamedRow,
    sa.select(col(Organisation.org_id), *_BEARER)
    .select_from(_bearers(Organisation, col(Organisation.org_id), user=arg("user", sa.Text), agent=arg("agent", sa.Text)))
    .where(col(Organisation.org_id) == arg("org_id")),
)
_TOKEN_USED, _SESSION_USED = (
    command(sa.update(model).where(col(model.org_id) == arg("org_id"), col(model.id) == arg("id")).values(last_used_at=arg("at")))
    for model in (Token, Session)
)
_RUN = query(
    _RunRow,
    sa.select(col(Run.finished_at)).where(col(Run.org_id) == arg("org_id"), col(Run.id) == arg("id"), col(Run.agent_id) == arg("agent_id")),
)


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
        found = await _read_again(reader, caller)
    return found.in_call(caller.run_id, caller.tool_call_id, caller.tool_name) if found else None


async def _read_again(reader: Reader, caller: Caller) -> Caller | None:
    if caller.session_id is not None:
        session = await reader.row(_SESSION_BY_ID, org_id=caller.org_id, id=caller.session_id, at=now())
        return _of_session_row(session) if session else None
    if caller.token_id is not None:
        token = await reader.row(_TOKEN_BY_ID, org_id=caller.org_id, id=caller.token_id)
        return _caller(token, token_id=token.token_id) if token else None
    user = None if caller.is_agent else caller.id
    named = await reader.row(_NAMED, org_id=caller.org_id, user=user, agent=caller.agent_id)
    return _caller(named, expires_at=caller.expires_at) if named else None


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


async def of_session(db: Database, secret: str) -> Caller:
    """The operator of a session, by its secret. Raises Unauthenticated once it has ended."""
    at = now()
    async with db.read() as reader:
        row = await reader.row(_SESSION_BY_SECRET, secret_hash=digest(secret), at=at)
    if row is None:
        raise Unauthenticated("this session has ended; sign in again")
    await _note_use(db, _SESSION_USED, row.org_id, row.session_id, row.last_used_at, at)
    return _of_session_row(row)


async def _of_token(db: Database, secret: str) -> Caller:
    async with db.read() as reader:
        row = await reader.row(_TOKEN_BY_SECRET, secret_hash=digest(secret))
    caller = _caller(row, token_id=row.token_id) if row else None
    if row is None or caller is None:
        raise Unauthenticated("this token is unknown or has been revoked")
    await _note_use(db, _TOKEN_USED, caller.org_id, row.token_id, row.last_used_at, now())
    return caller


async def _note_use(db: Database, statement: Statement, org_id: str, credential: str, last: datetime | None, at: datetime) -> None:
    if last is None or at - last >= _USE_EVERY:
        async with db.write_once() as writer:
            await writer.execute(statement, org_id=org_id, id=credential, at=at)


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
        row = await reader.row(_NAMED, org_id=org, user=user, agent=agent)
    caller = _caller(row, expires_at=datetime.fromtimestamp(claims["exp"], UTC)) if row else None
    if caller is None:
        raise Unauthenticated("this JWT names nobody: no such agent, or no operator, of this organisation")
    # Checked here and not only by the signer: a signed run may have ended since.
    if run is not None:
        if reason := await _run_fault(db, caller, str(run)):
            raise Unprocessable(f"the JWT's claim run: {reason}", problems=[Problem("run", reason)])
        return caller.in_call(str(run), None, None)
    return caller


def _of_session_row(row: _SessionRow) -> Caller:
    facts: dict[str, Any] = {"session_id": row.session_id, "expires_at": row.expires_at}
    return Caller(org_id=row.org_id, kind=ActorKind.USER, id=row.user_id, name=row.user_name, **facts)


def _caller(row: _NamedRow, *, token_id: str | None = None, expires_at: datetime | None = None) -> Caller | None:
    """The bearer of a row, or None."""
    if row.agent_id is not None:
        return Caller(
            org_id=row.org_id,
            kind=ActorKind.AGENT,
            id=row.agent_id,
            name=row.agent_name or "",
            guild_id=row.guild_id,
            read_guild=bool(row.read_guild),
            read_org=bool(row.read_org),
            write_guild=bool(row.write_guild),
            write_org=bool(row.write_org),
            token_id=token_id,
            expires_at=expires_at,
        )
    if row.user_id is None:
        return None
    kind = ActorKind.USER
    return Caller(org_id=row.org_id, kind=kind, id=row.user_id, name=row.user_name or "", token_id=token_id, expires_at=expires_at)


async def _run_fault(db: Database, caller: Caller, run_id: str) -> str | None:
    """Why this is no run that the caller may write in, or None."""
    if not caller.is_agent:
        return "only an agent's calls belong to a run; an operator sends none"
    if reason := fault(run_id):
        return reason
    async with db.read() as reader:
        run = await reader.row(_RUN, org_id=caller.org_id, id=run_id, agent_id=caller.id)
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
