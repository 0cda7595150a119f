"""Samples are joined from pieces, so that no scanner takes this file for a leak."""

from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings
from hypothesis import given
from hypothesis import strategies as st

from vault.errors import SecretFound
from vault.secrets import _RULES as RULES
from vault.secrets import Finding, _assignments, assert_no_secrets, kinds_in, scan

R = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6"

CHOSEN = [
    "DB_PASSWORD=", "password=", "password: ", "**Password**: ", "**Password:** ", "SMTP_PASS=",
    "psql --pwd=", '{"passphrase": ', "PGPASSWORD = "
]  # fmt: skip

# Kind, text, and whether detect-secrets knows it as well.
SAMPLES = [
    ("private key", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIB", True),
    ("private key", "-----BEGIN " + "PRIVATE KEY-----", True),
    ("private key", "-----BEGIN OPENSSH " + "PRIVATE KEY-----", True),
    ("private key", "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----", True),
    ("private key", "PuTTY-User-" + "Key-File-2: ssh-rsa", True),
    ("AWS key id", "AKIA" + "Q7W3E5R7T9Y1U3I5", True),
    ("AWS key id", "ASIA" + "Q7W3E5R7T9Y1U3I5", True),
    ("GitHub token", "ghp_" + R[:36], True),
    ("GitHub token", "gho_" + R[:36], True),
    ("GitHub token", "ghs_" + R[:36], True),
    ("GitHub token", "github_" + "pat_" + R[:22] + "_" + R[:40], False),
    ("GitLab token", "glpat-" + R[:20], True),
    ("Slack token", "xoxb-" + "123456789012-123456789012-" + R[:24], True),
    ("Slack webhook", "https://hooks.slack." + "com/services/T0AB12CD3/B0AB12CD3/" + R[:24], True),
    ("Stripe key", "sk_" + "live_" + R[:24], True),
    ("Stripe key", "rk_" + "test_" + R[:24], False),
    ("Google key", "AIza" + R[:35], False),
    ("OpenAI key", "sk-" + R[:20] + "T3Blbk" + "FJ" + R[20:40], True),
    ("OpenAI key", "sk-" + "proj-" + R[:48], False),
    ("Anthropic key", "sk-" + "ant-api03-" + R[:48], False),
    ("npm token", "npm_" + R[:36], False),
    ("PyPI token", "pypi-" + "AgEIcHlwaS5vcmc" + R + R, True),
    ("Hugging Face token", "hf_" + R[:34], False),
    ("SendGrid key", "SG." + R[:22] + "." + R[:43], True),
    ("Muniment token", "mun_" + R[:32], False),
    ("age key", "AGE-" + "SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", False),
    ("GitLab token", "GR13" + "48941" + R[:20], True),
    ("Slack token", "xapp-" + "1-A0B1C2D3E4F-1234567890-" + "ab" * 20, False),
    ("Discord webhook", "https://discord.com/api/" + "webhooks/123456789012345678/" + R, False),
    ("Stripe key", "whsec" + "_" + R[:32], False),
    ("Google key", "GOCSPX" + "-" + R[:28], False),
    ("DigitalOcean token", "dop_" + "v1_" + "0123456789abcdef" * 4, False),
    ("Shopify token", "shp" + "at_" + "0123456789abcdef" * 2, False),
    ("Databricks token", "dapi" + "0123456789abcdef" * 2, False),
    ("Vault token", "hvs" + "." + R[:24], False),
    ("Mailchimp key", "0123456789abcdef" * 2 + "-us" + "12", False),
    ("Twilio key", "SK" + "0123456789abcdef" * 2, False),
    ("Telegram token", "123456789:" + "AA" + R[:33], True),
    ("JWT", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NSJ9." + R[:43], True),
    ("bearer token", "Authorization: Bearer " + R[:25], False),
    ("bearer token", "bearer " + "abcdefghijklmnopqrstuvwxy", False),
    ("basic authentication", "Authorization: Basic " + "dXNlcjpwYXNzd29yZDE=", False),
    ("password in a URL", "postgres://app:" + "hunter2@db:5432/app", True),
    ("password in a URL", "https://:" + "s3cr3t@example.org/x", False),
    ("assigned secret", "pass" + 'word = "' + R[:16] + '"', True),
    ("assigned secret", "const api" + "Key: '" + R[:20] + "'", True),
    ("assigned secret", '{"client_' + 'secret": "' + R[:20] + '"}', True),
    ("assigned secret", "DB_PASS" + "WORD=" + R[:16], False),
    ("assigned secret", "aws_secret_" + "access_key = wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYzzz9Qkey", False),
    ("assigned secret", "pass" + 'word = "correct-horse-battery-staple"', True),
    *(
        ("assigned secret", f"{key}{value}", False)
        for key, value in zip(CHOSEN, ("hunter2" * 2, "Tr0ub4dor&3xyz", "zebra77lemon") * 3, strict=False)
    ),
]

CLEAN = [
    "Use a token bucket per caller; the password policy asks for sixteen characters.",
    "password = os.environ['DATABASE_PASSWORD_OF_APP']",
    'api_key="<your-api-key-goes-here>"',
    'api_key = "your-api-key-goes-here"',
    "token: ${{ secrets.DEPLOY_TOKEN_2024 }}",
    "DB_PASSWORD=${DB_PASSWORD_FROM_VAULT_1}",
    "Authorization: Bearer ${ACCESS_TOKEN_FROM_LOGIN_2}",
    "https://example.org:8080/path@2x.png and git@github.com:acme/widget.git",
    "postgres://app:${PASSWORD}@db/app",
    "secret_name: projects/acme/secrets/database",
    "tokenizer = AutoTokenizer.from_pretrained(model_name_2)",
    "password = user2.password_of_db1",
    "password: base64encoded, then sha256sum of it",
    "POSTGRES_PASSWORD=password123 and ADMIN_PASSWORD: changeme2024",
    "password_file: secrets2024.txt",
    "Password: `<8to64characters>` or password=$DB_PASS_1",
    "see task-1234567890123456789012 and sk-learn",
    "sha256:" + "0123456789abcdef" * 4,
    "commit " + "0123456789abcdef0123456789abcdef01234567",
    "550e8400-e29b-41d4-a716-446655440000",
    "-----BEGIN CERTIFICATE-----",
    "npm_config_registry=https://registry.npmjs.org/",
    "",
]


@pytest.mark.parametrize(("kind", "text", "known"), SAMPLES, ids=[f"{n}-{s[0]}" for n, s in enumerate(SAMPLES)])
def test_a_planted_secret_is_found_wherever_it_stands(kind: str, text: str, known: bool) -> None:
    assert kind in set(kinds_in(text))
    assert kind in set(kinds_in(f"# Title\n\nSome prose, then `{text}` in ticks, pragma: allowlist secret\n"))
    if known:
        with transient_settings({"plugins_used": [{"name": name} for name in PLUGINS]}):
            assert [found.type for line in text.splitlines() for found in scan_line(line)] != []


PLUGINS = (
    *("ArtifactoryDetector", "AWSKeyDetector", "BasicAuthDetector", "GitHubTokenDetector", "GitLabTokenDetector", "JwtTokenDetector"),
    *("KeywordDetector", "OpenAIDetector", "PrivateKeyDetector", "PypiTokenDetector", "SendGridDetector", "SlackDetector"),
    *("StripeDetector", "TelegramBotTokenDetector"),
)


def test_every_rule_has_a_sample() -> None:
    unmatched = [rule.kind for rule in RULES if not any(rule.pattern.now.search(text) for _, text, _ in SAMPLES)]
    assert unmatched == []


@pytest.mark.parametrize("text", CLEAN)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert list(kinds_in(text)) == []


def _documentation() -> Iterator[Path]:
    for distribution in distributions():
        for file in distribution.files or ():
            if file.suffix in (".md", ".rst") or file.name == "METADATA":
                yield Path(str(distribution.locate_file(file)))


def test_hardly_any_real_documentation_is_refused() -> None:
    texts = [path.read_text("utf-8", "replace") for path in _documentation() if path.is_file()]
    flagged = [text for text in texts if any(kinds_in(text))]
    assert len(texts) > 100
    assert len(flagged) * 50 < len(texts)


def test_every_string_at_any_depth_counts_and_keys_too() -> None:
    secret = "ghp_" + R[:36]
    value = {"a": [{"b": ("x", {secret})}], secret: 1, "c": secret.encode(), "d": {"clean": "text"}}
    assert scan(value, "details") == [
        Finding("GitHub token", "details.c"),
        Finding("GitHub token", "details"),
        Finding("GitHub token", "details.a.b"),
    ]


@pytest.mark.parametrize("key", ["password", "api_key", "clientSecret", "AUTH_TOKEN"])
def test_a_key_that_says_secret_makes_its_value_one(key: str) -> None:
    assert scan({key: R[:16]}, "frontmatter") == [Finding("assigned secret", f"frontmatter.{key}")]
    assert scan({key: [R[:16]]}, "frontmatter") == [Finding("assigned secret", f"frontmatter.{key}")]
    assert scan({key: 1234567890123456}, "frontmatter") == [Finding("assigned secret", f"frontmatter.{key}")]
    assert scan({key: "short", "other": R[:16]}, "frontmatter") == []


def test_a_short_value_counts_under_the_key_of_a_password_only() -> None:
    value = "hunter2" + "hunter2"
    assert scan({"db": {"password": [value]}, "token": value}, "details") == [Finding("assigned secret", "details.db.password")]
    assert [*kinds_in(f'password: "{value}"'), *kinds_in(f"password = '{value}'")] == ["assigned secret", "assigned secret"]


@pytest.mark.parametrize("piece", ["password=", "password='", "token=x/", "secret: ", "_pass=", "api", "pwd :=\t"])
def test_values_do_not_overlap_so_that_any_text_takes_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    # Beyond the separator and a long key, each character is looked at as a part of one value.
    assert sum(len(match.group("bare") or match.group("value")) for match in _assignments(text, text.lower())) <= len(text)


def test_the_refusal_names_context_and_kinds_and_never_the_value() -> None:
    secret = "AKIA" + "Q7W3E5R7T9Y1U3I5"
    with pytest.raises(SecretFound) as caught:
        assert_no_secrets("body", "fine", f"{secret} and ghp_{R[:36]}", {secret: "x"})
    assert caught.value.message == "body holds what looks like a secret (AWS key id, GitHub token); nothing was written"
    assert caught.value.kinds == ("AWS key id", "GitHub token")
    assert secret not in repr(caught.value)
    assert_no_secrets("body", "fine", None, 7, {"a": ["b"]})


def test_a_structure_that_holds_itself_or_is_very_deep_ends() -> None:
    ring: list[object] = ["text"]
    ring.append(ring)
    deep: object = "ghp_" + R[:36]
    for _ in range(50_000):
        deep = [deep]
    assert scan(ring, "details") == []
    assert scan(deep, "details") == [Finding("GitHub token", "details")]


@pytest.mark.parametrize("piece", ["token=", "xoxb-", "eyJ", "://a:", "github_pat_", "SG.", "-----BEGIN ", "a", "token" + " " * 50])
def test_megabytes_made_to_be_slow_end(piece: str) -> None:
    body = piece * (2_000_000 // len(piece))
    assert "AWS key id" in set(kinds_in(body + " AKIA" + "Q7W3E5R7T9Y1U3I5"))


@given(st.text(max_size=200), st.text(max_size=200), st.sampled_from([text for _, text, _ in SAMPLES[:10]]))
def test_surroundings_do_not_hide_a_secret(before: str, after: str, secret: str) -> None:
    assert list(kinds_in(f"{before}\n{secret}\n{after}")) != []
