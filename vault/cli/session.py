"""One call of `memo`: which vault and project it is about, and how its answer or refusal is printed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from vault.api import Vault
    from vault.place import Place


@dataclass
class Session:
    """The global options, those before the verb under those behind it."""

    as_json: bool = False
    cwd: Path | None = None
    root: Path | None = None
    project_id: str | None = None

    def below(
        self, *, as_json: bool | None = None, cwd: Path | None = None, vault_root: Path | None = None, project_id: str | None = None
    ) -> Session:
        """Return the session of a verb, whose own options win."""
        return Session(self.as_json or bool(as_json), cwd or self.cwd, vault_root or self.root, project_id)

    @cached_property
    def vault(self) -> Vault:
        """The vault, not yet touched."""
        from vault.place import open_vault

        return open_vault(self.root, os.environ)

    @cached_property
    def place(self) -> Place:
        """The project and the repository."""
        from vault.place import locate

        return locate(self.vault, self.cwd or Path.cwd(), self.project_id)

    @property
    def project(self) -> str:
        """The project's id: as given, or found from the folder."""
        return self.place.project

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Print a refusal of the vault and exit with 1."""
        from vault.errors import VaultError

        try:
            yield
        except VaultError as error:
            self.refuse(error.code, error.message)
        except BrokenPipeError:
            raise  # whoever read the answer has seen enough
        except OSError as error:
            self.refuse("VAULT_ERROR", f"{error.filename or 'the file system'}: {error.strerror or type(error).__name__}")

    def refuse(self, code: str, message: str) -> NoReturn:
        """Print why nothing was done and exit with 1."""
        if self.as_json:
            click.echo(dumps({"code": code, "message": message}))
        else:
            from vault.cli.printing import plain

            click.echo(click.style(f"{code}: ", fg="red", bold=True) + plain(message), err=True)
        raise click.exceptions.Exit(1)

    def answer(self, value: dict[str, Any], human: Callable[[], str]) -> None:
        """Print the answer, as JSON or for people, and what went wrong beside it."""
        texts = self.vault.take_warnings()
        if self.as_json:
            click.echo(dumps({**value, "warnings": list(texts)} if texts else value))
            return
        click.echo(human())
        self.warn(texts)

    def warn(self, texts: tuple[str, ...]) -> None:
        """Print what went wrong beside the write; with --json the answer holds it."""
        for text in texts if not self.as_json else ():
            from vault.cli.printing import plain

            click.echo(click.style("warning: ", fg="yellow") + plain(text), err=True)


def dumps(value: Any) -> str:
    """Return JSON text that any terminal can carry."""
    return json.dumps(value, ensure_ascii=not (sys.stdout.encoding or "").lower().startswith("utf"), indent=2)


def text_or_stdin(value: str | None, option: str) -> str:
    """Return the text, or standard input if it is missing or `-`. Raises a usage error if nothing is piped in."""
    if value is not None and value != "-":
        return value
    if value is None and sys.stdin.isatty():
        raise click.UsageError(f"give {option} TEXT, or pipe the text in")
    from vault.errors import InvalidArguments

    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise InvalidArguments("standard input must be UTF-8 text") from None


def json_object(text: str | None, option: str) -> dict[str, Any]:
    """Return the JSON object of an option, empty without one. Raises InvalidArguments."""
    from vault.errors import InvalidArguments

    if text is None:
        return {}
    try:
        value = json.loads(text, object_pairs_hook=_unique_keys, parse_int=_integer)
    except _Refused as error:
        raise InvalidArguments(f"{option} {error}") from None
    except (ValueError, RecursionError):
        raise InvalidArguments(f"{option} must be a JSON object") from None
    if not isinstance(value, dict):
        raise InvalidArguments(f"{option} must be a JSON object")
    return value


class _Refused(Exception):
    """JSON that is well formed and that no record can hold."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            from vault.secrets import shown

            raise _Refused(f"has the duplicate key {shown(key[:80])} in an object")
        found[key] = value
    return found


def _integer(text: str) -> int:
    from vault.yaml_tree import MAX_DIGITS

    if len(text.lstrip("-")) > MAX_DIGITS:
        raise _Refused(f"must hold numbers of at most {MAX_DIGITS} digits")
    return int(text)


def one_id(record_id: str | None, id_option: str | None, kind: str | None, slug: str | None) -> tuple[str | None, str | None, str | None]:
    """Return id, kind and slug, the id as an argument or an option. Raises a usage error without id and without kind and slug."""
    if record_id is not None and id_option is not None and record_id != id_option:
        raise click.UsageError("give the id once")
    found = record_id if record_id is not None else id_option
    if found is None and (kind is None or slug is None):
        raise click.UsageError("give an ID, or both --kind and --slug")
    return found, kind, slug
