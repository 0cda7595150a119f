"""What one process holds open: the database, the bell, the feed, the vault, the counters and the traces."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from models.caller import Caller
from resolvers.mount import Mount
from server.metrics import Metrics
from server.rates import Rates
from server.settings import Settings, SettingsError
from server.telemetry import Telemetry, open_telemetry
from server.turns import Turn
from store import organisations
from store.bell import Bell
from store.database import Database
from store.feed import Feed
from store.shares import Shares
from store.usage import Usage, current
from vault import VaultError


@dataclass(frozen=True)
class Services:
    """Everything that doors need; made by `open_services`."""

    settings: Settings
    db: Database
    bell: Bell
    feed: Feed
    metrics: Metrics
    rates: Rates
    vault: Mount | None
    telemetry: Telemetry | None
    operations: Shares
    sockets: Shares
    subscriptions: Shares

    def admit(self, caller: Caller) -> Usage:
        """Let a request begin, and count what it uses as its caller's. Raises RateLimited."""
        self.rates.spend(f"{caller.org_id}/{caller.id}")
        usage = Usage(caller.org_id, caller.id, self.settings.max_answer_bytes)
        current.set(usage)
        return usage

    def turn(self, caller: Caller | None) -> Turn:
        """The caller's place among the operations that run at once."""
        return Turn(self.operations, caller, self.settings.operation_timeout)


@contextlib.asynccontextmanager
async def open_services(settings: Settings, dsn: str) -> AsyncIterator[Services]:
    """The services, open; closed in the reverse order. Raises DatabaseUnavailable."""
    async with contextlib.AsyncExitStack() as stack:
        parts = {"caller": settings.caller_share, "organisation": settings.organisation_share}
        connections = Shares(settings.database_connections, **parts)
        db = await Database(dsn, shares=connections, statement_timeout=settings.operation_timeout).open()
        stack.push_async_callback(db.close)
        mount = await _mounted(settings, db)  # wrong settings are told before anything starts
        telemetry = await stack.enter_async_context(open_telemetry(settings))
        bell = Bell(broadcast_url(settings, dsn))
        await bell.start()
        stack.push_async_callback(bell.stop)
        db.after_commit = bell.ring
        feed = Feed(db, bell, poll=settings.feed_poll, queue=settings.feed_queue)
        await feed.start()
        stack.push_async_callback(feed.stop)
        metrics = Metrics()
        metrics.watch(db, feed)
        rates = Rates(settings.rate_limit, settings.rate_burst)
        if mount is not None:
            stack.push_async_callback(mount.close)
        operations = Shares(settings.max_operations, **parts)
        sockets, subscriptions = (Shares(settings.max_sockets, **parts) for _ in range(2))
        yield Services(settings, db, bell, feed, metrics, rates, mount, telemetry, operations, sockets, subscriptions)


async def _mounted(settings: Settings, db: Database) -> Mount | None:
    if settings.vault_root is None:
        return None
    organisation = await _bound_organisation(settings, db)
    try:
        return Mount(settings.vault_root, db, organisation)
    except VaultError as error:
        raise SettingsError(f"the settings are not right\n- MUNIMENT_VAULT_ROOT: {error.message}") from error


async def require_vault(settings: Settings, db: Database) -> None:
    """Raise SettingsError, before anything serves, where the vault of the settings is none or nobody's."""
    mount = await _mounted(settings, db)
    if mount is not None:
        await mount.close()


async def _bound_organisation(settings: Settings, db: Database) -> str:
    name = "MUNIMENT_VAULT_ORGANISATION"
    found = [str(organisation.id) for organisation in await organisations.listed(db)]
    if settings.vault_organisation is None and len(found) != 1:
        count = "there is no organisation yet" if not found else f"there are {len(found)} organisations"
        raise SettingsError(f"the settings are not right\n- {name}: {count}; say whose the vault is")
    bound = settings.vault_organisation or found[0]
    if bound not in found:
        raise SettingsError(f"the settings are not right\n- {name}: there is no organisation {bound}")
    return bound


def broadcast_url(settings: Settings, dsn: str) -> str:
    """How this process hears of others' commits: as set, else through the database, since commands write there too."""
    return settings.broadcast_url or dsn
