"""The tables, and how words are indexed."""

from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from models.tables.columns import Xid8

revision = '0001'
down_revision = None
branch_labels = None
depends_on = None


# The environment sets lock_timeout to 5 s. A statement that must wait longer for a lock belongs in a maintenance window,
# and an index on a large table is made with `postgresql_concurrently=True` inside `op.get_context().autocommit_block()`.
# to_tsvector refuses a text whose lexemes take more than 1 MB, which a note within its cap can reach: its beginning is indexed then.
# A record is found by its number as well as by its values.
_WORDS = """
CREATE FUNCTION muniment_tsvector(number bigint, body text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN to_tsvector('pg_catalog.simple', coalesce(number || E'\\n', '') || body);
EXCEPTION WHEN program_limit_exceeded THEN
    RETURN to_tsvector('pg_catalog.simple', left(body, length(body) / 4));
END $$
"""


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    op.execute(_WORDS)
    op.create_table('file_changes',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('xid', Xid8(), server_default=sa.text('pg_current_xact_id()'), nullable=False),
    sa.Column('file_id', sa.String(), nullable=False),
    sa.Column('display_path', sa.String(), nullable=False),
    sa.Column('event_path', sa.String(), nullable=False),
    sa.Column('previous_path', sa.String(), nullable=True),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('operation', sa.String(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=True),
    sa.Column('level', sa.String(), nullable=True),
    sa.Column('owner_id', sa.String(), nullable=True),
    sa.Column('collection_id', sa.String(), nullable=True),
    sa.Column('actor_kind', sa.String(), nullable=False),
    sa.Column('actor_id', sa.String(), nullable=False),
    sa.Column('actor_name', sa.String(), nullable=False),
    sa.Column('run_id', sa.String(), nullable=True),
    sa.Column('tool_call_id', sa.String(), nullable=True),
    sa.Column('tool_name', sa.String(), nullable=True),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('org_id', 'id')
    )
    op.create_index('file_changes_by_age', 'file_changes', ['at'], unique=False)
    op.create_index('file_changes_by_path', 'file_changes', ['org_id', 'display_path', 'id'], unique=False)
    op.create_index('file_changes_by_previous', 'file_changes', ['org_id', 'previous_path'], unique=False, postgresql_where=sa.text('previous_path IS NOT NULL'))
    op.create_index('file_changes_by_run', 'file_changes', ['org_id', 'run_id', 'id'], unique=False, postgresql_where=sa.text('run_id IS NOT NULL'))
    op.create_index('file_changes_feed', 'file_changes', ['org_id', 'xid', 'id'], unique=False)
    op.create_table('idempotency_keys',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('caller_id', sa.String(), nullable=False),
    sa.Column('collection_id', sa.String(), nullable=False),
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('body_hash', sa.LargeBinary(), nullable=False),
    sa.Column('answer', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('org_id', 'caller_id', 'collection_id', 'key')
    )
    op.create_index('idempotency_keys_by_age', 'idempotency_keys', ['created_at'], unique=False)
    op.create_table('organisations',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('org_id')
    )
    op.create_table('guilds',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('deleted_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['org_id'], ['organisations.org_id'], ),
    sa.PrimaryKeyConstraint('org_id', 'id')
    )
    op.create_index('guilds_live_name', 'guilds', ['org_id', 'name'], unique=True, postgresql_where=sa.text('deleted_at IS NULL'))
    op.create_table('users',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['org_id'], ['organisations.org_id'], ),
    sa.PrimaryKeyConstraint('org_id', 'id')
    )
    op.create_table('agents',
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('created_by_kind', sa.String(), nullable=False),
    sa.Column('created_by_id', sa.String(), nullable=False),
    sa.Column('created_by_name', sa.String(), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_by_kind', sa.String(), nullable=False),
    sa.Column('updated_by_id', sa.String(), nullable=False),
    sa.Column('updated_by_name', sa.String(), nullable=False),
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('guild_id', sa.String(), nullable=True),
    sa.Column('read_guild', sa.Boolean(), server_default=sa.text('true'), nullable=False),
    sa.Column('read_org', sa.Boolean(), server_default=sa.text('true'), nullable=False),
    sa.Column('write_guild', sa.Boolean(), server_default=sa.text('true'), nullable=False),
    sa.Column('write_org', sa.Boolean(), server_default=sa.text('false'), nullable=False),
    sa.Column('task', sa.String(), server_default='', nullable=False),
    sa.Column('task_version', sa.Integer(), server_default='0', nullable=False),
    sa.Column('deleted_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['org_id', 'guild_id'], ['guilds.org_id', 'guilds.id'], ),
    sa.ForeignKeyConstraint(['org_id'], ['organisations.org_id'], ),
    sa.PrimaryKeyConstraint('org_id', 'id')
    )
    op.create_index('agents_by_guild', 'agents', ['org_id', 'guild_id'], unique=False)
    op.create_index('agents_live_name', 'agents', ['org_id', 'name'], unique=True, postgresql_where=sa.text('deleted_at IS NULL'))
    op.create_table('artifact_collections',
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('created_by_kind', sa.String(), nullable=False),
    sa.Column('created_by_id', sa.String(), nullable=False),
    sa.Column('created_by_name', sa.String(), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_by_kind', sa.String(), nullable=False),
    sa.Column('updated_by_id', sa.String(), nullable=False),
    sa.Column('updated_by_name', sa.String(), nullable=False),
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('purpose', sa.String(), nullable=False),
    sa.Column('columns', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('guild_id', sa.String(), nullable=True),
    sa.Column('next_id', sa.BigInteger(), server_default='1', nullable=False),
    sa.Column('record_count', sa.Integer(), server_default='0', nullable=False),
    sa.Column('revision', sa.BigInteger(), server_default='0', nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('deleted_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['org_id', 'guild_id'], ['guilds.org_id', 'guilds.id'], ),
    sa.ForeignKeyConstraint(['org_id'], ['organisations.org_id'], ),
    sa.PrimaryKeyConstraint('org_id', 'id')
    )
    op.create_index('collections_live_name', 'artifact_collections', ['org_id', 'name'], unique=True, postgresql_where=sa.text('deleted_at IS NULL'))
    op.create_table('memberships',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('user_id', sa.String(), nullable=False),
    sa.Column('role', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('ended_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['org_id', 'user_id'], ['users.org_id', 'users.id'], ),
    sa.PrimaryKeyConstraint('org_id', 'user_id')
    )
    op.create_table('artifacts',
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('created_by_kind', sa.String(), nullable=False),
    sa.Column('created_by_id', sa.String(), nullable=False),
    sa.Column('created_by_name', sa.String(), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_by_kind', sa.String(), nullable=False),
    sa.Column('updated_by_id', sa.String(), nullable=False),
    sa.Column('updated_by_name', sa.String(), nullable=False),
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('level', sa.String(), nullable=False),
    sa.Column('owner_id', sa.String(), nullable=False),
    sa.Column('key', sa.String(), nullable=False),
    sa.Column('content', sa.String(), nullable=True),
    sa.Column('collection_id', sa.String(), nullable=True),
    sa.Column('number', sa.BigInteger(), nullable=True),
    sa.Column('content_json', postgresql.JSONB(astext_type=sa.Text()), nullable=True),
    sa.Column('identity', sa.String(), nullable=True),
    sa.Column('identity_hash', sa.LargeBinary(), nullable=True),
    sa.Column('search_blob', sa.String(), nullable=True),
    sa.Column('search', postgresql.TSVECTOR(), sa.Computed("muniment_tsvector(number, search_blob)", persisted=True), nullable=True),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('deleted_at', sa.DateTime(timezone=True), nullable=True),
    sa.CheckConstraint("(kind = 'OBJECT') = (collection_id IS NOT NULL)", name='artifacts_records_have_a_collection'),
    sa.ForeignKeyConstraint(['org_id', 'collection_id'], ['artifact_collections.org_id', 'artifact_collections.id'], ),
    sa.PrimaryKeyConstraint('org_id', 'id')
    )
    op.create_index('artifacts_live_identity', 'artifacts', ['org_id', 'collection_id', 'identity_hash'], unique=True, postgresql_where=sa.text('deleted_at IS NULL'))
    op.create_index('artifacts_live_key', 'artifacts', ['org_id', 'owner_id', 'kind', 'key'], unique=True, postgresql_where=sa.text("deleted_at IS NULL AND kind <> 'OBJECT'"))
    op.create_index('artifacts_past_key', 'artifacts', ['org_id', 'owner_id', 'kind', 'key', 'version'], unique=False, postgresql_where=sa.text("kind <> 'OBJECT'"))
    op.create_index('artifacts_record', 'artifacts', ['org_id', 'collection_id', 'number'], unique=True, postgresql_where=sa.text("kind = 'OBJECT'"))
    op.create_index('artifacts_record_updated', 'artifacts', ['org_id', 'collection_id', 'updated_at'], unique=False, postgresql_where=sa.text("deleted_at IS NULL AND kind = 'OBJECT'"))
    op.create_index('artifacts_substrings', 'artifacts', ['search_blob'], unique=False, postgresql_using='gin', postgresql_ops={'search_blob': 'gin_trgm_ops'}, postgresql_where=sa.text('deleted_at IS NULL'))
    op.create_index('artifacts_words', 'artifacts', ['search'], unique=False, postgresql_using='gin', postgresql_where=sa.text('deleted_at IS NULL'))
    op.create_table('collection_access',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('collection_id', sa.String(), nullable=False),
    sa.Column('subject_type', sa.String(), nullable=False),
    sa.Column('subject_id', sa.String(), nullable=False),
    sa.Column('mode', sa.String(), nullable=False),
    sa.CheckConstraint("mode IN ('READ', 'WRITE') OR (mode = 'NONE' AND subject_type = 'AGENT')", name='collection_access_modes'),
    sa.ForeignKeyConstraint(['org_id', 'collection_id'], ['artifact_collections.org_id', 'artifact_collections.id'], ),
    sa.PrimaryKeyConstraint('org_id', 'collection_id', 'subject_type', 'subject_id')
    )
    op.create_index('collection_access_by_subject', 'collection_access', ['org_id', 'subject_id'], unique=False)
    op.create_table('memory_revisions',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('agent_id', sa.String(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('stamp', sa.String(), nullable=False),
    sa.Column('source', sa.String(), nullable=False),
    sa.Column('content', sa.String(), nullable=False),
    sa.Column('saved_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('saved_by_kind', sa.String(), nullable=False),
    sa.Column('saved_by_id', sa.String(), nullable=False),
    sa.Column('saved_by_name', sa.String(), nullable=False),
    sa.ForeignKeyConstraint(['org_id', 'agent_id'], ['agents.org_id', 'agents.id'], ),
    sa.PrimaryKeyConstraint('org_id', 'agent_id', 'version')
    )
    op.create_table('schedules',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('agent_id', sa.String(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('instruction', sa.String(), nullable=False),
    sa.Column('previous_run_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('deleted_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['org_id', 'agent_id'], ['agents.org_id', 'agents.id'], ),
    sa.PrimaryKeyConstraint('org_id', 'id')
    )
    op.create_index('schedules_live_name', 'schedules', ['org_id', 'agent_id', 'name'], unique=True, postgresql_where=sa.text('deleted_at IS NULL'))
    op.create_table('task_revisions',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('agent_id', sa.String(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('source', sa.String(), nullable=False),
    sa.Column('content', sa.String(), nullable=False),
    sa.Column('saved_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('saved_by_kind', sa.String(), nullable=False),
    sa.Column('saved_by_id', sa.String(), nullable=False),
    sa.Column('saved_by_name', sa.String(), nullable=False),
    sa.ForeignKeyConstraint(['org_id', 'agent_id'], ['agents.org_id', 'agents.id'], ),
    sa.PrimaryKeyConstraint('org_id', 'agent_id', 'version')
    )
    op.create_table('tokens',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('secret_hash', sa.LargeBinary(), nullable=False),
    sa.Column('user_id', sa.String(), nullable=True),
    sa.Column('agent_id', sa.String(), nullable=True),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('last_used_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.CheckConstraint('(user_id IS NULL) <> (agent_id IS NULL)', name='tokens_one_bearer'),
    sa.ForeignKeyConstraint(['org_id', 'agent_id'], ['agents.org_id', 'agents.id'], ),
    sa.ForeignKeyConstraint(['org_id', 'user_id'], ['users.org_id', 'users.id'], ),
    sa.PrimaryKeyConstraint('org_id', 'id')
    )
    op.create_index('tokens_by_secret', 'tokens', ['secret_hash'], unique=False)
    op.create_table('runs',
    sa.Column('org_id', sa.String(), nullable=False),
    sa.Column('id', sa.String(), nullable=False),
    sa.Column('agent_id', sa.String(), nullable=False),
    sa.Column('guild_id', sa.String(), nullable=True),
    sa.Column('schedule_id', sa.String(), nullable=True),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('status', sa.String(), nullable=False),
    sa.Column('routine', sa.String(), nullable=True),
    sa.Column('started_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('finished_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['org_id', 'agent_id'], ['agents.org_id', 'agents.id'], ),
    sa.ForeignKeyConstraint(['org_id', 'guild_id'], ['guilds.org_id', 'guilds.id'], ),
    sa.ForeignKeyConstraint(['org_id', 'schedule_id'], ['schedules.org_id', 'schedules.id'], ),
    sa.PrimaryKeyConstraint('org_id', 'id')
    )
    op.create_index('runs_by_agent', 'runs', ['org_id', 'agent_id', 'started_at'], unique=False)


def downgrade() -> None:
    op.drop_table('runs')
    op.drop_table('tokens')
    op.drop_table('task_revisions')
    op.drop_table('schedules')
    op.drop_table('memory_revisions')
    op.drop_table('collection_access')
    op.drop_table('artifacts')
    op.drop_table('memberships')
    op.drop_table('artifact_collections')
    op.drop_table('agents')
    op.drop_table('users')
    op.drop_table('guilds')
    op.drop_table('organisations')
    op.drop_table('idempotency_keys')
    op.drop_table('file_changes')
    op.execute("DROP FUNCTION muniment_tsvector(bigint, text)")
