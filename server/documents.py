"""The operations that pages send, as they stand in `frontend-queries/`: one named operation a file, fragments shared between them."""

from difflib import get_close_matches
from functools import cache
from pathlib import Path

from graphql import DocumentNode, FragmentDefinitionNode, FragmentSpreadNode, Visitor, parse, visit

from models.errors import NotFound
from models.text import printable

FOLDER = Path(__file__).resolve().parent.parent / "frontend-queries"


class _Spreads(Visitor):
    """Collects the fragments that a document names, in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, None] = {}

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: object) -> None:
        self.names[node.name.value] = None


@cache
def documents() -> dict[str, str]:
    """Each operation's text by its name, with the fragments that it needs, directly or by others."""
    fragments = _fragments()
    return {file.stem: _complete(file.read_text(), fragments) for file in sorted(FOLDER.glob("*.graphql"))}


def document(name: str) -> str:
    """One operation's text. Raises NotFound, which names the nearest operation."""
    known = documents()
    if name not in known:
        near = get_close_matches(name, known, 1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "`muniment queries` lists them"
        raise NotFound(f"unknown operation {printable(name)[:80]}; {hint}")
    return known[name]


def heads() -> list[str]:
    """The first line of each operation: what it is, its name and its variables."""
    return [" ".join(text.partition("{")[0].split()) for text in documents().values()]


def _fragments() -> dict[str, str]:
    found: dict[str, str] = {}
    for file in sorted((FOLDER / "fragments").glob("*.graphql")):
        text = file.read_text()
        for node in parse(text).definitions:
            if isinstance(node, FragmentDefinitionNode) and node.loc is not None:
                found[node.name.value] = text[node.loc.start : node.loc.end]
    return found


def _complete(text: str, fragments: dict[str, str]) -> str:
    """The text and every fragment that it reaches, each once. Raises KeyError for a fragment that there is not."""
    parts: dict[str, str] = {}
    waiting = _spreads(parse(text))
    while waiting:
        name = waiting.pop(0)
        if name not in parts:
            parts[name] = fragments[name]
            waiting += _spreads(parse(fragments[name]))
    return "\n\n".join([text.strip(), *parts.values()]) + "\n"


def _spreads(document: DocumentNode) -> list[str]:
    found = _Spreads()
    visit(document, found)
    return list(found.names)
