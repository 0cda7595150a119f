"""What of an answer is asked for, where leaving something out saves reading it."""

from collections.abc import Iterable, Mapping

from graphql import FieldNode, FragmentDefinitionNode, FragmentSpreadNode, InlineFragmentNode, SelectionSetNode

from resolvers.context import Info


def asks_for(info: Info, name: str) -> bool:
    """Whether the field being resolved has a field of this GraphQL name selected directly below it, through fragments too."""
    raw = info._raw_info  # noqa: SLF001  # Strawberry's own view of a selection converts all of it, which costs more than it saves
    return _has(name, [node.selection_set for node in raw.field_nodes], raw.fragments)


def _has(name: str, sets: Iterable[SelectionSetNode | None], fragments: Mapping[str, FragmentDefinitionNode]) -> bool:
    for selection in (selection for found in sets if found is not None for selection in found.selections):
        if isinstance(selection, FieldNode):
            if selection.name.value == name:
                return True
        elif isinstance(selection, InlineFragmentNode):
            if _has(name, [selection.selection_set], fragments):
                return True
        elif isinstance(selection, FragmentSpreadNode) and _has(name, [fragments[selection.name.value].selection_set], fragments):
            return True
    return False
