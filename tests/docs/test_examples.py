"""What the pages tell people to run is run as printed, and must answer as printed."""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from graphql import parse, validate

from schema import build
from tests.docs.examples import PATIENCE, Shell, blocks, demo_server, matches, shell
from tests.docs.reference import ROOT, pages

PAGES = ["README.md", *(str(page.relative_to(ROOT)) for page in pages())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("newcomer")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with demo_server(folder) as found:
        yield found


@pytest.fixture
def terminal(folder: Path, address: str) -> Iterator[Shell]:
    with shell(folder, address) as opened:
        yield opened


def token(folder: Path) -> str:
    return (folder / ".muniment/operator-token").read_text().strip()


def followed(address: str) -> None:
    """Wait until somebody follows: what happens before that is not told to it."""
    while "muniment_feed_subscribers 1.0" not in httpx.get(f"http://{address}/metrics").text:
        time.sleep(0.05)


def run_all(page: str, terminal: Shell, address: str) -> int:
    """Run the shell blocks of a page but `scripts/…`; how many answers were compared."""
    compared = 0
    for block in blocks(page, "sh"):
        if block.text.startswith("scripts/"):
            continue
        if block.answer is None:
            terminal.run(ended(block.text))
            if "&\n" in block.text:
                followed(address)
            continue
        given = terminal.until(block.text, block.answer) if block.text.startswith("cat ") else terminal.run(block.text)
        assert matches(block.answer, given), f"{page}: {block.text}\nprinted: {block.answer}\ngiven: {given}"
        compared += 1
    return compared


def ended(text: str) -> str:
    """The same, without waiting for what only a person ends."""
    return text if text.endswith("&\nFOLLOWER=$!\n") else re.sub(r"curl -(s?)N ", r"curl -\1N -m 1 ", text)


ANSWERS = {"docs/getting-started.md": 11, "README.md": 0, "docs/rest.md": 0, "docs/agents.md": 2, "docs/graphql.md": 0}
ORDER = [*ANSWERS, "docs/commands.md"]


@pytest.mark.parametrize("turn", range(2 * len(ORDER)), ids=[*ORDER, *(f"{page} again" for page in reversed(ORDER))])
def test_the_guides_run_as_printed_in_any_order_twice_on_one_home(terminal: Shell, address: str, turn: int) -> None:
    page = [*ORDER, *reversed(ORDER)][turn]
    if page == "docs/commands.md":
        every_line_succeeds(page, terminal)
    else:
        assert run_all(page, terminal, address) == ANSWERS[page]


def every_line_succeeds(page: str, terminal: Shell) -> None:
    """Run a page whose commands print what differs each time."""
    (block,) = blocks(page, "sh")
    for line in block.text.splitlines():
        assert terminal.run(f'{line}\necho "code $?"').splitlines()[-1] == "code 0", line


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md"])
def test_the_shell_examples_mean_the_same_in_zsh(page: str) -> None:
    # There an unquoted ?, * or [ that fits no file is an error, =word a path, and # no comment in what is typed.
    for block in blocks(page, "sh"):
        bare = re.sub(r"""'[^']*'|"(?:\\.|[^"\\])*\"""", "Q", block.text)
        assert re.findall(r"[?*\[\]]|(?:^|\s)[#=]", bare) == [], bare


def test_every_graphql_example_is_valid() -> None:
    schema = build()._schema
    found = [(page, block.text) for page in PAGES for block in blocks(page, "graphql")]
    assert len(found) >= 4
    for page, text in found:
        assert validate(schema, parse(text)) == [], page


def test_the_graphql_examples_answer_as_printed(folder: Path, address: str) -> None:
    compared = 0
    for block in blocks("docs/graphql.md", "graphql"):
        assert block.answer is not None
        given = asked(folder, address, block.text)
        assert matches(block.answer, json.dumps(given)), f"{block.text}\n{json.dumps(given, ensure_ascii=False)}"
        compared += 1
    assert compared == 3


def test_the_readme_s_refusal_is_the_one_that_is_given(folder: Path, address: str) -> None:
    (block,) = blocks("README.md", "graphql")
    given = asked(folder, address, block.text)
    assert block.answer is not None
    assert given["errors"][0]["message"] == block.answer.strip()


def asked(folder: Path, address: str, query: str) -> Any:
    headers = {"Authorization": f"Bearer {token(folder)}"}
    return httpx.post(f"http://{address}/graphql", json={"query": query}, headers=headers, timeout=PATIENCE).json()


async def test_the_python_example_follows_and_resumes(folder: Path, address: str) -> None:
    (block,) = blocks("docs/graphql.md", "python")
    said: asyncio.Queue[str] = asyncio.Queue()
    names: dict[str, Any] = {"__name__": "follow", "print": lambda *words: said.put_nowait(" ".join(words[:2]))}
    exec(block.text.replace("127.0.0.1:8000", address), names)
    newest = asked(folder, address, "{ fileChanges(limit: 1) { cursor } }")["data"]["fileChanges"][0]["cursor"]
    asked(folder, address, 'mutation { noteWrite(level: ORG, key: "first.md", content: "1") { version } }')
    task = asyncio.create_task(names["follow"](token(folder), newest))
    async with asyncio.timeout(PATIENCE):
        first = await said.get()
        await asyncio.to_thread(asked, folder, address, 'mutation { noteWrite(level: ORG, key: "second.md", content: "2") { version } }')
        second = await said.get()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (first.split("/")[0], first.split("/")[-1]) == ("CREATE org", "first.md")
    assert (second.split("/")[0], second.split("/")[-1]) == ("CREATE org", "second.md")
    async with asyncio.timeout(PATIENCE):  # it ends where it is refused, rather than wait for ever
        with pytest.raises(RuntimeError, match="cursor"):
            await names["follow"](token(folder), "no-cursor")


async def test_the_event_stream_example_follows(folder: Path, terminal: Shell, address: str) -> None:
    (block,) = blocks("docs/graphql.md", "sh")
    terminal.run(block.text.strip().replace("curl", "curl -o events.txt", 1) + " &")
    followed(address)
    asked(folder, address, 'mutation { noteWrite(level: ORG, key: "third.md", content: "3") { version } }')
    change = '{"cursor":"…","displayPath":"org/…/third.md","operation":"CREATE","actor":{"name":"operator"}}'
    printed = f'event: next\ndata: {{"data":{{"fileChanges":{change}}}}}'
    given = terminal.until("cat events.txt", printed)
    assert matches(printed, given), given


def test_the_rest_examples_answer(folder: Path, terminal: Shell, address: str) -> None:
    calls, files = blocks("docs/rest.md", "sh")
    _, listed, _, added, page = commands(terminal, calls.text)
    assert [row["name"] for row in json.loads(listed)["collections"]] == ["cars", "jobs", "leads", "sources", "viewings"]
    assert json.loads(added)["record"]["body"].items() >= {"email": "ada@example.org", "status": "new"}.items()
    assert {row["body"]["status"] for row in json.loads(page)["records"]} == {"new"}
    assert json.loads(page)["total"] == len(json.loads(page)["records"])
    _, imported = commands(terminal, files.text)
    count = asked(folder, address, '{ collection(name: "leads") { recordCount } }')["data"]["collection"]["recordCount"]
    none = dict.fromkeys(("added", "merged_within", "skipped", "problem_count"), 0)
    outcome = {"rows": count, "merged": count, "written": False, "problems": [], **none}
    assert json.loads(imported) == outcome


def commands(terminal: Shell, text: str) -> list[str]:
    """What each command of a block prints; one that goes on in the next line is indented there."""
    return [terminal.run(one) for one in re.split(r"\n(?! )", text.strip())]
