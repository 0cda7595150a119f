"""How the verbs of `memo` are declared: loaded when called, with shared options, and help that ends in examples."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import click

from vault.cli import options
from vault.cli.session import Session


class Verb(click.Command):
    """A command whose epilog is examples, one a line."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they would be typed."""
        del ctx
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


class Verbs(click.Group):
    """The command itself; `places` says in which module each verb is."""

    format_epilog = Verb.format_epilog

    def __init__(self, *args: Any, places: Mapping[str, str], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of their use."""
        del ctx
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb, loading only its module."""
        del ctx
        if cmd_name not in self._places:
            return None
        command: click.Command = getattr(import_module(self._places[cmd_name]), f"{cmd_name}_")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb that was asked for; a wrong one is answered with those that there are."""
        if args and not args[0].startswith("-") and args[0] not in self._places:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self._places, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self._places)}"
            raise click.UsageError(f"no such verb: {args[0][:40]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


def verb(name: str, examples: str, *, project: bool = True, as_json: bool = True) -> Callable[[Callable[..., None]], click.Command]:
    """Return a decorator that makes a verb of a function of the session and the verb's own options; refusals exit with 1."""

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def run(**given: Any) -> None:
            shared = {key: given.pop(key, None) for key in ("as_json", "cwd", "vault_root", "project_id")}
            session = click.get_current_context().ensure_object(Session).below(**shared)
            with session.refusals():
                function(session, **given)

        command = click.command(name, cls=Verb, epilog=examples)(run)
        for option in [options.PROJECT] * project + [options.JSON] * as_json + [options.CWD, options.ROOT]:
            option(command)  # behind the verb's own, which people look for first
        return command

    return decorate
