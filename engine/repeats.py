"""Whether an operation's answer may hold the same value many times."""

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
)

from engine.plans import reader_of

Place = tuple[SelectionSetNode, GraphQLNamedType | None, bool]
"""A selection, the type that it is made on, and whether it stands within a list."""


def may_repeat(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) -> bool:
    """Whether a value that is read once may be written many times: by an alias, or by items of a list that share an object.

    Where it may not, the answer is about as large as what was read for it.
    """
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    seen: set[tuple[str, bool]] = set()
    waiting: list[Place] = [(operation.selection_set, schema.get_root_type(operation.operation), False)]
    while waiting:
        selected, parent, in_list = waiting.pop()
        for selection in selected.selections:
            if isinstance(selection, FieldNode):
                below = _below(selection, parent, in_list=in_list)
                if below is None:
                    return True
                waiting += below
            elif isinstance(selection, InlineFragmentNode):
                condition = selection.type_condition
                waiting.append((selection.selection_set, schema.get_type(condition.name.value) if condition else parent, in_list))
            elif isinstance(selection, FragmentSpreadNode) and (key := (selection.name.value, in_list)) not in seen:
                seen.add(key)
                fragment = fragments[key[0]]
                waiting.append((fragment.selection_set, schema.get_type(fragment.type_condition.name.value), in_list))
    return False


def _below(node: FieldNode, parent: GraphQLNamedType | None, *, in_list: bool) -> list[Place] | None:
    """Return what is selected below a field; None where the field may repeat a value."""
    if node.alias is not None:
        return None
    field = getattr(parent, "fields", {}).get(node.name.value)
    if field is None:
        # Introspection; its names alone stand in the answer.
        return None if node.selection_set else []
    named = get_named_type(field.type)
    if node.selection_set is None or is_leaf_type(named):
        return []
    if in_list and reader_of(field) is None:
        return None
    return [(node.selection_set, named, in_list or is_list_type(get_nullable_type(field.type)))]
