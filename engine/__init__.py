"""Runs GraphQL documents over rows: fast on plain columns, bounded against abuse. It knows nothing of Muniment.

`columns` says how types read rows, `schema.EngineSchema` builds the schema, `execute.run` answers a POST, `view.EngineView` has the
other doors (it needs Starlette and is imported by its own name).
"""

from engine.columns import column, embedded, raw_json
from engine.encoding import dumps, loads
from engine.errors import Log, Present, Presented, RefusedError, present, status_of, unprocessable
from engine.execute import Answer, EndBy, Engine, run
from engine.limits import Limits
from engine.scalars import parse_datetime, scalar_map, serialize_datetime
from engine.schema import EngineSchema, Turn

__all__ = [
    "Answer",
    "EndBy",
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
    "raw_json",
    "run",
    "scalar_map",
    "serialize_datetime",
    "status_of",
    "unprocessable",
]
