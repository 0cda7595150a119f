"""scripts/setup on a small project of its own: real virtual environments, a lock without packages."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/setup"
BACKEND = """
import zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.writestr("tiny.py", "")
        wheel.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n")
        wheel.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("tiny-1.dist-info/RECORD", "")
    return name
"""
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "tiny"\nversion = "1"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose path has a space, not set up yet."""
    root = tmp_path / "a project"
    (root / "scripts").mkdir(parents=True)
    shutil.copy(SCRIPT, root / "scripts/setup")
    (root / "backend.py").write_text(BACKEND)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "requirements.lock").touch()
    (root / "requirements-dev.lock").touch()
    return root


def begin(project: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [project / "scripts/setup", *arguments],
        cwd="/",
        env={**os.environ, "PYTHONPATH": "/nowhere", "VIRTUAL_ENV": "/nowhere", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def setup(project: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    process = begin(project, *arguments, **environment)
    output, errors = process.communicate()
    return process.returncode, output, errors


def steps(errors: str) -> list[str]:
    return [line.split()[1] for line in errors.splitlines()]


def installed(project: Path) -> bool:
    return subprocess.run([project / ".venv/bin/python", "-c", "import tiny"], check=False, stderr=subprocess.DEVNULL).returncode == 0


def programs(folder: Path, **scripts: str) -> str:
    """A PATH with the standard tools and these scripts in place of any Python."""
    folder.mkdir()
    for tool in ("sh", "dirname", "cksum", "cat", "ln", "rm", "ps", "readlink", "sleep"):
        found = shutil.which(tool)
        assert found is not None
        (folder / tool).symlink_to(found)
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return str(folder)


def test_it_installs_once_and_is_silent_afterwards(project: Path) -> None:
    (project / ".venv.lock").symlink_to(str(os.getpid()))  # left by a killed one whose number is now another's
    code, output, errors = setup(project)
    assert (code, output, steps(errors)) == (0, "", ["making", "installing", "done"])
    assert installed(project)
    assert setup(project) == (0, "", "")


def test_a_changed_lock_is_installed_and_a_moved_project_set_up_anew(project: Path) -> None:
    assert setup(project)[0] == 0
    (project / "requirements.lock").write_text("# changed\n")
    assert steps(setup(project)[2]) == ["installing", "done"]
    assert steps(setup(project, "dev")[2]) == ["installing", "done"]
    assert setup(project) == (0, "", "")  # what dev needs contains it
    moved = project.rename(project.with_name("moved"))
    assert steps(setup(moved)[2]) == ["making", "installing", "done"]
    assert installed(moved)


@pytest.mark.parametrize("moment", ["making", "installing"])
def test_a_killed_one_is_made_good_by_the_next(project: Path, moment: str) -> None:
    process = begin(project)
    assert process.stderr is not None
    while f"setup: {moment}" not in process.stderr.readline():
        time.sleep(0)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    code, _, errors = setup(project)
    assert (code, steps(errors)) == (0, ["making", "installing", "done"])
    assert installed(project)
    assert not (project / ".venv.lock").is_symlink()


def test_a_failed_installation_fails_and_leaves_no_stamp(project: Path) -> None:
    (project / "requirements.lock").write_text("nonsense without a hash\n")
    code, _, errors = setup(project)
    assert code != 0
    assert "ERROR" in errors
    assert list(project.glob(".venv/.setup-*")) == []
    assert not (project / ".venv.lock").is_symlink()


def test_two_at_once_make_one_environment(project: Path) -> None:
    both = [begin(project), begin(project)]
    errors = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(step for text in errors for step in steps(text) if step != "waiting") == ["done", "installing", "making"]
    assert installed(project)


def test_without_a_python_that_is_new_enough_it_says_what_to_install(project: Path, tmp_path: Path) -> None:
    code, output, errors = setup(project, PATH=programs(tmp_path / "bin", python3="exit 1"))
    assert (code, output) == (1, "")
    assert errors.startswith("setup: Python 3.11 or later is needed")
    assert "sudo apt install python3 python3-venv" in errors
    assert not (project / ".venv").exists()
    assert not (project / ".venv.lock").is_symlink()


def test_without_ensurepip_it_names_the_package(project: Path, tmp_path: Path) -> None:
    python = 'case "$2" in *ensurepip*) exit 1 ;; *print*) echo 3.12 ;; esac'
    code, _, errors = setup(project, PATH=programs(tmp_path / "bin", python3=python))
    assert (code, errors.splitlines()[1]) == (1, "setup: On Debian and Ubuntu: sudo apt install python3.12-venv")
    assert not (project / ".venv").exists()


def test_an_unknown_argument_is_refused(project: Path) -> None:
    assert setup(project, "all") == (2, "", "usage: scripts/setup [dev]\n")
    assert not (project / ".venv").exists()
