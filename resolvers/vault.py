import json
from typing import Any

import orjson
from strawberry.scalars import JSON

from models.errors import NotFound, Unprocessable
from resolvers.context import Info
from resolvers.inputs import or_default
from resolvers.mount import Mount
from vault import Record
from vault.reading import SearchHit
from vault.upsert import UpsertResult

# A search of all projects must be given a project's name all the same, and does not look at it.
_ANY = "any"


def _mount(info: Info) -> Mount:
    """The vault of the caller's organisation. Raises NotFound where it has none."""
    caller, mount = info.context.caller, info.context.vault
    if mount is None or mount.org_id != caller.org_id:
        raise NotFound("no vault is served for this organisation (MUNIMENT_VAULT_ROOT, MUNIMENT_VAULT_ORGANISATION)")
    return mount


async def projects(info: Info) -> list[str]:
    return await _mount(info).read(lambda vault: vault.projects())


async def record(
    info: Info,
    project: str | None = None,
    id: str | None = None,
    kind: str | None = None,
    slug: str | None = None,
) -> Record | None:
    if project is None:
        return await _mount(info).read(lambda vault: vault.get_anywhere(id, kind=kind, slug=slug))
    return await _mount(info).read(lambda vault: vault.get(project, id, kind=kind, slug=slug, count_hit=False))


async def records(
    info: Info, project: str, kind: str | None = None, status: str | None = None, include_expired: bool | None = False
) -> list[Record]:
    expired = bool(include_expired)
    return await _mount(info).read(lambda vault: vault.list_records(project, kind=kind, status=status, include_expired=expired))


async def search(
    info: Info, query: str, project: str | None = None, kinds: list[str] | None = None, limit: int | None = 20
) -> list[SearchHit]:
    most = or_default(limit, 20)
    return await _mount(info).read(
        lambda vault: vault.search(query, project or _ANY, kinds=kinds or (), cross_project=project is None, limit=most)
    )


async def view(info: Info, project: str, name: str) -> str:
    return await _mount(info).read(lambda vault: vault.view(project, name))


async def upsert(info: Info, project: str, kind: str, body: str, slug: str | None = None, frontmatter: JSON | None = None) -> UpsertResult:
    matter = _object("frontmatter", frontmatter)
    return await _mount(info).write(info.context.caller, lambda vault: vault.upsert(project, kind, body, slug=slug, frontmatter=matter))


async def append(info: Info, project: str, event: str, kind: str | None = "log", details: JSON | None = None) -> Record:
    more = _object("details", details)
    return await _mount(info).write(info.context.caller, lambda vault: vault.append(project, event, kind=kind or "log", details=more))


async def forget(
    info: Info,
    project: str,
    id: str | None = None,
    kind: str | None = None,
    slug: str | None = None,
    purge: bool | None = False,
) -> bool:
    await _mount(info).write(info.context.caller, lambda vault: vault.forget(project, id, kind=kind, slug=slug, purge=bool(purge)))
    return True


def as_json(value: object) -> Any:
    """Return a frontmatter as JSON text, which holds integers of any size."""
    try:
        return orjson.Fragment(orjson.dumps(value))
    except TypeError:  # beyond 64 bits
        return orjson.Fragment(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _object(name: str, value: Any) -> dict[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise Unprocessable(f"{name} must be a JSON object")
    return value
