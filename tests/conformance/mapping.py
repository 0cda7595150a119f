"""docs/conformance.md: which cases show each section of our documentation; `python -m tests.conformance.mapping` writes it anew."""

from collections import defaultdict
from pathlib import Path

from tests.conformance.test_doors import CASES, DOORS, offered

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "conformance.md"
_HEAD = """# Conformance

Each case below is tried through every door that offers its operation: the operations themselves, GraphQL, REST and MCP. A door that
answers otherwise fails the tests (`tests/conformance`). Sections are those of [concepts](concepts.md).
"""


def page() -> str:
    """The page, as the table of cases has it."""
    sections: dict[str, list[str]] = defaultdict(list)
    for case in CASES:
        doors = ", ".join(door.name for door in DOORS if offered(case, door))
        sections[case.section].append(f"- {case.name} ({doors})")
    parts = [
        f"## [{section.replace('-', ' ').capitalize()}](concepts.md#{section})\n\n" + "\n".join(cases)
        for section, cases in sections.items()
    ]
    return "\n\n".join([_HEAD.strip(), f"{len(CASES)} cases.", *parts]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
