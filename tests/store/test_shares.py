"""Places are shared fairly: nobody holds more than a part, and who waits is served in turn."""

import asyncio

import pytest

from models.errors import RateLimited
from store import shares
from store.shares import Shares

ADA, BOB, EVE = ("acme", "ada"), ("acme", "bob"), ("other", "eve")


def test_a_caller_and_an_organisation_hold_only_their_part() -> None:
    places = Shares(10, caller=0.5, organisation=0.8)
    assert [places.take_now(ADA) for _ in range(6)] == [True] * 5 + [False]
    assert [places.take_now(BOB) for _ in range(4)] == [True] * 3 + [False]
    assert [places.take_now(EVE) for _ in range(3)] == [True, True, False]
    assert (places.is_full, places.take_now(None)) == (True, False)
    places.give_back(BOB)
    assert (places.take_now(ADA), places.take_now(BOB)) == (False, True)


def test_the_smallest_part_is_one_place() -> None:
    places = Shares(1, caller=0.01, organisation=0.01)
    assert (places.take_now(ADA), places.take_now(BOB)) == (True, False)


async def test_callers_who_wait_are_served_in_turn() -> None:
    places, served = Shares(1), []
    assert places.take_now(None)

    async def work(party: tuple[str, str]) -> None:
        await places.take(party)
        served.append(party[1])
        await asyncio.sleep(0)
        places.give_back(party)

    tasks = [asyncio.create_task(work(party)) for party in (ADA, ADA, ADA, EVE, BOB, EVE)]
    await asyncio.sleep(0)
    assert places.waiting == 6
    places.give_back(None)
    await asyncio.gather(*tasks)
    assert served == ["ada", "eve", "bob", "ada", "eve", "ada"]
    assert (places.waiting, places.take_now(ADA)) == (0, True)


@pytest.mark.parametrize("is_given", [False, True])
async def test_a_wait_that_is_given_up_loses_no_place(is_given: bool) -> None:
    places = Shares(1)
    assert places.take_now(EVE)
    waiter = asyncio.create_task(places.take(ADA))
    await asyncio.sleep(0)
    if is_given:
        places.give_back(EVE)  # the place is the waiter's from now on, though it has not run yet
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    if not is_given:
        places.give_back(EVE)
    assert (places.waiting, places.take_now(BOB)) == (0, True)


async def test_no_caller_has_more_than_so_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "MOST_WAITING", 2)
    places = Shares(1)
    assert places.take_now(EVE)
    waiters = [asyncio.create_task(places.take(ADA)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(RateLimited) as refused:
        await places.take(ADA)
    assert refused.value.extensions == {"retryAfter": 1.0}
    other = asyncio.create_task(places.take(BOB))
    for party in (EVE, ADA, BOB, ADA):
        await asyncio.sleep(0)
        places.give_back(party)
    await asyncio.gather(*waiters, other)
    assert places.take_now(EVE)
