"""${message}

Revision ${up_revision}, after ${down_revision | comma,n}.
"""

from alembic import op
import sqlalchemy as sa
${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


# The environment sets lock_timeout to 5 s. A statement that must wait longer for a lock belongs in a maintenance window,
# and an index on a large table is made with `postgresql_concurrently=True` inside `op.get_context().autocommit_block()`.
def upgrade() -> None:
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    ${downgrades if downgrades else "pass"}
