"""Everything that can be followed."""

from collections.abc import AsyncIterator

import strawberry

from resolvers import subscription as resolvers
from schema.fields import subscription
from schema.files import FileChange


@strawberry.type(description="Everything that can be followed.")
class Subscription:
    file_changes: AsyncIterator[FileChange] = subscription(
        resolver=resolvers.file_changes,
        description="Every change that the caller may see, as it happens. With `after` everything since that cursor first, then live: nothing lost, "
        "nothing twice. `paths`, `prefix`, `kinds` and `runId` narrow together.",
    )
