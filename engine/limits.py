"""What a GraphQL document may ask for at most."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one document; each is checked before anything of it runs.

    `aliases` and `fields` count what is written in the document, `root_fields` and `depth` follow fragments; introspection has
    a depth rule of its own. `nodes` bounds the objects that an operation may ask for: the value of a `limit` argument multiplies
    what stands below it, a list without one counts as `list_size` objects. Limits given by variables are counted when the
    operation is executed. What lists turn out to hold is counted against `nodes` as well, while the answer is made. `answer_bytes`
    bounds the answer before it is written as JSON. `cached_bytes` bounds what is kept of documents, and as much of how
    their rows are completed.
    """

    depth: int = 12
    aliases: int = 50
    fields: int = 300
    tokens: int = 4_000
    characters: int = 100_000
    root_fields: int = 20
    nodes: int = 20_000
    list_size: int = 10
    answer_bytes: int = 33_554_432
    cached_bytes: int = 33_554_432
