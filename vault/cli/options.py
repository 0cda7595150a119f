"""Options that verbs share. The global ones may stand before or behind the verb."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value; a refusal too ({code, message}).")]
Cwd = Annotated[Path | None, typer.Option("--cwd", help="Work as if started in this folder.", show_default="where you are")]
Root = Annotated[Path | None, typer.Option("--vault-root", help="The vault's folder.", show_default="$SPEC_MEMO_ROOT, else ~/.spec-memo")]
Project = Annotated[str | None, typer.Option("--project-id", help="The project.", show_default="found from the folder")]

Identifier = Annotated[str | None, typer.Argument(metavar="[ID]", help="The record's id.", show_default=False)]
IdOption = Annotated[str | None, typer.Option("--id", help="The record's id.", show_default=False)]
Kind = Annotated[
    str | None,
    typer.Option("--kind", help="trap, decision, spec, plan, state, log, scratch, review, prompt or session.", show_default=False),
]
Slug = Annotated[str | None, typer.Option("--slug", help="The record's file name without .md.", show_default=False)]
Limit = Annotated[int, typer.Option("--limit", help="At most this many.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.", show_default=False)]
