"""Finds credentials in what is about to be written.

A fixed table of compiled rules: every rule is anchored or of bounded length, so that a text of any size takes linear
time, and none can be switched off by the text. Placeholders in documentation are told apart where the form allows it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from vault.errors import SecretFound


@dataclass(frozen=True, slots=True)
class Finding:
    """One suspicious text: `kind` of credential and `where` it stands, never the text."""

    kind: str
    where: str


class _Expression:
    """A regular expression, compiled when it is first needed: a call meets few of them."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source, self._flags = source, flags

    @cached_property
    def now(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self._source, self._flags)


@dataclass(frozen=True, slots=True)
class _Rule:
    """`hints`: lower-case pieces, one of which any match holds. The groups value, bare and password may be placeholders."""

    kind: str
    hints: tuple[str, ...]
    pattern: _Expression


def _rule(kind: str, hints: str, pattern: str) -> _Rule:
    return _Rule(kind, tuple(hints.split()), _Expression(pattern))


_START = r"(?<![A-Za-z0-9])"
# Beginnings that are common inside longer names, such as `my-sk-…`.
_ALONE = r"(?<![A-Za-z0-9_-])"
# A real token has a digit; words joined by dashes have none.
_DIGIT = r"(?=[A-Za-z_-]{0,60}+\d)"
# What people choose is shorter than what machines make.
_CHOSEN_KEY = r"(?i:passw(?:or)?d|passphrase|pwd|(?<=[_-])pass)"
_KEYWORD = r"(?i:secret|token|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|auth[_-]?key|credentials?)"
_ASSIGNED = (
    rf"(?:(?P<chosen>{_CHOSEN_KEY}[\d_]{{0,8}}(?![\w.-]))|{_CHOSEN_KEY}|{_KEYWORD})[\w.-]{{0,40}}+"
    r"[\"']?\]?\*{0,2}[ \t]{0,20}+(?::=|=>|==?|:)\*{0,2}[ \t]{0,20}+"
)

_RULES = (
    _rule("private key", "private putty-user-key", r"-----? ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-----?|PuTTY-User-Key-File-\d"),
    _rule("age key", "age-secret-key-", r"AGE-SECRET-KEY-1[A-Z0-9]{20}"),
    _rule("AWS key id", "akia asia abia acca", _START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _rule("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", _START + r"gh[pousr]_[A-Za-z0-9]{30}"),
    _rule("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22}"),
    _rule("GitLab token", "gl", _START + r"gl(?:pat|dt|ft|soat|rt|cbt|ptt|imt|agent|oas)-(?:[0-9a-fA-F]{2}_)?[A-Za-z0-9_-]{20}"),
    _rule("GitLab token", "gr1348941", r"GR1348941[A-Za-z0-9_-]{20}"),
    _rule("Slack token", "xox", _START + r"xox[abceoprs]-" + _DIGIT + r"[A-Za-z0-9-]{10}"),
    _rule("Slack token", "xapp-", _START + r"xapp-\d-[A-Z0-9]{8,20}-\d"),
    _rule("Slack webhook", "hooks.slack.com", r"(?i:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/)[A-Za-z0-9_/-]{20}"),
    _rule("Discord webhook", "/api/webhooks/", r"(?i:discord(?:app)?\.com/api/webhooks/)\d{15,22}/[A-Za-z0-9_-]{30}"),
    _rule("Stripe key", "_live_ _test_", _START + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16}"),
    _rule("Stripe key", "whsec_", _START + r"whsec_[A-Za-z0-9+/=]{24}"),
    _rule("Google key", "aiza", _START + r"AIza[0-9A-Za-z_-]{35}"),
    _rule("Google key", "gocspx- ya29.", _START + r"(?:GOCSPX-[0-9A-Za-z_-]{20}|ya29\.[0-9A-Za-z_-]{20})"),
    _rule("Anthropic key", "sk-ant-", _ALONE + r"sk-ant-[A-Za-z0-9_-]{20}"),
    _rule("OpenAI key", "sk-", _ALONE + r"sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20}|(?=[A-Za-z]{0,60}+\d)[A-Za-z0-9]{20})"),
    _rule("npm token", "npm_", _START + r"npm_[A-Za-z0-9]{30}"),
    _rule("PyPI token", "pypi-ag", r"pypi-Ag[A-Za-z0-9_-]{30}"),
    _rule("Hugging Face token", "hf_ api_org_", _START + r"(?:hf|api_org)_[A-Za-z0-9]{30}"),
    _rule("SendGrid key", "sg.", _START + r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16}"),
    _rule("Muniment token", "mun_", _ALONE + r"mun_" + _DIGIT + r"[A-Za-z0-9_-]{24}"),
    _rule("DigitalOcean token", "do", _START + r"do[opr]_v1_[a-f0-9]{32}"),
    _rule("Shopify token", "shp", _START + r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _rule("Databricks token", "dapi", _START + r"dapi[a-f0-9]{32}"),
    _rule("Vault token", "hvs. hvb.", _START + r"hv[sb]\.[A-Za-z0-9_-]{24}"),
    _rule("Telegram token", ":aa", r"(?<!\d)\d{8,10}:AA[0-9A-Za-z_-]{32}"),
    _rule("Mailchimp key", "-us", _START + r"[0-9a-f]{32}-us\d{1,2}(?!\w)"),
    _rule("Twilio key", "sk", _START + r"SK[0-9a-f]{32}(?![0-9A-Za-z])"),
    _rule("JWT", "eyj", _ALONE + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8}"),
    _rule("bearer token", "bearer", r"(?i:\bbearer)[ \t:]{1,8}(?P<value>[A-Za-z0-9._~+/=-]{25,})"),
    _rule("basic authentication", "basic", r"(?i:authorization[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?basic)[ \t]{1,8}[A-Za-z0-9+/]{12}"),
    _rule("password in a URL", "://", r"://[^\s/?#:@\"'<>`]{0,256}:(?P<password>[^\s/?#@\"'<>`]{1,256})@[\w\[]"),
)

_ASSIGNMENT = _Expression(
    _ASSIGNED
    # Neither kind of value holds what ends a key, so that values do not overlap and a text of keys alone takes linear time.
    + r"(?:[rbuf]{0,2}(?P<quote>[\"'`])(?P<value>[^\s\"'`]{8,512})(?P=quote)"
    + r"|(?P<bare>[A-Za-z0-9+/_.~!@#%^&*-]{8,512}+={0,2})(?![A-Za-z0-9(\[{<$:]))"
)
# The beginnings of keys in lower case: looking for them first is many times faster than the expression.
_STEMS = ("pass", "pwd", "secret", "token", "api", "access", "private", "account", "auth", "credential")

# What stands in documentation instead of a value: a template, a mask, or a word that says so.
_PLACEHOLDER = _Expression(
    r"[<>{}]|\$\(|^\$|^%|\*{3}|\.{3}|…|[xX]{6}|://"
    r"|(?:^|[-_.])(?:your?|my|example|sample|placeholder|change(?:me)?|replace(?:me)?|dummy|fake|redacted|insert|here|test(?:ing)?)(?:$|[-_.])",
    re.IGNORECASE,
)
_NAMES = _Expression(r"[~./@]{0,3}[A-Za-z_]+(?:[-./:_][A-Za-z_]+)*[/.]?")
_TEMPLATE = _Expression(r"^[$%{<\[(*.x]|\*{3}|\.{3}|\$\{|\{\{", re.IGNORECASE)
_DIGITS = _Expression(r"\d")
_KEY = _Expression(rf"(?P<chosen>{_CHOSEN_KEY})|{_KEYWORD}")
# Of short values: what guides write instead of a password, and words with digits of their own.
_SAMPLE = _Expression(
    r"p[a@4][s5$]{2}|secret|s3cr3t|change|example|sample|dummy|test|admin|user|12345|abc123|qwerty|foo|bar", re.IGNORECASE
)
_TECHNICAL = _Expression(
    r"base(?:16|32|58|64|85)|sha\d*|md[45]|utf-?(?:8|16|32)|argon2(?:id|i|d)?|bcrypt|scrypt|pbkdf2|oauth[12]?|x509|pkcs\d*|rfc\d+|ed25519|rsa\d*"
    r"|aes\d*|hmac\d*|ipv[46]|http[123]|tls\d*|k8s|i18n|l10n|s3|ec2|u?int\d+|float\d+|char\d+|v\d+|win(?:32|64)|x86|arm64|es\d+|neo4j|log4j|h2",
    re.IGNORECASE,
)
_PLAIN_KEY = _Expression(r"[A-Za-z_][A-Za-z0-9_-]{0,31}")
_SHORTEST = 16
_SHORTEST_CHOSEN = 8
_SHORTEST_PIECE = 6


def scan(value: object, context: str) -> list[Finding]:
    """Every finding in the strings of `value`, at any depth, keys included; `context` names the value."""
    found: dict[Finding, None] = {}
    for where, kind in _walk(value, context):
        found[Finding(kind, where)] = None
    return list(found)


def assert_no_secrets(context: str, *values: object) -> None:
    """Raises SecretFound, naming the context and the kinds, if any value holds a credential."""
    findings = [finding for value in values for finding in scan(value, context)]
    if findings:
        where = dict.fromkeys(finding.where for finding in findings)
        raise SecretFound(", ".join(where), (finding.kind for finding in findings))


def shown(text: str) -> str:
    """Return a name from outside as JSON text for a message, or a word in its place if it may be a credential."""
    return "(hidden: it looks like a secret)" if any(kinds_in(text)) else json.dumps(text, ensure_ascii=False)


def kinds_in(text: str) -> Iterator[str]:
    """The kinds of credentials that a text holds, once per rule."""
    lowered = text.lower()
    for rule in _RULES:
        if any(hint in lowered for hint in rule.hints) and any(_is_real(match) for match in rule.pattern.now.finditer(text)):
            yield rule.kind
    if any(_is_real(match) for match in _assignments(text, lowered)):
        yield "assigned secret"


def _assignments(text: str, lowered: str) -> Iterator[re.Match[str]]:
    if len(lowered) != len(text):  # a few letters change their length in lower case, so that positions differ
        yield from _ASSIGNMENT.now.finditer(text)
        return
    for stem in _STEMS:
        at = lowered.find(stem)
        while at >= 0:
            match = _ASSIGNMENT.now.match(text, at)
            if match:
                yield match
            at = lowered.find(stem, at + len(stem))


def _is_real(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    if (password := groups.get("password")) is not None:
        return _TEMPLATE.now.search(password) is None
    bare, value = groups.get("bare"), groups.get("value")
    if (text := bare or value) is None:
        return True
    if len(text) < _SHORTEST:
        return groups.get("chosen") is not None and _looks_chosen(text)
    return _looks_random(text) if bare else _looks_assigned(text)


def _looks_assigned(value: str) -> bool:
    """A quoted value counts unless it is a placeholder or a name (of a variable, a file, a header)."""
    if _PLACEHOLDER.now.search(value):
        return False
    name = _NAMES.now.fullmatch(value) is not None and re.search(r"[./:_]", value) is not None
    return not name


def _looks_chosen(value: str) -> bool:
    """A short value counts if it mixes letters and digits, beyond those of words and samples, in one piece."""
    if not _DIGITS.now.search(value) or _PLACEHOLDER.now.search(value) or _SAMPLE.now.search(value):
        return False
    rest = _TECHNICAL.now.sub(" ", value)
    pieces = re.split(r"[-_./:\s]", rest)
    return any(len(piece) >= _SHORTEST_PIECE and re.search(r"[A-Za-z]", piece) and re.search(r"\d", piece) for piece in pieces)


def _looks_random(value: str) -> bool:
    """A value without quotes may be code or prose: it counts if a piece of it mixes letters and digits."""
    if not _DIGITS.now.search(value) or _PLACEHOLDER.now.search(value):
        return False
    pieces = re.split(r"[-_./=]", value)
    return any(
        len(piece) >= _SHORTEST_PIECE and re.search(r"[A-Za-z]", piece) is not None and re.search(r"\d", piece) is not None
        for piece in pieces
    )


def _walk(value: object, where: str) -> Iterator[tuple[str, str]]:
    """(where, kind) of all findings; a stack instead of recursion, as depth is the sender's choice."""
    stack: list[tuple[object, str, str]] = [(value, where, "")]
    seen: set[int] = set()
    while stack:
        item, place, named = stack.pop()
        if isinstance(item, Mapping | list | tuple | set | frozenset):
            if id(item) not in seen:  # YAML aliases make the same object appear many times, or inside itself
                seen.add(id(item))
                stack.extend(_children(item, place, named))
            continue
        text = _text(item)
        if not text:
            continue
        for kind in kinds_in(text):
            yield place, kind
        if named and not re.search(r"\s", text) and _is_value_of(named, text):
            yield place, "assigned secret"


def _is_value_of(key: str, text: str) -> bool:
    if len(text) >= _SHORTEST:
        return _looks_assigned(text)
    found = _KEY.now.search(key)
    return len(text) >= _SHORTEST_CHOSEN and found is not None and found.group("chosen") is not None and _looks_chosen(text)


def _children(item: object, where: str, named: str) -> Iterator[tuple[object, str, str]]:
    if not isinstance(item, Mapping):
        assert isinstance(item, list | tuple | set | frozenset)  # noqa: S101 - narrows for the type checker
        yield from ((child, where, named) for child in item)
        return
    for key, child in item.items():
        text = _text(key)
        yield text, where, ""
        # A key is shown only if it is short and cannot be a credential itself.
        shown = f"{where}.{text}" if _PLAIN_KEY.now.fullmatch(text) and not any(kinds_in(text)) else where
        yield child, shown, text if _KEY.now.search(text) else ""


def _text(item: object) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, bytes | bytearray):
        return bytes(item).decode("latin-1")
    # Python refuses to write integers of more than 4,300 digits.
    return str(item) if isinstance(item, int) and not isinstance(item, bool) and abs(item) < 10**300 else ""
