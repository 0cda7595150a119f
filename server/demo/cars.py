"""The public data set of the demo, out of the package vega-datasets if that is there."""

import importlib.util
import json
from pathlib import Path
from typing import Any

_PACKAGE = "vega_datasets"
_FIELDS = {
    "Name": "name",
    "Origin": "origin",
    "Cylinders": "cylinders",
    "Horsepower": "horsepower",
    "Miles_per_Gallon": "miles_per_gallon",
    "Displacement": "displacement",
    "Weight_in_lbs": "weight",
    "Acceleration": "acceleration",
}


def bodies() -> list[dict[str, Any]] | None:
    """Some four hundred cars of the years 1970 to 1982, or None without the package."""
    # The package itself is not imported: it would bring in pandas, and take a second.
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        return None
    file = Path(found.origin).parent / "_data" / "cars.json"
    return [_body(row) for row in json.loads(file.read_text())] if file.is_file() else None


def _body(row: dict[str, Any]) -> dict[str, Any]:
    body = {column: row[name] for name, column in _FIELDS.items() if row[name] is not None}
    return {**body, "year": f"{row['Year']}T00:00:00Z"}
