"""A vault of files that hold an index entry as JSON, so that the index is tested without the record format."""

import json
from dataclasses import asdict
from pathlib import Path

from vault.index import Index, IndexEntry
from vault.scan import RecordKey


class FileVault:
    """Writes entries to files as an editor would: nothing tells the index of it."""

    def __init__(self, root: Path, fingerprint: str = "") -> None:
        self.root = root
        self.loaded: list[RecordKey] = []
        self.index = Index(root, self.load, fingerprint)

    def load(self, key: RecordKey) -> IndexEntry | None:
        self.loaded.append(key)
        try:
            data = json.loads(key.path(self.root).read_text())
        except (OSError, ValueError):
            return None
        data |= {"key": key, "tags": tuple(data["tags"]), "path_patterns": tuple(data["path_patterns"])}
        return IndexEntry(**data)

    def write(self, slug: str, body: str, *, project: str = "p", subdir: str = "traps", **fields: object) -> IndexEntry:
        entry = self.entry(slug, body, project=project, subdir=subdir, **fields)
        path = entry.key.path(self.root)
        path.parent.mkdir(parents=True, exist_ok=True)
        data = asdict(entry)
        del data["key"]
        path.write_text(json.dumps(data))
        return entry

    @staticmethod
    def entry(slug: str, body: str, *, project: str = "p", subdir: str = "traps", **fields: object) -> IndexEntry:
        defaults: dict[str, object] = {
            "record_id": slug,
            "kind": "trap",
            "status": "active",
            "title": "",
            "created": "2026-01-01T00:00:00.000Z",
            "updated": "2026-01-02T00:00:00.000Z",
        }
        return IndexEntry(key=RecordKey(project, subdir, slug), body=body, **(defaults | fields))
