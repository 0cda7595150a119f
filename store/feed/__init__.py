"""The live feed: each change once, in order, to those who can read its path when it is delivered."""

from store.feed.change import FeedChange
from store.feed.feed import Feed
from store.feed.subscription import Subscription

__all__ = ["Feed", "FeedChange", "Subscription"]
