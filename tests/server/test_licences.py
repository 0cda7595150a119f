"""What the pages are made of comes with its licences."""

import json
from pathlib import Path

import httpx


async def test_every_package_in_the_pages_is_shipped_with_its_licence(client: httpx.AsyncClient, repository: Path) -> None:
    shipped = (await client.get("/static/LICENSES.txt")).text
    packages = json.loads((repository / "frontend/package-lock.json").read_text())["packages"]
    wanted = [(path.rpartition("node_modules/")[2], facts["version"]) for path, facts in packages.items() if path and not facts.get("dev")]
    assert len(wanted) > 50
    missing = [name for name, version in wanted if f"\n{name}@{version} (" not in shipped]
    assert missing == [], "run `npm run licenses` in frontend/"
