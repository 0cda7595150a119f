from typing import Any

import pytest

from server.settings import SettingsError, read


def refusal(**options: Any) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        read(**options)
    heading, *problems = str(refused.value).splitlines()
    assert heading == "the settings are not right"
    return problems


def test_every_setting_that_is_wrong_is_told_at_once_and_none_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {
        "database_url": "mysql://secret",
        "broadcast_url": "amqp://secret",
        "host": "",
        "port": "70000",
        "workers": "0",
        "production": "maybe",
        "jwt_secret": "secret",
        "rate_limit": "inf",
        "operation_timeout": "nan",
        "max_depth": "secret",
        "log_level": "loud",
        "log_format": "xml",
    }
    for name, value in wrong.items():
        monkeypatch.setenv(f"MUNIMENT_{name.upper()}", value)
    assert refusal() == [
        "- MUNIMENT_DATABASE_URL: must begin with postgresql://, postgres://",
        "- MUNIMENT_BROADCAST_URL: must begin with memory://, postgresql://, postgres://, redis://, rediss://",
        "- MUNIMENT_HOST: must have at least 1 character",
        "- MUNIMENT_PORT: must be less than or equal to 65535",
        "- MUNIMENT_WORKERS: must be greater than 0",
        "- MUNIMENT_PRODUCTION: must be 1 or 0",
        "- MUNIMENT_JWT_SECRET: must have 32 bytes or more",
        "- MUNIMENT_RATE_LIMIT: must be a finite number",
        "- MUNIMENT_OPERATION_TIMEOUT: must be less than or equal to 86400",
        "- MUNIMENT_MAX_DEPTH: must be a valid integer",
        "- MUNIMENT_LOG_LEVEL: must be debug, info, warning or error",
        "- MUNIMENT_LOG_FORMAT: must be json, console, or auto: console on a terminal",
    ]


def test_several_workers_need_a_bell_that_reaches_them() -> None:
    told = "MUNIMENT_BROADCAST_URL memory:// reaches one process only; with several use postgresql:// or redis://"
    assert refusal(workers=2, broadcast_url="memory://") == [f"- MUNIMENT_WORKERS: {told}"]
    assert read(workers=2, broadcast_url="redis://localhost").workers == 2


@pytest.mark.parametrize(
    "origin", ["*", "null", "https://*.example.org", "console.example.org", "https://a.example/page", "https://a@b.example"]
)
def test_only_origins_are_allowed_origins(origin: str) -> None:
    told = f"- MUNIMENT_ALLOWED_ORIGINS: must list origins such as https://console.example.org; {origin} is none"
    assert refusal(allowed_origins=f"https://ops.example, {origin}") == [told]
    listed = read(allowed_origins="https://Ops.example:8443/, http://[::1]:5173").allowed_origins
    assert listed == ("https://ops.example:8443", "http://[::1]:5173")


@pytest.mark.parametrize("seconds", ["inf", "86401", "-1", "0"])
def test_a_time_has_bounds(seconds: str) -> None:
    (problem,) = refusal(operation_timeout=seconds)
    assert problem.startswith("- MUNIMENT_OPERATION_TIMEOUT: must be ")
