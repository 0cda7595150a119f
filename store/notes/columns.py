"""A note as every reader sees it."""

from store.display_paths import ARTIFACT_PATH

# The agent that wrote the text of artifacts AS a, or NULL for anybody else. Who moves a note has not written it.
WRITER = "coalesce(a.written_by_agent, CASE WHEN a.updated_by_kind = 'AGENT' THEN a.updated_by_id END)"

_FACTS = f"""a.id, {ARTIFACT_PATH} AS display_path, a.level, a.owner_id, a.key, {{content}} AS content, a.version,
    a.created_at, a.created_by_kind, a.created_by_id, a.created_by_name,
    a.updated_at, a.updated_by_kind, a.updated_by_id, a.updated_by_name"""

# From artifacts AS a; the second is for lists whose reader does not ask for the text, which may be long.
COLUMNS = _FACTS.format(content="a.content")
COLUMNS_WITHOUT_CONTENT = _FACTS.format(content="NULL::text")
