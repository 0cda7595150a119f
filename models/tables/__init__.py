"""The tables. Every one carries `org_id` first in its keys, so that the data can be spread by organisation."""

from models.tables.artifacts import Artifact, Collection, CollectionAccess, IdempotencyKey, MemoryRevision, TaskRevision
from models.tables.changes import DepartedAccess, FeedHorizon, FileChange
from models.tables.directory import Agent, Guild, Membership, Organisation, Run, Schedule, Token, User
from models.tables.sessions import Session, SignInCode
from models.tables.vault import VaultFile

__all__ = [
    "Agent",
    "Artifact",
    "Collection",
    "CollectionAccess",
    "DepartedAccess",
    "FeedHorizon",
    "FileChange",
    "Guild",
    "IdempotencyKey",
    "Membership",
    "MemoryRevision",
    "Organisation",
    "Run",
    "Schedule",
    "Session",
    "SignInCode",
    "TaskRevision",
    "Token",
    "User",
    "VaultFile",
]
