"""Every setting, read once. An option of the command line wins over `MUNIMENT_<NAME>`, which wins over the default here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, PositiveFloat, PositiveInt, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

if TYPE_CHECKING:
    from resolvers.engine import Limits

Port = Annotated[int, Field(ge=0, le=65_535)]


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
        description="How processes tell each other of changes: memory://, postgresql://… or redis://…; by default memory for one process, "
        "the database for several.",
    )
    vault_root: Path | None = Field(default=None, description="Folder of a Markdown vault to serve as well.")
    vault_organisation: str | None = Field(
        default=None, description="Id of the organisation that the vault belongs to; by default the only one there is."
    )

    # How it listens
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: Port = Field(default=8000, description="Port to listen on; 0 takes any free one.")
    workers: PositiveInt = Field(default=1, description="Server processes.")
    public_url: str | None = Field(
        default=None, description="Address that people reach the server at, where it differs; also allowed as an origin."
    )
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Other origins whose pages may connect, separated by commas."
    )
    production: bool = Field(default=False, description="1 switches introspection and GraphiQL off and asks for secure cookies.")

    # Who may call
    jwt_secret: SecretStr | None = Field(default=None, description="Secret of an orchestrator that signs JWTs (HS256), 32 bytes or more.")
    rate_limit: float = Field(default=0, ge=0, description="Requests a second that one caller may make; 0: no limit.")
    rate_burst: PositiveInt = Field(default=50, description="Requests that one caller may make at once before the rate counts.")

    # What one request may ask for
    max_body_bytes: PositiveInt = Field(default=2_097_152, description="Size of a request's body; an upload has a bound of its own.")
    max_upload_bytes: PositiveInt = Field(default=268_435_456, description="Size of an uploaded import.")
    operation_timeout: PositiveFloat = Field(default=15, description="Seconds that one operation may take before it is cancelled.")
    max_depth: PositiveInt = Field(default=12, description="Depth of a GraphQL document.")
    max_aliases: PositiveInt = Field(default=50, description="Aliases in a GraphQL document.")
    max_tokens: PositiveInt = Field(default=4_000, description="Tokens of a GraphQL document.")
    max_root_fields: PositiveInt = Field(default=20, description="Root fields of a GraphQL operation.")
    max_nodes: PositiveInt = Field(default=20_000, description="Objects that a GraphQL operation may ask for; limit arguments multiply.")
    max_sockets: PositiveInt = Field(default=1_000, description="Open subscriptions of one process.")

    # The feed
    feed_poll: PositiveFloat = Field(default=5, description="Seconds after which the feed looks for changes even without being told.")
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
        origins = values.get("allowed_origins")
        if isinstance(origins, str):
            values["allowed_origins"] = tuple(origin.strip().rstrip("/") for origin in origins.split(",") if origin.strip())
        return values

    @model_validator(mode="after")
    def _sound(self) -> Self:
        problems = []
        for name in ("database_url", "broadcast_url"):
            allowed = ("postgresql", "postgres") if name == "database_url" else ("memory", "postgresql", "postgres", "redis", "rediss")
            value: str | None = getattr(self, name)
            if value is not None and value.partition("://")[0] not in allowed:
                problems.append(f"{name}: must begin with {', '.join(f'{scheme}://' for scheme in allowed)}")
        if self.jwt_secret is not None and len(self.jwt_secret.get_secret_value().encode()) < 32:  # noqa: PLR2004  # RFC 7518, 3.2
            problems.append("jwt_secret: must have 32 bytes or more")
        if self.workers > 1 and (self.broadcast_url or "").startswith("memory"):
            problems.append("broadcast_url: memory:// reaches one process only; with several workers use postgresql:// or redis://")
        if problems:
            raise ValueError("\n".join(problems))
        return self

    @property
    def limits(self) -> "Limits":
        """The bounds on GraphQL documents."""
        from resolvers.engine import Limits  # most commands never ask, and GraphQL takes its time to import

        return Limits(
            depth=self.max_depth,
            aliases=self.max_aliases,
            tokens=self.max_tokens,
            characters=self.max_body_bytes,
            root_fields=self.max_root_fields,
            nodes=self.max_nodes,
        )


def read(**options: object) -> Settings:
    """The settings, options given winning; None means not given. Raises SettingsError listing every problem, with the variables' names."""
    try:
        return Settings(**{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]  # checked by pydantic
    except ValidationError as error:
        lines = []
        for problem in error.errors(include_url=False, include_input=False):
            name = "_".join(str(part) for part in problem["loc"])
            texts = problem["msg"].removeprefix("Value error, ").splitlines()
            lines += [f"- MUNIMENT_{f'{name}: {text}' if name else text[0].upper() + text[1:]}" for text in texts]
        raise SettingsError("the settings are not right\n" + "\n".join(_upper(line) for line in lines)) from error


def _upper(line: str) -> str:
    name, colon, text = line.partition(":")
    return f"- {name.removeprefix('- ').upper()}{colon}{text}"
