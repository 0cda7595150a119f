"""The parts of the documentation that are read off the code; `python -m tests.docs.reference` writes them anew."""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import typer
from pydantic import SecretStr

from models import limits
from server.cli import app
from server.mcp.tools import TOOLS
from server.rest.table import ROUTES
from server.settings import Settings

ROOT = Path(__file__).resolve().parent.parent.parent
_MARK = re.compile(r"(<!-- begin (?P<name>\w+) -->\n).*?(<!-- end (?P=name) -->)", re.DOTALL)


def settings() -> str:
    """Every variable, its default and what it is for."""
    rows = []
    for name, field in Settings.model_fields.items():
        default = field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
        shown = "" if default is None or default == () else f"`{int(default) if isinstance(default, bool) else default}`"
        rows.append((f"`MUNIMENT_{name.upper()}`", shown, field.description or ""))
    return table(("variable", "default", "meaning"), rows)


def commands() -> str:
    """Every command with its help and its options."""
    root = typer.main.get_command(app)
    return "\n".join(_command(path, command) for path, command in walk("muniment", root))


def walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """The commands that do something, groups left out."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, found in sorted(inner.items()):
        yield from walk(f"{path} {name}", found)


def _command(path: str, command: Any) -> str:
    rows, places = [], []
    for parameter in command.params:
        if parameter.name == "help":
            continue
        if parameter.param_type_name == "argument":
            places.append(parameter.name.upper() if parameter.required else f"[{parameter.name.upper()}]")
            continue
        names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
        rows.append((names, parameter.help or ""))
    text = inspect.cleandoc(command.help or "").replace("\f", "").replace("\b\n", "")
    usage = " ".join([path, *places])
    options = f"\n{table(('option', 'meaning'), rows)}" if rows else ""
    return f"### {path}\n\n```text\n{usage}\n```\n\n{text}\n{options}"


def routes() -> str:
    """Every route and what it does."""
    rows = []
    for route in ROUTES:
        summary = inspect.cleandoc(route.handler.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        rows.append((f"`{route.method} {route.path.replace(':path', '')}`", str(route.status), summary))
    return table(("route", "status", "what it does"), rows)


def tools() -> str:
    """Every tool, its arguments and what it is."""
    rows = []
    for tool in TOOLS.values():
        required = set(tool.schema.get("required", ()))
        given = ", ".join(f"`{name}`" if name in required else f"`{name}`?" for name in tool.arguments)
        nature = "reads" if tool.read_only else "replaces or removes" if tool.destructive else "replaces" if tool.idempotent else "adds"
        rows.append((f"`{tool.name}`", given, nature, tool.description.split(". ")[0].rstrip(".") + "."))
    return table(("tool", "arguments", "nature", "what it does"), rows)


_CAPS = {
    "NOTE_BYTES": "bytes of a note",
    "MEMORY_BYTES": "bytes of an agent's memory",
    "SCRIPT_BYTES": "bytes of a script",
    "TASK_BYTES": "bytes of an agent's task, and of a routine's instruction",
    "EMBED_BYTES": "bytes of all text that a task's embeds inline together",
    "ARTIFACTS_PER_OWNER": "live notes, scripts and memory of one agent, guild or organisation",
    "KEY_BYTES": "bytes of a note's key",
    "COLLECTIONS_PER_ORG": "live tables of an organisation",
    "RECORDS_PER_COLLECTION": "live records of a table",
    "COLUMNS_PER_COLLECTION": "columns of a table",
    "INDEXED_BYTES_PER_RECORD": "bytes of a record's values together",
    "PURPOSE_CHARACTERS": "characters of a table's purpose",
    "DESCRIPTION_CHARACTERS": "characters of a column's description",
    "VALUES_PER_COLUMN": "listed values of a column",
    "VALUE_CHARACTERS": "characters of a listed value",
    "ARRAY_ITEMS": "items of an array",
    "ARRAY_ITEM_CHARACTERS": "characters of an item",
    "DEFAULT_PAGE": "records or notes of a page without `limit`",
    "MAX_PAGE": "the largest `limit`",
    "WHERE_COLUMNS": "columns of a `where`, id included",
    "WHERE_TERM_CHARACTERS": "characters of a term",
    "WHERE_IN_VALUES": "values of an `in`",
    "BATCH_BODIES": "records that are added at once",
    "STATE_COLLECTIONS": "tables that State lists",
    "TASK_REVISIONS": "previous saves of a task that are kept",
    "QUERY_CHARACTERS": "characters of a search's query",
    "QUERY_WORDS": "words of a search's query, `OR` not counted",
    "QUERY_WORD_PARTS": "parts of letters and digits in those words",
    "TOOL_FIELD_CHARACTERS": "characters of a tool call's id, and of a tool's name",
    "NAME_CHARACTERS": "characters of names of guilds, agents, routines and runs' kinds, and of an idempotency key",
    "PATHS_PER_REQUEST": "paths that a request or a subscription names",
}


def caps() -> str:
    """Every cap of the store; KeyError for one that nothing is said about."""
    rows = [(_CAPS[name], f"{value:,}") for name, value in vars(limits).items() if name.isupper() and name != "KB"]
    return table(("what", "at most"), rows)


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |\n" for line in lines)


def example(name: str) -> str:
    """A file of `examples/`."""
    return f"```python\n{(ROOT / 'examples' / name).with_suffix('.py').read_text()}```\n"


PARTS: dict[str, Callable[[], str]] = {
    "settings": settings,
    "commands": commands,
    "routes": routes,
    "tools": tools,
    "caps": caps,
    **{file.stem: partial(example, file.stem) for file in (ROOT / "examples").glob("*.py")},
}


def renewed(text: str) -> str:
    """A page with its marked parts as the code has them now."""
    return _MARK.sub(lambda found: f"{found[1]}{PARTS[found['name']]()}{found[3]}", text)


def pages() -> list[Path]:
    """Every page of the documentation."""
    return sorted((ROOT / "docs").rglob("*.md"))


if __name__ == "__main__":
    for page in pages():
        page.write_text(renewed(page.read_text()))
    click.echo("renewed")
