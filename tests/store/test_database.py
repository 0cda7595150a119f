"""What the driver's errors become for whoever asked."""

import asyncio

import asyncpg
import pytest

from models.errors import Unavailable
from store.database import Database, DatabaseUnavailable, Writer


async def test_a_statement_that_takes_too_long_is_a_time_out_and_the_connection_lives_on(dsn: str) -> None:
    db = await Database(dsn, size=1, statement_timeout=0.2).open()
    try:
        async with db.read() as reader:
            with pytest.raises(TimeoutError, match="longer than a statement may"):
                await reader.value("SELECT pg_sleep(10)")
            assert await reader.value("SELECT 1") == 1
    finally:
        await db.close()


async def test_of_two_that_wait_for_each_other_one_is_told_to_try_again(db: Database) -> None:
    async with db.write() as writer:
        await writer.execute("CREATE TABLE crossed AS SELECT n FROM generate_series(1, 2) n")
    both = asyncio.Barrier(2)

    async def lock(first: int, second: int) -> None:
        async with db.write() as writer:
            await _hold(writer, first)
            await both.wait()
            await _hold(writer, second)

    done = await asyncio.gather(lock(1, 2), lock(2, 1), return_exceptions=True)
    [refused] = [error for error in done if error is not None]
    assert isinstance(refused, Unavailable)
    assert refused.message == "others were changing the same at this moment; nothing was changed, try again"


async def _hold(writer: Writer, n: int) -> None:
    await writer.execute("SELECT 1 FROM crossed WHERE n = $1 FOR UPDATE", n)


async def test_a_connection_lost_just_when_it_is_used_is_a_database_that_does_not_answer(db: Database) -> None:
    async with db.read() as reader:
        await reader._connection.close()
        with pytest.raises(DatabaseUnavailable):
            await reader.value("SELECT 1")


async def test_a_wrong_argument_is_no_lost_database(db: Database) -> None:
    async with db.read() as reader:
        with pytest.raises(asyncpg.DataError):
            await reader.value("SELECT $1::int", "one")
