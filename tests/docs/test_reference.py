"""The documentation says what the code says, names everything, and leads nowhere that there is nothing."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from models import errors
from models.errors import MunimentError
from models.tables import __all__ as tables
from server import body  # noqa: F401  # its refusals are in the tree as well
from server.errors import Masked
from tests.docs.reference import PARTS, ROOT, pages, renewed

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *pages()]
_LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_what_is_read_off_the_code_is_up_to_date(page: Path) -> None:
    assert page.read_text() == renewed(page.read_text()), "run `python -m tests.docs.reference`"


def test_every_part_stands_somewhere() -> None:
    everything = "".join(page.read_text() for page in pages())
    assert [name for name in PARTS if f"<!-- begin {name} -->" not in everything] == []


def subclasses(root: type[MunimentError]) -> Iterator[type[MunimentError]]:
    yield root
    for found in root.__subclasses__():
        yield from subclasses(found)


def test_every_code_is_explained_with_its_status() -> None:
    page = (ROOT / "docs/errors.md").read_text()
    assert Masked in set(subclasses(errors.MunimentError))
    for error in subclasses(errors.MunimentError):
        if error.status in {400, 405, 413, 415}:
            assert str(error.status) in page
        elif error is not MunimentError:
            assert f"| {error.code} | {error.status} |" in page


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text()), re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in _LINK.findall(_FENCE.sub("", page.read_text())):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), f"{target}{anchor}"


def test_every_attack_names_a_test_that_exists() -> None:
    tables = re.findall(r"^\| attack .*\n\|-.*\n((?:\|.*\n)+)", (ROOT / "docs/security.md").read_text(), re.MULTILINE)
    rows = [row for table in tables for row in table.splitlines()]
    assert rows
    for row in rows:
        names = re.findall(r"`(tests/\S+\.py)::(test_\w+)`", row)
        assert names, f"no test in: {row}"
        for file, name in names:
            assert f"def {name}(" in (ROOT / file).read_text(), f"{file}::{name}"


def test_the_distribution_by_organisation_names_every_table() -> None:
    from sqlmodel import SQLModel

    assert tables
    page = (ROOT / "docs/deployment.md").read_text()
    assert [name for name in SQLModel.metadata.tables if f"'{name}'" not in page] == []
