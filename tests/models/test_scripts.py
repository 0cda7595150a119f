import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.scripts import name_faults


@pytest.mark.parametrize("name", ["report.py", "a", "_x", "9-to-5.v2.sh", "A" * 128])
def test_good_names(name: str) -> None:
    assert name_faults(name) == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "is empty"),
        (".bashrc", "begins with a letter"),
        ("..", "begins with a letter"),
        ("-rf", "begins with a letter"),
        ("a/b.py", "one file name of letters"),
        ("a\\b.py", "one file name of letters"),
        ("a b.py", "one file name of letters"),
        ("a.py\n", "one file name of letters"),
        ("é.py", "one file name of letters"),
        ("a\x00.py", "NUL"),
        ("\ud800.py", "surrogate"),
        ("A" * 129, "has 129 characters; at most 128"),
    ],
)
def test_bad_names(name: str, reason: str) -> None:
    (fault,) = name_faults(name)
    assert reason in fault


@given(st.text())
def test_a_name_that_passes_is_one_plain_file(name: str) -> None:
    if not name_faults(name):
        assert name.isascii()
        assert not name.startswith((".", "-"))
        assert not set(name) & set("/\\ \t\r\n\"'$`")
