import pytest
import sqlalchemy as sa
from sqlmodel import col

from models.tables import Guild, Membership
from store.database import Database
from store.sql import TEXTS, Shape, arg, columns, command, query
from tests.world import World


class Named(Shape):
    id: str
    name: str


_IN_ORG = col(Guild.org_id) == arg("org_id")


def test_parameters_are_numbered_by_name_and_constants_stand_in_the_text() -> None:
    statement = query(
        Named, sa.select(*columns(Guild, Named)).where(_IN_ORG, col(Guild.id).in_(["a", "it's"]), col(Guild.org_id) != arg("org_id"))
    )
    assert statement.names == ("org_id",)
    assert " ".join(statement.text.split()) == (
        "SELECT guilds.id, guilds.name FROM guilds "
        "WHERE guilds.org_id = $1::VARCHAR AND guilds.id IN ('a', 'it''s') AND guilds.org_id != $1::VARCHAR"
    )


@pytest.mark.parametrize(
    "selected", [(col(Guild.id),), (col(Guild.id), col(Guild.name), col(Guild.created_at)), (col(Guild.id), col(Guild.name).label("nmae"))]
)
def test_a_statement_whose_columns_are_not_its_shape_is_refused(selected: tuple[sa.ColumnElement[object], ...]) -> None:
    with pytest.raises(TypeError, match="Named declares"):
        query(Named, sa.select(*selected))


def test_an_attribute_that_is_no_column_is_refused() -> None:
    class Wrong(Shape):
        nmae: str

    with pytest.raises(KeyError):
        columns(Guild, Wrong)


@pytest.mark.parametrize("named", [{}, {"org": "x"}, {"org_id": "x", "id": "y"}])
def test_arguments_by_a_wrong_name_are_refused(named: dict[str, str]) -> None:
    with pytest.raises(TypeError, match=r"takes \['org_id'\]"):
        command(sa.select(col(Guild.id)).where(_IN_ORG)).arguments(named)


async def test_rows_carry_the_shape(db: Database, world: World) -> None:
    named = query(Named, sa.select(*columns(Guild, Named)).where(_IN_ORG, col(Guild.name) == sa.func.any(arg("names", TEXTS))))
    async with db.read() as reader:
        guild = await reader.row(named, org_id=world.operator.org_id, names=["no such guild"])
        assert guild is None
        with pytest.raises(RuntimeError):
            await reader.one(named, org_id=world.operator.org_id, names=[])


def test_an_insert_that_leaves_out_a_default_of_python_is_refused() -> None:
    with pytest.raises(TypeError, match="role"):
        command(sa.insert(Membership).values(org_id=arg("org_id"), user_id=arg("user_id"), created_at=arg("at")))
