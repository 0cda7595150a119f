"""A whole organisation out of one database and into another, so that it answers there as it did here."""

from store.backup.dump import LEFT_OUT, TABLES, columns_of, dump
from store.backup.restore import Part, restore

__all__ = ["LEFT_OUT", "TABLES", "Part", "columns_of", "dump", "restore"]
