"""What of an answer is asked for, where leaving something out saves reading it."""

from collections.abc import Iterable, Iterator, Mapping

from graphql import FieldNode, FragmentDefinitionNode, FragmentSpreadNode, InlineFragmentNode

from resolvers.context import Info


def asks_for(info: Info, name: str) -> bool:
    """Whether the field being resolved has a field of this GraphQL name selected directly below it, through fragments too."""
    return name in asked(info)


def asked(info: Info, *path: str) -> frozenset[str]:
    """The GraphQL names of the fields selected below the field being resolved, or below the fields that the path leads to from it."""
    raw = info._raw_info  # noqa: SLF001  # Strawberry's own view of a selection converts all of it, which costs more than it saves
    nodes: Iterable[FieldNode] = raw.field_nodes
    for name in path:
        nodes = [node for node in fields_below(nodes, raw.fragments) if node.name.value == name]
    return frozenset(node.name.value for node in fields_below(nodes, raw.fragments))


def fields_below(nodes: Iterable[FieldNode], fragments: Mapping[str, FragmentDefinitionNode]) -> Iterator[FieldNode]:
    """Yield the fields selected directly below the nodes. Each fragment is visited once, however often and deeply it is spread."""
    seen: set[str] = set()
    waiting = [node.selection_set for node in nodes]
    while waiting:
        selected = waiting.pop()
        for selection in selected.selections if selected is not None else ():
            if isinstance(selection, FieldNode):
                yield selection
            elif isinstance(selection, InlineFragmentNode):
                waiting.append(selection.selection_set)
            elif isinstance(selection, FragmentSpreadNode) and (name := selection.name.value) not in seen:
                seen.add(name)
                waiting.append(fragments[name].selection_set)
