"""The notes of agents, guilds and the organisation: reading, writing, moving and deleting them."""

from store.notes.moving import move
from store.notes.reading import get, listed, of_owners
from store.notes.removing import delete
from store.notes.writing import write

__all__ = ["delete", "get", "listed", "move", "of_owners", "write"]
