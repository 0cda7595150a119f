import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

from broadcaster import Broadcast

from store.bell.link import Link

logger = logging.getLogger(__name__)

CHANNEL = "guild.files.changed"

EVERYONE = ""
"""What is heard instead of an organisation's id after a new connection: look everywhere, something may have been missed."""


class Bell:
    """Rings for organisations whose files changed. Lossy by design: who hears it looks at the table, and looks now and then anyway."""

    def __init__(self, url: str = "memory://", *, spacing: float = 0.01, retry: float = 1.0, **link: float) -> None:
        """A bell within this process (`memory://`), or across processes by a `postgresql://`, `redis://` or `rediss://` address.

        `spacing` is the seconds between two rounds, within which a burst of commits becomes one; `retry` those before a ring that
        could not be sent is sent again; `link` are the options of `Link`. Raises ValueError for any other address.
        """
        self._link = _link(url, link)
        self._broadcast = Broadcast(url, backend=self._link)
        self._spacing = spacing
        self._retry = retry
        self._pending: set[str] = set()
        self._rung = asyncio.Event()
        self._ringer: asyncio.Task[None] | None = None

    @property
    def connected(self) -> bool:
        """Whether rings reach the other processes now."""
        return self._ringer is not None and (self._link is None or self._link.connected)

    async def start(self) -> None:
        """Connect. An unreachable server is no error: the bell keeps trying, and `connected` says so."""
        await self._broadcast.connect()
        self._ringer = asyncio.create_task(self._send_rings(), name="bell")

    async def stop(self) -> None:
        """Send what is still to be sent, within a second, and disconnect."""
        if self._ringer is None:
            return
        self._ringer.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._ringer
        self._ringer = None
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._send(), 1.0)
        await self._broadcast.disconnect()

    def ring(self, org_ids: set[str]) -> None:
        """Say that these organisations' files changed. Returns at once and never raises."""
        self._pending |= org_ids
        self._rung.set()

    async def heard(self) -> AsyncIterator[str]:
        """The ids of the organisations that something rang for, in this process or another; `EVERYONE` after a new connection."""
        async with self._broadcast.subscribe(CHANNEL) as subscriber:
            while True:
                event = await subscriber.get()
                yield event.message

    async def _send_rings(self) -> None:
        while True:
            await self._rung.wait()
            self._rung.clear()
            if await self._send():
                await asyncio.sleep(self._spacing)
            else:
                await asyncio.sleep(self._retry)
                self._rung.set()

    async def _send(self) -> bool:
        """Publish each pending organisation once; what could not be published stays pending."""
        while self._pending:
            org = self._pending.pop()
            try:
                await self._broadcast.publish(CHANNEL, org)
            except self._failures as error:
                logger.debug("the bell could not be rung: %s", error)
                self._ring_here({org, *self._pending})
                return False
            except asyncio.CancelledError:
                self._pending.add(org)
                raise
        return True

    @property
    def _failures(self) -> tuple[type[Exception], ...]:
        return self._link.failures if self._link else ()

    def _ring_here(self, org_ids: set[str]) -> None:
        """Keep the rings for later, and let this process's own subscribers hear them now."""
        self._pending |= org_ids
        if self._link is not None:
            for org in org_ids:
                self._link.hear(CHANNEL, org)


def _link(url: str, options: dict[str, float]) -> Link | None:
    # Each client is imported by whoever uses it: that of Redis takes a fifth of a second.
    match url.partition("://")[0]:
        case "memory":
            return None
        case "postgres" | "postgresql":
            from store.bell.postgres import PostgresLink

            return PostgresLink(url, **options)
        case "redis" | "rediss" | "unix":
            from store.bell.redis import RedisLink

            return RedisLink(url, **options)
        case scheme:
            raise ValueError(f"the bell knows memory://, postgresql://, redis:// and rediss:// addresses, not {scheme}://")
