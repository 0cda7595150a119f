"""The Markdown vault: durable project memory."""

from datetime import datetime
from typing import Any

import strawberry
from strawberry.scalars import JSON

from engine import column
from resolvers import vault
from schema.fields import field, mutation


@strawberry.type(description="One Markdown record of a project's memory.")
class VaultRecord:
    id: str = field(description="Its id, unique in the project.")
    project: str = field(description="The project that it belongs to.")
    kind: str = field(description="trap, decision, spec, plan, state, log, scratch, review, prompt or session.")
    status: str = field(description="active, paused, shipped, superseded, archived or completed.")
    display_path: str = field(description="Its file: vault/<project>/<folder>/<slug>.md.")

    @column(description="Everything above the text, defaults included.")
    def frontmatter(self) -> JSON:
        matter: JSON = vault.as_json(self.frontmatter)
        return matter

    body: str = field(description="Its text.")
    expired: bool = field(description="Whether its time is over.")

    @column(description="When it was made.")
    def created(self) -> datetime:
        return datetime.fromisoformat(_text(self.created))

    @column(description="When it was last changed.")
    def updated(self) -> datetime:
        return datetime.fromisoformat(_text(self.updated))


def _text(value: Any) -> str:
    """The row's attribute, which has the field's name and is text."""
    return str(value)


@strawberry.type(description="What became of a written record.")
class VaultUpsertResult:
    record: VaultRecord = field(description="The record as it is now.")
    created: bool = field(description="Whether it is new.")
    recurrence: bool = field(description="Whether it repeated a known trap, which was counted once more instead.")
    superseded: bool = field(description="Whether it took the place of an older record.")


@strawberry.type(description="A record that a search found.")
class VaultSearchHit:
    record: VaultRecord = field(description="The record.")
    snippet: str = field(description="The text around the match.")
    rank: float = field(description="How well it fits: the greater the better.")


@strawberry.type
class VaultQuery:
    vault_projects: list[str] = field(resolver=vault.projects, description="The projects of the vault.")
    vault_record: VaultRecord | None = field(
        resolver=vault.record, description="A record by its id, or by its kind and slug; without a project, the single match of all."
    )
    vault_records: list[VaultRecord] = field(resolver=vault.records, description="The records of a project, the last updated first.")
    vault_search: list[VaultSearchHit] = field(
        resolver=vault.search, description="Records with these words, best first; without a project of all, but for passing kinds."
    )
    vault_view: str = field(resolver=vault.view, description="A compiled page of a project: TRAPS, DECISIONS, INDEX, PROMPTS or SESSIONS.")


@strawberry.type
class VaultMutation:
    vault_upsert: VaultUpsertResult = mutation(
        resolver=vault.upsert, description="Create a record, or merge into the one of this kind and slug."
    )
    vault_append: VaultRecord = mutation(resolver=vault.append, description="Write an event as a new record.")
    vault_forget: bool = mutation(resolver=vault.forget, description="Archive a record; with purge, remove its file.")
