"""Everything that can be changed."""

import strawberry

from resolvers import agent_files, collections, directory, grants, notes, records
from schema.access import CollectionAccess
from schema.collections import Collection, RecordAddManyResult, RecordAddResult, RecordRemoveResult, RecordUpdateResult
from schema.directory import Agent, Guild, Routine, Run, Wakeup
from schema.fields import mutation
from schema.files import FileChange, Memory, Note, Script, Task
from schema.vault import VaultMutation


@strawberry.type(description="Everything that can be changed. A refused change changes nothing.")
class Mutation(VaultMutation):
    note_write: Note = mutation(
        resolver=notes.write,
        description="Create or replace a note. An operator names the owner of a guild's or agent's note; an agent never does. "
        "expectedVersion guards against a change in between; 0 means only if there is none.",
    )
    note_delete: FileChange = mutation(resolver=notes.delete, description="Delete a note that no live task embeds.")
    record_add: RecordAddResult = mutation(
        resolver=records.add,
        description="Add a record, or patch the live record with the same unique value. The same idempotencyKey and body again within 24 hours "
        "answer as before and write nothing.",
    )
    record_update: RecordUpdateResult = mutation(
        resolver=records.update, description="Patch a record: the columns present change, null clears an optional one."
    )
    record_remove: RecordRemoveResult = mutation(resolver=records.remove, description="Remove a record; its id is not used again.")
    record_add_many: RecordAddManyResult = mutation(
        resolver=records.add_many,
        description="Add up to 500 records, all or none. Problems are listed with their index; dryRun writes nothing and tells the same.",
    )
    memory_write: Memory = mutation(
        resolver=agent_files.memory_write, description="Replace an agent's memory; the previous version is archived."
    )
    script_write: Script = mutation(resolver=agent_files.script_write, description="Create or replace a script of an agent.")
    script_delete: FileChange = mutation(resolver=agent_files.script_delete, description="Delete a script.")

    note_move: Note = mutation(resolver=notes.move, description="Move a note to another key, level or owner; for operators.")
    task_save: Task = mutation(resolver=agent_files.task_save, description="Save an agent's standing task; for operators.")
    memory_restore: Memory = mutation(
        resolver=agent_files.memory_restore, description="Make a previous version of a memory the present one; for operators."
    )
    collection_create: Collection = mutation(resolver=collections.create, description="Create a table; for operators.")
    collection_update: Collection = mutation(
        resolver=collections.update,
        description="Change a table; what is left out stays. Columns are replaced as a whole, and the records follow in the same transaction. "
        "guildId null moves the table to the organisation. For operators.",
    )
    collection_delete: FileChange = mutation(
        resolver=collections.delete, description="Delete a table with its records and its grants; for operators."
    )
    collection_clear: int = mutation(
        resolver=collections.clear, description="Remove every record of a table and keep the table; how many there were. For operators."
    )
    grant_set: CollectionAccess = mutation(
        resolver=grants.set_grant, description="Set a guild's or an agent's grant on a table; mode null removes it. For operators."
    )
    guild_create: Guild = mutation(resolver=directory.guild_create, description="Create a guild; for operators.")
    guild_delete: bool = mutation(
        resolver=directory.guild_delete, description="Delete a guild with its notes and tables; its agents stay. For operators."
    )
    agent_create: Agent = mutation(resolver=directory.agent_create, description="Create an agent; for operators.")
    agent_update: Agent = mutation(
        resolver=directory.agent_update,
        description="Change an agent; what is left out stays, guildId null leaves the guild. For operators.",
    )
    agent_delete: bool = mutation(
        resolver=directory.agent_delete,
        description="Delete an agent with its own notes, memory and scripts, and end its tokens; for operators.",
    )
    run_start: Run = mutation(resolver=directory.run_start, description="Start a run of an agent; for operators.")
    run_finish: Run = mutation(resolver=directory.run_finish, description="End a run with its status; for operators.")
    routine_save: Routine = mutation(
        resolver=directory.routine_save, description="Create a routine of an agent, or change its instruction; for operators."
    )
    routine_delete: bool = mutation(resolver=directory.routine_delete, description="Delete a routine; for operators.")
    routine_fire: Wakeup = mutation(
        resolver=directory.routine_fire,
        description="Start a run of a routine and note the time, so that the next one knows it. For operators.",
    )
