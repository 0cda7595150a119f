"""The token that lies beside the database of a home folder."""

from pathlib import Path

from server import operator_token
from store import callers, tokens
from store.database import Database
from tests.world import World


async def test_a_kept_token_that_others_could_read_is_theirs_no_more(db: Database, world: World, tmp_path: Path) -> None:
    caller = await operator_token.keep(db, tmp_path / "home")
    file = tmp_path / "home/operator-token"
    assert caller is not None
    assert (caller.org_id, (await callers.resolve(db, file.read_text().strip())).id) == (world.org, caller.id)
    file.chmod(0o644)
    again = await operator_token.keep(db, tmp_path / "home")
    assert (again and again.token_id, file.stat().st_mode & 0o777) == (caller.token_id, 0o600)
    # Also where it is written anew.
    file.write_text("mun_of_a_database_that_is_gone")
    file.chmod(0o644)
    assert await operator_token.keep(db, tmp_path / "home") is not None
    assert file.stat().st_mode & 0o777 == 0o600


async def test_an_agents_token_is_no_operators(db: Database, world: World, tmp_path: Path) -> None:
    (tmp_path / "operator-token").write_text(await tokens.create_for_agent(db, world.ada.id))
    caller = await operator_token.keep(db, tmp_path)
    assert (caller and caller.kind) == "USER"
