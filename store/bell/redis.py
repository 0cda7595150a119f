"""The bell over Redis. broadcaster's own backend ends silently when Redis restarts; this one comes back."""

from redis import asyncio as redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from store.bell.link import BellUnavailable, Link

_TIMEOUT = 10.0


class RedisLink(Link):
    """One connection that listens, and one of the client's that publishes."""

    failures = (OSError, TimeoutError, BellUnavailable, RedisError)

    def __init__(self, url: str, **options: float) -> None:
        super().__init__(url, **options)
        self._client: redis.Redis | None = None
        self._pubsub: PubSub | None = None

    async def publish(self, channel: str, message: str) -> None:
        """Tell everybody who listens; raises one of `failures` without a connection."""
        if self._client is None:
            raise BellUnavailable("there is no connection")
        await self._client.publish(channel, message)

    async def listen(self, channel: str) -> None:
        """Listen to one more channel."""
        if self._pubsub is None:
            raise BellUnavailable("there is no connection")
        await self._pubsub.subscribe(channel)

    async def hold(self, channels: frozenset[str]) -> None:
        """Stay connected; opening again is the keeper's work, so the client itself does not retry."""
        client = redis.Redis.from_url(
            self._url, socket_connect_timeout=_TIMEOUT, socket_timeout=_TIMEOUT, retry=Retry(NoBackoff(), 0), decode_responses=True
        )
        async with client, client.pubsub() as pubsub:
            await client.ping()
            if channels:
                await pubsub.subscribe(*channels)
            await pubsub.connect()
            self._client, self._pubsub = client, pubsub
            try:
                await self.up()
                await self._watch(pubsub)
            finally:
                self._client = self._pubsub = None

    async def _watch(self, pubsub: PubSub) -> None:
        asked = False
        while True:
            message = await pubsub.get_message(timeout=self._silence)
            if message is not None:
                asked = False
                if message["type"] == "message":
                    self.hear(message["channel"], message["data"])
            elif asked:
                raise BellUnavailable("the server does not answer")
            else:
                asked = True
                await pubsub.ping()
