"""Why a database could not be reached, as whoever set its address needs to be told: without the password that may stand in it."""

import os
import socket
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

# What the driver raises of an address that is none, of a server that does not answer, and of one that sends us away.
UNREACHED = (OSError, TimeoutError, OverflowError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)

_UNREADABLE = (
    "the address cannot be read. It has the form postgresql://USER:PASSWORD@HOST:PORT/NAME, and in a password the characters "
    "@ : / ? # [ ] % are written as %40 %3A %2F %3F %23 %5B %5D %25"
)


def unreached(dsn: str, error: BaseException) -> str:
    """The message: which database, and what happened instead of an answer."""
    return f"cannot connect to {_place(dsn)}: {_reason(error)}"


def _place(dsn: str) -> str:
    try:
        address = urlsplit(dsn)
        host = address.netloc.rpartition("@")[2] or parse_qs(address.query).get("host", [""])[0]
    except ValueError:
        return "the database"
    if "@" in dsn and "@" not in address.netloc:
        return "the database"  # a password that was not encoded stands where the host should
    name = unquote(address.path.strip("/"))
    return " ".join(["the database", *([name] if name else []), *([f"at {host}"] if host else [])])


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, socket.gaierror):
        return "there is no host of this name"
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno).lower()
    if isinstance(error, OverflowError | ValueError) and not isinstance(error, asyncpg.InterfaceError):
        # The library's own words would quote what may be a piece of the password.
        return _UNREADABLE
    return str(error) or type(error).__name__
