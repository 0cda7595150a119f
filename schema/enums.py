"""The closed sets of values, as clients see them."""

from enum import EnumMeta

import strawberry

from models import kinds
from models.caller import ActorKind

_DESCRIPTIONS: dict[EnumMeta, str] = {
    kinds.NoteLevel: "Whose a note is: one agent's, a guild's or the organisation's.",
    kinds.ColumnType: "What a column's values are.",
    kinds.CollectionScope: "Whether a table belongs to the organisation or to one guild.",
    kinds.AccessMode: "What is allowed on a table; WRITE implies READ, NONE is an explicit refusal.",
    kinds.SubjectType: "Who a grant is for.",
    ActorKind: "Who wrote: a person, an agent, or the product itself.",
    kinds.FileKind: "What sort of file a change is about.",
    kinds.FileOperation: "What a change did to its file.",
    kinds.SortDirection: "Which end of an order comes first.",
}

for _enum, _description in _DESCRIPTIONS.items():
    strawberry.enum(_enum, description=_description)
