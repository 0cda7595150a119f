"""Programs of other makers that tests run for real."""

import os
import shutil

import pytest

_PACKAGES = {"redis-server": "redis-server (Debian) or redis (Homebrew)", "chromium": "chromium (Debian, Homebrew)"}


def program(name: str) -> str:
    """The path of a program; scripts/test installs it where it may. Elsewhere the test is skipped, but never where CI is set."""
    found = shutil.which(name)
    if found is None:
        message = f"{name} is not installed; it comes with the package {_PACKAGES[name]}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found
