"""Index the words of notes and records as the program cuts them, and keep the parts of their search text apart.

Revision 0005, after 0004.
"""

import json

from alembic import op
import sqlalchemy as sa

from models import columns as dialect
from models import identity, words

revision = '0005'
down_revision = '0004'
branch_labels = None
depends_on = None

_BATCH = 500
_RECORDS = """SELECT a.org_id, a.id, a.content_json::text AS body, k.columns::text AS columns FROM artifacts a
    JOIN artifact_collections k ON k.org_id = a.org_id AND k.id = a.collection_id
    WHERE a.kind = 'OBJECT' AND a.deleted_at IS NULL AND a.id > :last ORDER BY a.id LIMIT :batch"""
_NOTES = """SELECT org_id, id, key, content FROM artifacts
    WHERE kind = 'NOTE' AND deleted_at IS NULL AND id > :last ORDER BY id LIMIT :batch"""
_STORE = sa.text("""UPDATE artifacts SET search_blob = :blob, search = CAST(:search AS tsvector), search_words = :search_words
    WHERE org_id = :org_id AND id = :id""")
_WORDS_BEFORE = r"""
CREATE FUNCTION muniment_tsvector(number bigint, body text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    words text := coalesce(number || E'\n', '') || replace(body, '<!--', '< !--');
BEGIN
    IF length(words) >= 255 AND words ~ '[[:alnum:]_./~+-]{255}' THEN
        words := regexp_replace(words, '([[:alnum:]_./~+-]{255})', '\1 ', 'g');
    END IF;
    RETURN to_tsvector('pg_catalog.simple', words);
EXCEPTION WHEN program_limit_exceeded THEN
    RETURN to_tsvector('pg_catalog.simple', left(words, length(words) / 4));
END $$
"""


def _record_blob(row: sa.Row) -> str:
    return identity.search_blob(dialect.load(row.columns), json.loads(row.body))


def _note_blob(row: sa.Row) -> str:
    return identity.note_blob(row.key, row.content)


# One batch after another, so that a large database is never held in memory.
def _index(statement, blob_of) -> None:
    connection, last = op.get_bind(), ''
    while rows := connection.execute(sa.text(statement), {'last': last, 'batch': _BATCH}).all():
        stored = []
        for row in rows:
            blob = blob_of(row)
            indexed = words.index(blob)
            stored.append(
                {'org_id': row.org_id, 'id': row.id, 'blob': blob, 'search': indexed.vector, 'search_words': indexed.words}
            )
        connection.execute(_STORE, stored)
        last = rows[-1].id


def upgrade() -> None:
    op.drop_index('artifacts_words', 'artifacts')
    op.execute("ALTER TABLE artifacts ALTER COLUMN search DROP EXPRESSION")
    op.execute("DROP FUNCTION muniment_tsvector(bigint, text)")
    op.add_column('artifacts', sa.Column('search_words', sa.String(), nullable=True))
    _index(_RECORDS, _record_blob)
    _index(_NOTES, _note_blob)
    op.create_index(
        'artifacts_words', 'artifacts', ['search'], postgresql_using='gin', postgresql_where=sa.text('deleted_at IS NULL')
    )


def downgrade() -> None:
    op.execute(_WORDS_BEFORE)
    op.drop_column('artifacts', 'search_words')
    op.drop_column('artifacts', 'search')
    op.execute(
        "ALTER TABLE artifacts ADD COLUMN search tsvector GENERATED ALWAYS AS (muniment_tsvector(number, search_blob)) STORED"
    )
    op.create_index(
        'artifacts_words', 'artifacts', ['search'], postgresql_using='gin', postgresql_where=sa.text('deleted_at IS NULL')
    )
