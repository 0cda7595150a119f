"""The REST door: the routes under /api, each stated once for what it does, what it takes, and how it is documented."""

from server.rest.door import RestDoor

__all__ = ["RestDoor"]
