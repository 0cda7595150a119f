"""What of an answer is asked for, where leaving something out saves reading it."""

from collections.abc import Iterable, Iterator, Mapping

from graphql import FieldNode, FragmentDefinitionNode, FragmentSpreadNode, InlineFragmentNode, SelectionSetNode

from resolvers.context import Info


def asks_for(info: Info, name: str) -> bool:
    """Whether the field being resolved has a field of this GraphQL name selected directly below it, through fragments too."""
    return name in asked(info)


def asked(info: Info, *path: str) -> frozenset[str]:
    """The GraphQL names of the fields selected below the field being resolved, or below the fields that the path leads to from it."""
    raw = info._raw_info  # noqa: SLF001  # Strawberry's own view of a selection converts all of it, which costs more than it saves
    nodes: list[FieldNode] = raw.field_nodes
    for name in path:
        nodes = [node for node in _below(nodes, raw.fragments) if node.name.value == name]
    return frozenset(node.name.value for node in _below(nodes, raw.fragments))


def _below(nodes: Iterable[FieldNode], fragments: Mapping[str, FragmentDefinitionNode]) -> Iterator[FieldNode]:
    for node in nodes:
        yield from _fields(node.selection_set, fragments)


def _fields(selected: SelectionSetNode | None, fragments: Mapping[str, FragmentDefinitionNode]) -> Iterator[FieldNode]:
    for selection in selected.selections if selected is not None else ():
        if isinstance(selection, FieldNode):
            yield selection
        elif isinstance(selection, FragmentSpreadNode):
            yield from _fields(fragments[selection.name.value].selection_set, fragments)
        elif isinstance(selection, InlineFragmentNode):
            yield from _fields(selection.selection_set, fragments)
