"""The pages as a person sees them, in a real browser and without any other host."""

from pathlib import Path

from server.app import App
from store import sessions
from store.database import Database
from tests.server.browser import browser
from tests.server.conftest import Tokens
from tests.server.live import serving
from tests.world import World


async def test_the_printed_address_signs_in_once_and_leaves_no_code_in_the_history(
    app: App, db: Database, world: World, tmp_path: Path
) -> None:
    code = await sessions.create_code(db, world.org, world.operator.id)
    async with serving(app) as address, browser(tmp_path / "browser") as page:
        printed = f"http://{address}/sign-in#code={code}"
        await page.open(printed)
        await page.until(f"document.getElementById('code')?.value === '{code}' && location.hash === ''")
        # Nobody is signed in by opening an address, which another site could lead to.
        assert (
            await page.run("fetch('/graphql', {headers: {Accept: 'text/html'}}).then(a => a.text()).then(t => t.includes('Olga'))") is False
        )
        await page.run("document.querySelector('#with-code button').click()")
        await page.until("document.body.innerText.includes('Signed in as Olga')")
        for tab in ("Tables", "SearchRecords", "AddRecord", "Notes", "Activity"):
            assert await page.until(f"document.body.innerText.includes('{tab}')")
        assert await page.run("document.cookie") == ""
        await page.open("about:blank")
        await page.open(printed)
        assert await page.until("document.querySelector('.notice')?.innerText.startsWith('You are signed in as Olga.')")
        await page.until("document.getElementById('code').value !== ''")
        await page.run("document.querySelector('#with-code button').click()")
        told = await page.until("document.querySelector('.refused')?.innerText")
        assert told.startswith("Not signed in: this sign-in code has been used already; each is good once.")
        assert "muniment sign-in" in told


async def test_graphiql_works_under_its_policy_and_signs_out(app: App, session: str, tmp_path: Path) -> None:
    async with serving(app) as address, browser(tmp_path / "browser") as page:
        await page.open(f"http://{address}/graphql")
        await page.until("document.body.innerText.includes('Nobody is signed in')")
        await page.call("Network.setCookie", name="muniment_session", value=session, url=f"http://{address}/", sameSite="Strict")
        await page.open(f"http://{address}/graphql")
        await page.until("document.querySelector('.graphiql-container') && document.body.innerText.includes('Signed in as Olga')")
        ask = """fetch('/graphql', {method: 'POST', headers: {'Content-Type': 'application/json'},
            body: JSON.stringify({query: '{ viewer { name } }'})})"""
        assert await page.run(f"{ask}.then(a => a.json()).then(a => a.data.viewer.name)") == "Olga"
        socket = f"""new Promise(done => {{ const socket = new WebSocket('ws://{address}/graphql', 'graphql-transport-ws');
            socket.onopen = () => done('open'); socket.onerror = () => done('error') }})"""
        assert await page.run(socket) == "open"
        await page.run("document.querySelector('.muniment-banner button').click()")
        await page.until("document.body.innerText.includes('Nobody is signed in')")
        assert await page.run(f"{ask}.then(a => a.status)") == 401


async def test_the_rest_page_sends_requests_under_its_policy(app: App, tokens: Tokens, tmp_path: Path) -> None:
    async with serving(app) as address, browser(tmp_path / "browser") as page:
        await page.open(f"http://{address}/api")
        await page.until("location.pathname === '/api/docs' && document.getElementById('caller')?.hidden === false")
        form = "document.querySelector('[id=\"collections.create\"] form')"
        answer = f"{form}.querySelector('pre').textContent"
        await page.run(f"{form}.requestSubmit()")
        assert (await page.until(f"{answer}.includes('\\n\\n') && {answer}")).startswith("401")
        await page.run(f"document.getElementById('token').value = '{tokens.operator}'; {form}.requestSubmit()")
        told = await page.until(f"{answer}.startsWith('201') && {answer}")
        assert '"name": "leads"' in told
        assert "Location: /api/collections/" in told
