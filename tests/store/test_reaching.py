import socket

import pytest

from server.postgres import EmbeddedPostgres
from store.database import Database, DatabaseUnavailable
from store.reaching import unreached

UNREADABLE = "the address cannot be read. It has the form postgresql://USER:PASSWORD@HOST:PORT/NAME, and in a password"


@pytest.mark.parametrize(
    ("dsn", "message"),
    [
        ("postgresql://u:secret@127.0.0.1:1/x", "cannot connect to the database x at 127.0.0.1:1: connection refused"),
        ("postgresql:///x?host=/nowhere", "cannot connect to the database x at /nowhere: no such file or directory"),
        ("postgresql://u:secret@[bad", f"cannot connect to the database: {UNREADABLE}"),
        ("postgresql://u:secret@host:port/x", f"cannot connect to the database x at host:port: {UNREADABLE}"),
        ("postgresql://u:sec/ret@127.0.0.1/x", f"cannot connect to the database: {UNREADABLE}"),
        ("postgresql://u:secret@127.0.0.1:99999/x", f"cannot connect to the database x at 127.0.0.1:99999: {UNREADABLE}"),
    ],
)
async def test_an_address_that_leads_nowhere_is_told_without_its_password(dsn: str, message: str) -> None:
    with pytest.raises(DatabaseUnavailable) as refused:
        await Database(dsn).open()
    assert str(refused.value).startswith(message)
    assert "secret" not in str(refused.value)
    assert "sec/" not in str(refused.value)


async def test_a_server_that_has_no_such_database_says_so(cluster: EmbeddedPostgres) -> None:
    with pytest.raises(DatabaseUnavailable, match=r'cannot connect to the database no-such at .*: database "no-such" does not exist'):
        await Database(cluster.dsn("no-such")).open()


def test_what_has_no_words_of_its_own_gets_some() -> None:
    assert unreached("postgresql://h/x", TimeoutError()) == "cannot connect to the database x at h: no answer in time"
    unknown = socket.gaierror(-2, "Name or service not known")
    assert unreached("postgresql://h", unknown) == "cannot connect to the database at h: there is no host of this name"
