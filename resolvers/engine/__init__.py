"""What makes Strawberry quick on rows and safe against abuse; it knows none of the product's own types.

`columns` says how types read rows, `schema.EngineSchema` builds the schema, `execute.run` answers a POST, `view.EngineView` has the
other doors (it needs Starlette and is imported by its own name).
"""

from resolvers.engine.columns import column, embedded, raw_json, renamed
from resolvers.engine.encoding import dumps, loads
from resolvers.engine.errors import Log, Present, Presented, RefusedError, present, status_of, unprocessable
from resolvers.engine.execute import Answer, Engine, run
from resolvers.engine.limits import Limits
from resolvers.engine.scalars import parse_datetime, raw, scalar_map, serialize_datetime
from resolvers.engine.schema import EngineSchema, Turn

__all__ = [
    "Answer",
    "Engine",
    "EngineSchema",
    "Limits",
    "Log",
    "Present",
    "Presented",
    "RefusedError",
    "Turn",
    "column",
    "dumps",
    "embedded",
    "loads",
    "parse_datetime",
    "present",
    "raw",
    "raw_json",
    "renamed",
    "run",
    "scalar_map",
    "serialize_datetime",
    "status_of",
    "unprocessable",
]
