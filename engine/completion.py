"""An executor that completes lists and objects of rows in one go where their selection is plain columns."""

from collections.abc import Awaitable
from typing import Any

from graphql import GraphQLList, GraphQLObjectType, GraphQLResolveInfo, get_named_type, get_nullable_type
from graphql.execution.collect_fields import FieldDetailsList
from graphql.pyutils import Path
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from engine.leaves import NotPlainError
from engine.plans import DocumentPlans, Found
from engine.room import Room


class RowExecutor(StrawberryGraphQLCoreExecutionContext):
    """Strawberry's executor; with the plans of the document at hand it reads rows through compiled functions.

    A plan only knows rows without surprises. Where it raises NotPlainError, the ordinary path completes the same value from the
    start, so that nulls, wrong values and errors come out as they would without plans. Each such value is counted.
    """

    def __init__(self, *args: Any, plans: DocumentPlans | None = None, room: Room | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.room = room
        # Middleware is to see every field, which a plan passes by.
        self.plans = None if self.middleware_manager else plans

    def complete_list_value(
        self,
        return_type: GraphQLList[Any],
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: Any,
    ) -> Any:
        """Complete a list, through a plan where there is one for its whole selection."""
        if self.room is not None and isinstance(result, list | tuple):
            self.room.take(len(result))
        found = self.plan(get_nullable_type(return_type.of_type), field_details_list)
        if found is not None and not found.rest:
            try:
                return found.plan.many(result)
            except NotPlainError:
                self._fall_back(return_type.of_type)
        return super().complete_list_value(return_type, field_details_list, info, path, result, position_context)

    def complete_object_value(
        self,
        return_type: GraphQLObjectType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: Any,
    ) -> Any:
        """Complete an object: its plain columns through a plan, the rest as usual."""
        found = self.plan(return_type, field_details_list)
        item = None
        if found is not None:
            try:
                item = found.plan.one(result)
            except NotPlainError:
                self._fall_back(return_type)
        if found is None or item is None:
            return super().complete_object_value(return_type, field_details_list, info, path, result, position_context)
        if not found.rest:
            return item
        rest: Any = self.execute_fields(return_type, result, path, found.rest, position_context)
        if self.is_awaitable(rest):
            return _merged(item, rest)
        item.update(rest)
        return item

    def _fall_back(self, type_: Any) -> None:
        if self.plans is not None:
            self.plans.fallbacks[get_named_type(type_).name] += 1

    def plan(self, type_: Any, field_details_list: FieldDetailsList) -> Found | None:
        """Return the plan for objects of a type under these field nodes; None where there is none."""
        if self.plans is None or not isinstance(type_, GraphQLObjectType) or type_.is_type_of is not None:
            return None
        return self.plans.find(self, type_, field_details_list)


async def _merged(item: dict[str, Any], rest: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    item.update(await rest)
    return item
