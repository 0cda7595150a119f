"""A backend of broadcaster's that holds one connection and opens it again whenever it is lost."""

import asyncio
import contextlib
import logging
import random
from abc import abstractmethod
from typing import ClassVar

from broadcaster import BroadcastBackend, Event

logger = logging.getLogger(__name__)


class BellUnavailable(Exception):
    """There is no connection just now, so nothing can be told to other processes."""


class Link(BroadcastBackend):
    """What the backends share: the connection is kept by a task of its own, and listeners never see it fail.

    After each new connection every channel hears an empty message: something may have been missed.
    """

    failures: ClassVar[tuple[type[Exception], ...]] = ()
    """What a lost connection raises in this backend."""

    def __init__(self, url: str, *, silence: float = 30.0, first_delay: float = 0.1, longest_delay: float = 5.0) -> None:
        """`silence` is the seconds without a message after which the connection is tried; the delays are those between attempts."""
        self._url = url
        self._silence = silence
        self._delays = (first_delay, longest_delay)
        self._channels: set[str] = set()
        self._heard: asyncio.Queue[Event] = asyncio.Queue()
        self._tried = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self.connected = False

    async def connect(self) -> None:
        """Start keeping the connection; returns after the first attempt, whether or not it succeeded."""
        self._keeper = asyncio.create_task(self._keep(), name="bell connection")
        await self._tried.wait()

    async def disconnect(self) -> None:
        """Close the connection for good."""
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper

    async def subscribe(self, group: str) -> None:
        """Listen to a channel, now and after each new connection."""
        self._channels.add(group)
        if self.connected:
            with contextlib.suppress(BellUnavailable, *self.failures):
                await self.listen(group)

    async def unsubscribe(self, group: str) -> None:
        """Let a channel go; what still arrives on it reaches nobody."""
        self._channels.discard(group)

    async def next_published(self) -> Event:
        """The next message of any channel; never raises."""
        return await self._heard.get()

    def hear(self, channel: str, message: str) -> None:
        """Pass on a message that has arrived."""
        self._heard.put_nowait(Event(channel, message))

    async def up(self) -> None:
        """To be called by `hold` once the connection stands and listens."""
        self.connected = True
        self._tried.set()
        for channel in self._channels:
            self.hear(channel, "")

    @abstractmethod
    async def hold(self, channels: frozenset[str]) -> None:
        """Open a connection, listen to the channels, call `up`, and stay until it is lost; raises one of `failures` then."""

    @abstractmethod
    async def listen(self, channel: str) -> None:
        """Listen to one more channel on the standing connection."""

    async def _keep(self) -> None:
        delay = self._delays[0]
        while True:
            try:
                await self.hold(frozenset(self._channels))
            except self.failures as error:
                logger.warning("the bell's connection is lost or refused, trying again: %s", error)
                if self.connected:
                    delay = self._delays[0]
            finally:
                self.connected = False
                self._tried.set()
            # Processes that lost the same server should not all come back in the same instant.
            await asyncio.sleep(delay * random.uniform(0.5, 1.0))  # noqa: S311  # spreads attempts, guards nothing
            delay = min(delay * 2, self._delays[1])
