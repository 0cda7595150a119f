"""Index the words of any text in a time that grows with its length.

Revision 0004, after 0003.
"""

from alembic import op

revision = '0004'
down_revision = '0003'
branch_labels = None
depends_on = None


# PostgreSQL's parser tries long runs without a blank as paths, hosts and URLs, and comments that nobody closes, again from each of
# their characters: 256 KB of base64 took minutes. So runs are cut where no word that anybody looks for would be, and comments are text.
# As before, to_tsvector refuses lexemes of more than 1 MB in all, which a note within its cap can reach: its beginning is indexed then.
_WORDS = r"""
CREATE OR REPLACE FUNCTION muniment_tsvector(number bigint, body text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
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

_WORDS_BEFORE = r"""
CREATE OR REPLACE FUNCTION muniment_tsvector(number bigint, body text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN to_tsvector('pg_catalog.simple', coalesce(number || E'\n', '') || body);
EXCEPTION WHEN program_limit_exceeded THEN
    RETURN to_tsvector('pg_catalog.simple', left(body, length(body) / 4));
END $$
"""


def upgrade() -> None:
    op.execute(_WORDS)


def downgrade() -> None:
    op.execute(_WORDS_BEFORE)
