"""Every setting, read once. An option of the command line wins over `MUNIMENT_<NAME>`, which wins over the default here."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, PositiveInt, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

if TYPE_CHECKING:
    from engine import Limits

Seconds = Annotated[float, Field(gt=0, le=86_400)]
Share = Annotated[float, Field(gt=0, le=1)]
Port = Annotated[int, Field(ge=0, le=65_535)]
_DATABASES = ("postgresql", "postgres")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?")
_SECRET_BYTES = 32  # RFC 7518, 3.2


class SettingsError(Exception):
    """Something is wrong with the settings; the message lists every problem."""


class Settings(BaseSettings):
    """The settings of one process; frozen."""

    model_config = SettingsConfigDict(env_prefix="MUNIMENT_", frozen=True, extra="ignore", hide_input_in_errors=True)

    # Where things are
    home: Path = Field(default=Path(".muniment"), description="Folder of the embedded database and of all other state.")
    database_url: str | None = Field(default=None, description="PostgreSQL to use instead of the embedded one: postgresql://…")
    database_connections: PositiveInt = Field(default=10, description="Connections to the database, for each process.")
    broadcast_url: str | None = Field(
        default=None,
        description="How processes tell each other of changes: postgresql://…, redis://…, or memory:// for a process alone; by default "
        "through the database.",
    )
    vault_root: Path | None = Field(default=None, description="Folder of a Markdown vault to serve as well.")
    vault_organisation: str | None = Field(
        default=None, description="Id of the organisation that the vault belongs to; by default the only one there is."
    )

    # How it listens
    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on.")
    port: Port = Field(default=8000, description="Port to listen on; 0 takes any free one.")
    workers: PositiveInt = Field(default=1, description="Server processes.")
    public_url: str | None = Field(
        default=None, description="Address that people reach the server at, where it differs; also allowed as an origin."
    )
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Other origins whose pages may connect, separated by commas."
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Other names of this server, separated by commas: a host, *.example.org for all below it, or * for any. Numeric "
        "addresses, localhost and the names in MUNIMENT_HOST and MUNIMENT_PUBLIC_URL need not be listed.",
    )
    production: bool = Field(default=False, description="1 switches introspection and GraphiQL off and asks for secure cookies.")

    # Who may call
    jwt_secret: SecretStr | None = Field(default=None, description="Secret of an orchestrator that signs JWTs (HS256), 32 bytes or more.")
    rate_limit: float = Field(default=0, ge=0, allow_inf_nan=False, description="Requests a second that one caller may make; 0: no limit.")
    rate_burst: PositiveInt = Field(default=50, description="Requests that one caller may make at once before the rate counts.")

    # What one request may ask for
    max_body_bytes: PositiveInt = Field(default=2_097_152, description="Size of a request's body; an upload has a bound of its own.")
    max_upload_bytes: PositiveInt = Field(default=268_435_456, description="Size of an uploaded import.")
    operation_timeout: Seconds = Field(default=15, description="Seconds that one operation may take before it is cancelled.")
    max_depth: PositiveInt = Field(default=12, description="Depth of a GraphQL document.")
    max_aliases: PositiveInt = Field(default=50, description="Aliases in a GraphQL document.")
    max_tokens: PositiveInt = Field(default=4_000, description="Tokens of a GraphQL document.")
    max_root_fields: PositiveInt = Field(default=20, description="Root fields of a GraphQL operation.")
    max_nodes: PositiveInt = Field(default=20_000, description="Objects that a GraphQL operation may ask for; limit arguments multiply.")
    max_answer_bytes: PositiveInt = Field(
        default=33_554_432, description="Size of an answer, and of what is read from the database for it; exports have no bound."
    )
    max_operations: PositiveInt = Field(default=100, description="Operations that one process runs at once; others wait in turn.")
    max_sockets: PositiveInt = Field(default=1_000, description="Open sockets, and open subscriptions, of one process.")
    caller_share: Share = Field(
        default=0.5, description="Part of the connections, running operations, sockets and subscriptions that one caller may hold."
    )
    organisation_share: Share = Field(default=0.8, description="The part of them that the callers of one organisation may hold together.")

    # The feed
    feed_poll: Seconds = Field(default=5, description="Seconds after which the feed looks for changes even without being told.")
    feed_queue: PositiveInt = Field(
        default=1_000, description="Changes that wait for a slow subscriber before it reads them from the table."
    )
    retention_days: PositiveInt | None = Field(default=None, description="Days that changes are kept; by default for ever.")

    # What it tells
    log_level: str = Field(default="info", pattern="(?i)^(debug|info|warning|error)$", description="debug, info, warning or error.")
    log_format: str = Field(default="auto", pattern="^(auto|json|console)$", description="json, console, or auto: console on a terminal.")
    metrics: bool = Field(default=True, description="Whether /metrics answers.")
    telemetry: bool = Field(default=False, description="1 sends OpenTelemetry traces as the OTEL_* variables say.")

    @model_validator(mode="before")
    @classmethod
    def _lists(cls, values: dict[str, object]) -> dict[str, object]:
        for name in ("allowed_origins", "allowed_hosts"):
            if isinstance(listed := values.get(name), str):
                values[name] = tuple(item.strip().rstrip("/").lower() for item in listed.split(",") if item.strip())
        return values

    @field_validator("allowed_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        # A pattern would let pages that nobody has looked at use the sessions of operators.
        if wrong := [origin for origin in value if not _ORIGIN.fullmatch(origin)]:
            raise ValueError(f"must list origins such as https://console.example.org; {wrong[0][:100]} is none")
        return value

    @field_validator("database_url", "broadcast_url")
    @classmethod
    def _scheme(cls, value: str | None, info: ValidationInfo) -> str | None:
        allowed = _DATABASES if info.field_name == "database_url" else ("memory", *_DATABASES, "redis", "rediss")
        if value is not None and value.partition("://")[0] not in allowed:
            raise ValueError(f"must begin with {', '.join(f'{scheme}://' for scheme in allowed)}")
        return value

    @field_validator("jwt_secret")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value().encode()) < _SECRET_BYTES:
            raise ValueError(f"must have {_SECRET_BYTES} bytes or more")
        return value

    @field_validator("workers")
    @classmethod
    def _reached(cls, value: int, info: ValidationInfo) -> int:
        if value > 1 and (info.data.get("broadcast_url") or "").startswith("memory"):
            raise ValueError("MUNIMENT_BROADCAST_URL memory:// reaches one process only; with several use postgresql:// or redis://")
        return value

    @property
    def limits(self) -> "Limits":
        """The bounds on GraphQL documents."""
        from engine import Limits  # most commands never ask, and GraphQL takes its time to import

        return Limits(
            depth=self.max_depth,
            aliases=self.max_aliases,
            tokens=self.max_tokens,
            characters=self.max_body_bytes,
            root_fields=self.max_root_fields,
            nodes=self.max_nodes,
            answer_bytes=self.max_answer_bytes,
        )


def read(**options: object) -> Settings:
    """The settings, options given winning; None means not given. Raises SettingsError listing every problem, with the variables' names."""
    try:
        return Settings(**{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]  # checked by pydantic
    except ValidationError as error:
        lines = [f"- MUNIMENT_{_name(problem)}: {_reason(problem)}" for problem in error.errors(include_url=False, include_input=False)]
        raise SettingsError("\n".join(["the settings are not right", *lines])) from error


def _name(problem: ErrorDetails) -> str:
    return str(problem["loc"][0]).upper()


def _reason(problem: ErrorDetails) -> str:
    """The library's words, as whoever set the variable would put them."""
    if problem["type"] == "string_pattern_mismatch":
        return f"must be {(Settings.model_fields[str(problem['loc'][0])].description or '').rstrip('.')}"
    message = problem["msg"].removeprefix("Value error, ").partition(", unable to ")[0]
    return re.sub("^(Input|String|Value) should (be|have) ", lambda found: f"must {found[2]} ", message).replace(
        "a valid boolean", "1 or 0"
    )
