from tests.conformance.mapping import PAGE, page
from tests.conformance.test_doors import CASES
from tests.docs.test_reference import anchors


def test_the_map_is_that_of_the_table() -> None:
    assert PAGE.read_text() == page(), "run `python -m tests.conformance.mapping`"


def test_every_section_is_one_of_the_documentation() -> None:
    assert {f"#{case.section}" for case in CASES} <= anchors(PAGE.parent / "concepts.md")
