"""Strawberry's makers of fields, for types of which rows are returned.

A client sees these types; resolvers return rows whose attributes the types name. Strawberry's own signatures would have mypy demand
instances of the types, which nothing here ever makes.
"""

from typing import Any

import strawberry

field: Any = strawberry.field
mutation: Any = strawberry.mutation
subscription: Any = strawberry.subscription
