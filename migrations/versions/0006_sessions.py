"""Sessions of browsers, and the codes that open them.

Revision 0006, after 0005.
"""

from alembic import op
import sqlalchemy as sa

revision = '0006'
down_revision = '0005'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('sign_in_codes',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('secret_hash', sa.LargeBinary(), nullable=False),
    sa.Column('user_id', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('used_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['org_id', 'user_id'], ['users.org_id', 'users.id'], ),
    sa.PrimaryKeyConstraint('org_id', 'id')
    )
    op.create_index('sign_in_codes_by_secret', 'sign_in_codes', ['secret_hash'], unique=False)
    op.create_table('sessions',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('secret_hash', sa.LargeBinary(), nullable=False),
    sa.Column('user_id', sa.String(), nullable=False),
    sa.Column('token_id', sa.String(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('last_used_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('ended_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['org_id', 'token_id'], ['tokens.org_id', 'tokens.id'], ),
    sa.ForeignKeyConstraint(['org_id', 'user_id'], ['users.org_id', 'users.id'], ),
    sa.PrimaryKeyConstraint('org_id', 'id')
    )
    op.create_index('sessions_by_secret', 'sessions', ['secret_hash'], unique=False)


def downgrade() -> None:
    op.drop_table('sessions')
    op.drop_table('sign_in_codes')
