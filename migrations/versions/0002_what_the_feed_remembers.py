"""What the feed remembers: where retention has pruned, and who could read a collection that was deleted.

Revision 0002, after 0001.
"""

from alembic import op
import sqlalchemy as sa

from models.tables.columns import Xid8

revision = '0002'
down_revision = '0001'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('feed_horizons',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('xid', Xid8(), nullable=False),
    sa.Column('id', sa.BigInteger(), nullable=False),
    sa.Column('rebased', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.PrimaryKeyConstraint('org_id')
    )
    op.create_table('departed_access',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('collection_id', sa.String(), nullable=False),
    sa.Column('subject_type', sa.String(), nullable=False),
    sa.Column('subject_id', sa.String(), nullable=False),
    sa.Column('mode', sa.String(), nullable=False),
    sa.PrimaryKeyConstraint('org_id', 'collection_id', 'subject_type', 'subject_id')
    )


def downgrade() -> None:
    op.drop_table('departed_access')
    op.drop_table('feed_horizons')
