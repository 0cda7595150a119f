"""The files of a mounted vault as they were last seen, so that each change of one is told once.

Revision 0003, after 0002.
"""

from alembic import op
import sqlalchemy as sa

revision = '0003'
down_revision = '0002'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('vault_files',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('display_path', sa.String(), nullable=False),
    sa.Column('digest', sa.LargeBinary(), nullable=True),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_by_kind', sa.String(), nullable=False),
    sa.Column('updated_by_id', sa.String(), nullable=False),
    sa.Column('updated_by_name', sa.String(), nullable=False),
    sa.PrimaryKeyConstraint('org_id', 'display_path')
    )


def downgrade() -> None:
    op.drop_table('vault_files')
