"""What Prometheus is told: requests and operations with their outcomes and times, the feed, and the pool."""

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from store.database import Database
from store.feed import Feed

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Gauges(Collector):
    """Values that are read when asked for."""

    def __init__(self, db: Database, feed: Feed) -> None:
        self._db = db
        self._feed = feed

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The feed's subscribers and lag in seconds, and the state of the database connections."""
        yield GaugeMetricFamily("muniment_feed_subscribers", "Open subscriptions.", value=self._feed.subscribers)
        yield GaugeMetricFamily(
            "muniment_feed_lag_seconds",
            "How long the oldest change has been waiting that an open transaction holds back.",
            value=self._feed.lag,
        )
        connections = GaugeMetricFamily("muniment_database_connections", "Connections to the database.", labels=["state"])
        for state, value in self._db.pool.items():
            connections.add_metric([state], value)
        yield connections


class Fallbacks(Collector):
    """What the engine's compiled functions left to graphql-core; a number that grows steadily is a slow field."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Yield the number of values by their GraphQL type."""
        family = CounterMetricFamily("muniment_engine_fallbacks", "Values that the compiled path left to graphql-core.", labels=["type"])
        for name, count in list(self._counts.items()):
            family.add_metric([name], count)
        yield family


class Metrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        # Looking a series up costs more than counting in it.
        self._of_operation: dict[tuple[str, str, str], tuple[Counter, Histogram]] = {}
        self.operations = Counter(
            "muniment_operations", "Operations by door, name and outcome code.", ["door", "operation", "code"], registry=self.registry
        )
        self.seconds = Histogram(
            "muniment_operation_seconds", "Time that operations took.", ["door"], registry=self.registry, buckets=_BUCKETS
        )

    def watch(self, db: Database, feed: Feed) -> None:
        """Report on a database and a feed as well."""
        self.registry.register(Gauges(db, feed))

    def watch_fallbacks(self, counts: Mapping[str, int]) -> None:
        """Report the engine's fallbacks, counted by type."""
        self.registry.register(Fallbacks(counts))

    def observe(self, door: str, operation: str, code: str, seconds: float) -> None:
        """Count one finished operation."""
        key = door, operation, code
        if (found := self._of_operation.get(key)) is None:
            found = self._of_operation[key] = (self.operations.labels(*key), self.seconds.labels(door))
        found[0].inc()
        found[1].observe(seconds)

    async def endpoint(self, _request: Request) -> Response:
        """The metrics as text."""
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE)
