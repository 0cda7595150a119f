"""Finds credentials in what is about to be written."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One suspicious text: `kind` of credential and `where` it stands, never the text."""

    kind: str
    where: str


def scan(value: object, context: str) -> list[Finding]:
    """Every finding in the strings of `value`, at any depth, keys included; `context` names the value."""
    raise NotImplementedError


def assert_no_secrets(context: str, *values: object) -> None:
    """Raises SecretFound, naming the context and the kinds, if any value holds a credential."""
    raise NotImplementedError
