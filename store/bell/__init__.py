"""The bell: tells other processes that an organisation's files changed, and nothing more. Rows carry the truth."""

from store.bell.bell import CHANNEL, EVERYONE, Bell

__all__ = ["CHANNEL", "EVERYONE", "Bell"]
