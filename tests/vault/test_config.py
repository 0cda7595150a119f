import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from vault.config import GitConfig, VaultConfig, load
from vault.errors import ConfigInvalid


def test_without_a_file_the_defaults_count(tmp_path: Path) -> None:
    assert load(tmp_path) == VaultConfig(7.0, 14.0, GitConfig(False, None, False, True, None), {}, {})
    with pytest.raises(FrozenInstanceError):
        load(tmp_path).scratch_days = 1.0  # type: ignore[misc]


def test_every_setting_is_read_and_unknown_ones_are_left_alone(tmp_path: Path) -> None:
    data = {
        "ttl": {"scratchDays": 1.5, "reviewDays": 30},
        "vaultGit": {"enabled": True, "remoteUrl": "git@host:x.git", "atomic": True, "autoCommit": False, "branch": "memory"},
        "projectAliases": {"local-x-12345678": "x"},
        "projects": {"x": {"ignorePaths": ["tmp/", "!tmp/keep"]}, "y": {"color": "red"}},
        "future": [1],
    }
    (tmp_path / "config.json").write_text("\ufeff" + json.dumps(data))
    assert load(tmp_path) == VaultConfig(
        1.5,
        30.0,
        GitConfig(True, "git@host:x.git", True, False, "memory"),
        {"local-x-12345678": "x"},
        {"x": ("tmp/", "!tmp/keep"), "y": ()},
    )


def test_all_problems_are_listed_without_the_values(tmp_path: Path) -> None:
    data = {
        "ttl": {"scratchDays": 0, "reviewDays": True},
        "vaultGit": {"enabled": "yes", "remoteUrl": "--upload-pack=x", "branch": 7},
        "projectAliases": {"a": "ok", "b": "../x"},
        "projects": {"x": [], "y": {"ignorePaths": "tmp"}},
    }
    (tmp_path / "config.json").write_text(json.dumps(data))
    with pytest.raises(ConfigInvalid) as caught:
        load(tmp_path)
    assert caught.value.problems == (
        "ttl.scratchDays: must be a number of days above 0 and at most 36500",
        "ttl.reviewDays: must be a number of days above 0 and at most 36500",
        "vaultGit.enabled: must be true or false",
        "vaultGit.remoteUrl: must be a text of one line that does not start with a dash",
        "vaultGit.branch: must be a text of one line that does not start with a dash",
        "projectAliases, entry 2: must name a project id (letters, digits, dots, dashes, underscores)",
        "projects, entry 1: must be an object",
        "projects, entry 2: ignorePaths must be a list of texts",
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "config.json is not JSON at line 1, column 2"),
        (b"[]", "config.json: must be an object"),
        (b"\xff", "config.json is not UTF-8"),
        (b'{"ttl": 3}', "ttl: must be an object"),
        (b'{"ttl": {"scratchDays": NaN}}', "ttl.scratchDays: must be a number of days above 0 and at most 36500"),
        (b"[" * 100_000, "config.json is not JSON"),
    ],
    ids=["cut", "list", "bytes", "number", "nan", "deep"],
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(ConfigInvalid) as caught:
        load(tmp_path)
    assert caught.value.problems == (problem,)
