"""Records from and to files: CSV and JSON, parsed, inferred, imported in one transaction, and written out piece by piece."""

from store.transfer.exporting import export_collection, export_lines
from store.transfer.importing import ImportResult, LineProblem, NewTable, import_into
from store.transfer.inference import Inference, infer
from store.transfer.parsing import ParsedRow, Reading, count_rows, parse, require_room
from store.transfer.source import Format, format_of

__all__ = [
    "Format",
    "ImportResult",
    "Inference",
    "LineProblem",
    "NewTable",
    "ParsedRow",
    "Reading",
    "count_rows",
    "export_collection",
    "export_lines",
    "format_of",
    "import_into",
    "infer",
    "parse",
    "require_room",
]
