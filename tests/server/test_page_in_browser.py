"""GraphiQL as a person sees it, in a real browser and without any other host."""

import asyncio
from pathlib import Path

from server.app import App
from tests.programs import program
from tests.server.conftest import Tokens
from tests.server.live import serving

_FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--virtual-time-budget=15000", "--dump-dom"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


async def seen(address: str, path: str, folder: Path) -> str:
    """What stands on the page once its scripts have run."""
    command = [program("chromium"), *_FLAGS, f"--user-data-dir={folder}", f"http://{address}{path}"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL)
    async with asyncio.timeout(90):
        page, _ = await process.communicate()
    return page.decode()


async def test_the_printed_address_leads_to_graphiql_signed_in_with_examples(app: App, tokens: Tokens, tmp_path: Path) -> None:
    async with serving(app) as address:
        page = await seen(address, f"/sign-in?token={tokens.operator}", tmp_path / "signed")
        nobody = await seen(address, "/graphql", tmp_path / "nobody")
    assert "Signed in as <b>Olga</b>" in page
    for tab in ("Tables", "SearchRecords", "AddRecord", "Notes", "Activity"):
        assert f">{tab}<" in page
    assert "graphiql-container" in page
    assert "Nobody is signed in" in nobody
    assert "graphiql-container" in nobody
