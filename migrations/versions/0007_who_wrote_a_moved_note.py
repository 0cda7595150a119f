"""Who wrote the text of a note that somebody else has moved.

Revision 0007, after 0006.
"""

from alembic import op
import sqlalchemy as sa

revision = '0007'
down_revision = '0006'
branch_labels = None
depends_on = None

# The change before the move says who wrote the text; where it is gone, whoever created the note counts as its writer.
_FILL = """
UPDATE artifacts a SET written_by_agent = coalesce(
    (SELECT CASE WHEN c.actor_kind = 'AGENT' THEN c.actor_id END FROM file_changes c
        WHERE c.org_id = a.org_id AND c.kind = 'NOTE' AND c.operation <> 'MOVE' AND c.display_path = m.previous_path AND c.at <= m.at
        ORDER BY c.at DESC LIMIT 1),
    CASE WHEN a.created_by_kind = 'AGENT' THEN a.created_by_id END)
FROM file_changes m
WHERE a.kind = 'NOTE' AND a.updated_by_kind <> 'AGENT' AND a.deleted_at IS NULL
    AND m.org_id = a.org_id AND m.file_id = a.id AND m.operation = 'MOVE' AND m.version = a.version
"""


def upgrade() -> None:
    op.add_column('artifacts', sa.Column('written_by_agent', sa.String(), nullable=True))
    op.execute(_FILL)


def downgrade() -> None:
    op.drop_column('artifacts', 'written_by_agent')
