from models.kinds import AccessMode, SubjectType
from resolvers.context import Info
from resolvers.inputs import ID
from store import grants
from store.database import Row


async def of_collection(root: Row, info: Info) -> list[Row]:
    info.context.operator("the list of a table's grants")
    found: list[Row] = await info.context.load.grants_of_collection.load(root.id)
    return found


async def of_guild(root: Row, info: Info) -> list[Row]:
    info.context.operator("a guild's access to tables")
    found: list[Row] = await info.context.load.access_of_guild.load(root.id)
    return found


async def of_agent(root: Row, info: Info) -> list[Row]:
    info.context.operator_or_agent(root.id, "access to tables")
    found: list[Row] = await info.context.load.access_of_agent.load(root.id)
    return found


async def set_grant(info: Info, collection_id: ID, subject_type: SubjectType, subject_id: ID, mode: AccessMode | None = None) -> Row:
    return await grants.set_grant(
        info.context.db, info.context.caller, collection_id=collection_id, subject_type=subject_type, subject_id=subject_id, mode=mode
    )
