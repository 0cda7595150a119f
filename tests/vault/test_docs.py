"""The guide's commands are run as printed and must answer as printed; verbs, options, codes and keys are all named there."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from vault import errors, schema
from vault.cli.app import VERBS, app
from vault.config import VaultConfig, load
from vault.kinds import DELIVERABLE_TYPES, KINDS, LAYERS, LINK_TYPES, SEVERITIES, SOURCES, STATUSES, SUBDIRS
from vault.mcp_tools import TOOLS

REPOSITORY = Path(__file__).parents[2]
GUIDE = (REPOSITORY / "docs" / "vault.md").read_text()
END = "-- end of command --"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """(command, what it answers) of all console blocks, in order."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks("console")).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return [(command, "\n".join(lines).strip()) for command, lines in found]


def steady(text: str) -> str:
    """The text without what differs each time: moments, process ids, random names."""
    text = re.sub(r"log-\d{4}-\d\d-\d\dT[\dZ-]+-\d+-[0-9a-f]{8}", "log-NAME", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "TIME", text)
    text = re.sub(r"^\d{4}-\d\d-\d\d  ", "DATE  ", text, flags=re.MULTILINE)
    return re.sub(r"  +", "  ", text)  # columns are as wide as the widest name


def answers(folder: Path) -> list[str]:
    tools = folder / "bin"
    tools.mkdir()
    memo = tools / "memo"
    memo.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from vault.cli import main; main()" "$@"\n')
    memo.chmod(0o755)
    variables = {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY), "SPEC_MEMO_ROOT": str(folder / "vault")}
    script = "\n".join(f"{command}\necho '{END}'" for command, _ in commands())
    done = subprocess.run(
        ["bash"],
        cwd=folder,
        env=os.environ | variables,
        input=script,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
    )
    return [answer.strip() for answer in done.stdout.split(f"{END}\n")[:-1]]


def test_the_commands_answer_as_printed(tmp_path: Path) -> None:
    printed = [(command, steady(answer)) for command, answer in commands()]
    assert len(printed) > 15
    assert [(command, steady(answer)) for (command, _), answer in zip(printed, answers(tmp_path), strict=True)] == printed


def test_the_python_example_prints_what_stands_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = blocks("python")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "vault.md", "exec"), {})
    assert printed.getvalue() == blocks("text")[0]


def test_the_file_written_by_hand_is_a_record(tmp_path: Path) -> None:
    (example,) = blocks("markdown")
    path = tmp_path / "projects/widget/decisions/retry-budget.md"
    path.parent.mkdir(parents=True)
    path.write_text(example)
    from vault import Vault

    assert Vault(tmp_path).doctor().ok
    found = Vault(tmp_path).get("widget", "retry-budget", count_hit=False)
    assert found is not None
    assert found.body == "Three attempts, then give up."


def test_the_settings_are_read_and_complete(tmp_path: Path) -> None:
    server, settings = (json.loads(block) for block in blocks("json"))
    assert server["mcpServers"]["memo"]["args"] == ["mcp"]
    (tmp_path / "config.json").write_text(json.dumps(settings))
    config = load(tmp_path)
    assert (config.scratch_days, config.review_days, config.git.branch) == (VaultConfig().scratch_days, VaultConfig().review_days, "main")
    assert (config.project_aliases, config.ignore_paths) == ({"github.com-acme-widget": "widget"}, {"widget": ("generated/",)})


@pytest.mark.parametrize("name", list(VERBS))
def test_each_verb_and_option_is_in_the_table(name: str) -> None:
    section = GUIDE.split("## The command line")[1].split("\n## ")[0]
    row = next(line for line in section.splitlines() if line.startswith(f"| `{name}` |"))
    command = app.get_command(click.Context(app), name)
    assert command is not None
    own = [opt for parameter in command.params if isinstance(parameter, click.Option) for opt in parameter.opts]
    shared = {"--json", "--cwd", "--vault-root", "--project-id"}
    named = section.split("| Verb |")[0] + row if name not in ("get", "feedback") else section
    assert [option for option in own if option not in shared and not re.search(rf"{option}\b(?!-)", named)] == []


def test_each_code_is_in_the_table_and_no_other() -> None:
    classes = [errors.VaultError]
    for known in classes:
        classes += known.__subclasses__()
    codes = re.findall(r"^\| `([A-Z_]+)` \|", GUIDE, re.MULTILINE)
    assert sorted(codes) == sorted({known.code for known in classes})


def test_each_kind_stands_with_its_folder() -> None:
    assert re.findall(r"^\| `(\w+)` \| `(\w+)` \|", GUIDE, re.MULTILINE) == [(kind, SUBDIRS[kind]) for kind in KINDS]


def test_each_key_value_and_tool_is_named() -> None:
    section = GUIDE.split("## Frontmatter")[1].split("\n## ")[0]
    keys = [
        *schema.REQUIRED,
        *schema.ENUMS,
        *schema.MINIMUM,
        *schema.TIMES,
        *schema.TEXTS,
        *schema.TEXT_LISTS,
        "links",
        "deliverables",
        "ttl",
    ]
    assert [key for key in keys if f"`{key}`" not in section] == []
    values = [*STATUSES, *SOURCES, *SEVERITIES, *LAYERS, *LINK_TYPES, *DELIVERABLE_TYPES]
    assert [value for value in values if not re.search(rf"\b{value}\b", section)] == []
    assert [tool for tool in TOOLS if f"`{tool}`" not in GUIDE.split("## MCP")[1].split("\n## ")[0]] == []
