from typing import Any

import pytest

from tests.vault.conftest import SteppingClock, snapshot
from vault import Vault
from vault.errors import InvalidArguments, PathRefused, SecretFound, SlugTaken, UnreadableRecord
from vault.paths import digest

NOW = "2026-06-04T12:00:00.000Z"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def text_of(vault: Vault, path: str) -> str:
    return (vault.root / "projects" / path).read_text(encoding="utf-8")


def test_a_new_record_is_written_whole(vault: Any) -> None:
    result = vault.upsert("p", "decision", "We use UTC.", frontmatter={"title": "Use UTC", "tags": ["time"], "own": {"a": [1, "012"]}})
    assert (result.created, result.recurrence, result.superseded, result.warnings) == (True, False, False, ())
    assert text_of(vault, "p/decisions/use-utc.md") == (
        f"---\nid: use-utc\nkind: decision\nproject: p\ntitle: Use UTC\nstatus: active\nsource: agent\ncreated: '{NOW}'\nupdated: '{NOW}'\n"
        "tags:\n  - time\nown:\n  a:\n    - 1\n    - '012'\n---\nWe use UTC.\n"
    )
    assert vault.get("p", "use-utc").to_dict() == result.record.to_dict() | {
        "frontmatter": result.record.frontmatter | {"hits": 1, "lastHit": NOW}
    }


def test_an_update_merges_keeps_created_and_refreshes_updated(vault: Any, clock: Any) -> None:
    vault.upsert("p", "spec", "one", slug="s", frontmatter={"title": "S", "a": 1, "b": 2})
    clock.step(hours=1)
    result = vault.upsert("p", "spec", "two", slug="s", frontmatter={"b": 3, "a": None, "created": "2020-01-01"})
    assert result.created is False
    assert text_of(vault, "p/specs/s.md") == (
        f"---\nid: s\nkind: spec\nproject: p\ntitle: S\nstatus: active\nsource: agent\ncreated: '{NOW}'\n"
        "updated: '2026-06-04T13:00:00.000Z'\nb: 3\n---\ntwo\n"
    )


def test_updated_may_be_given(vault: Any) -> None:
    record = vault.upsert("p", "plan", "x", slug="a", frontmatter={"updated": "2026-01-01", "created": "2025-12-31"}).record
    assert (record.created, record.updated) == ("2025-12-31T00:00:00.000Z", "2026-01-01T00:00:00.000Z")


@pytest.mark.parametrize(
    ("kind", "arguments", "slug", "record_id"),
    [
        ("trap", {"slug": "My Slug", "frontmatter": {"id": "T-1"}}, "my-slug", "T-1"),
        ("trap", {"frontmatter": {"id": "TRAP-001", "title": "x"}}, "trap-001", "TRAP-001"),
        ("trap", {"frontmatter": {"title": "It's a Trap!"}}, "it-s-a-trap", "it-s-a-trap"),
        ("trap", {}, "trap-1780574400000", "trap-1780574400000"),
        ("trap", {"frontmatter": {"title": "日本語"}}, "trap-1780574400000", "trap-1780574400000"),
        ("prompt", {"frontmatter": {"sessionId": "s1", "turn": "4"}}, "prompt-s1-t4", "prompt-s1-t4"),
        ("prompt", {"frontmatter": {"sessionId": "s1"}}, "prompt-1780574400000-000001", "prompt-1780574400000-000001"),
        ("prompt", {"frontmatter": {"title": "no title counts"}}, "prompt-1780574400000-000001", "prompt-1780574400000-000001"),
        ("session", {"frontmatter": {"sessionId": "s1"}}, "session-s1", "session-s1"),
        ("session", {}, "session-1780574400000", "session-1780574400000"),
    ],
)
def test_names(vault: Any, kind: Any, arguments: Any, slug: Any, record_id: Any) -> None:
    record = vault.upsert("p", kind, "text", **arguments).record
    assert (record.slug, record.id) == (slug, record_id)


def test_titles_that_lose_letters_never_meet(vault: Any) -> None:
    one = vault.upsert("p", "decision", "x", frontmatter={"title": "日本 v1"}).record
    other = vault.upsert("p", "decision", "y", frontmatter={"title": "中国 v1"}).record
    again = vault.upsert("p", "decision", "z", frontmatter={"title": "中国 v1"})
    assert (one.slug, other.slug[:3], again.record.slug, again.created) == (f"v1-{digest('日本 v1')}", "v1-", other.slug, False)
    long_one = vault.upsert("p", "decision", "x", frontmatter={"title": "x" * 300}).record
    long_other = vault.upsert("p", "decision", "x", frontmatter={"title": "x" * 301}).record
    assert long_one.slug != long_other.slug


def test_made_up_names_of_one_millisecond_do_not_meet(vault: Any) -> None:
    names = {vault.upsert("p", "spec", "same moment").record.slug for _ in range(3)}
    assert len(names) == 3


def test_an_id_finds_its_file_under_another_name(vault: Any) -> None:
    vault.upsert("p", "spec", "one", slug="file-name", frontmatter={"id": "spec-9"})
    result = vault.upsert("p", "spec", "two", frontmatter={"id": "spec-9"})
    assert (result.created, result.record.slug, result.record.body) == (False, "file-name", "two")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"kind": "bug"}, InvalidArguments, "kind must be trap"),
        ({"body": " \n"}, InvalidArguments, "body must be a text that is not empty"),
        ({"body": "a\0b"}, InvalidArguments, "body must not hold the NUL character"),
        ({"body": "\ud800"}, InvalidArguments, "half of a surrogate pair"),
        ({"body": "x" * (12 * 1024 * 1024 + 1)}, InvalidArguments, "at most 12 MiB"),
        ({"slug": "../../x"}, PathRefused, "slug must be one path segment"),
        ({"slug": "a\uff0fb"}, PathRefused, "slug must be one path segment"),
        ({"frontmatter": {"id": "../x"}}, PathRefused, "id must be one path segment"),
        ({"frontmatter": {"slug": "../x"}}, PathRefused, "slug must be one path segment"),
        ({"project": "../p"}, PathRefused, "project must be letters"),
        ({"frontmatter": [1]}, InvalidArguments, "frontmatter must be an object"),
        ({"frontmatter": {"a": {1: 2}}}, InvalidArguments, "frontmatter must have keys that are texts"),
        ({"frontmatter": {"a": float("inf")}}, InvalidArguments, "finite"),
        ({"frontmatter": {"a": "\0"}}, InvalidArguments, "NUL"),
        ({"frontmatter": {"kind": "plan"}}, InvalidArguments, "kind is trap by argument"),
        ({"frontmatter": {"project": "q"}}, InvalidArguments, "project is p by argument"),
        ({"frontmatter": {"ttl": "soon"}}, InvalidArguments, "ttl is wrong: Invalid ttl duration or date"),
        ({"frontmatter": {"layer": "kitchen"}}, InvalidArguments, "layer must be application"),
        ({"body": "**Layer**: kitchen"}, InvalidArguments, "layer in the body's"),
        ({"frontmatter": {"big": "x" * 300_000}}, InvalidArguments, "larger than 256 KiB"),
        ({"frontmatter": {"supersedes": "../x"}}, PathRefused, "supersedes must be one path segment"),
        ({"frontmatter": {"supersedes": "me"}, "slug": "me"}, InvalidArguments, "supersedes must name another record"),
        ({"frontmatter": {"pathPatterns": [".env", "node_modules/x"]}}, PathRefused, "pathPatterns"),
        ({"path": "dist/a.js"}, PathRefused, "path"),
        ({"body": f"token {SECRET}"}, SecretFound, "body holds what looks like a secret"),
        ({"frontmatter": {"deep": [{SECRET: 1}]}}, SecretFound, "frontmatter.deep holds what looks like a secret"),
        ({"slug": SECRET}, SecretFound, "slug holds what looks like a secret"),
        ({"project": SECRET}, SecretFound, "project holds what looks like a secret"),
    ],
)
def test_a_refused_upsert_changes_nothing_and_repeats_no_secret(vault: Any, events: Any, arguments: Any, error: Any, text: Any) -> None:
    vault.upsert("p", "trap", "already here", slug="me")
    before, told = snapshot(vault.root), list(events)
    with pytest.raises(error, match=text) as caught:
        vault.upsert(**{"project": "p", "kind": "trap", "body": "text", **arguments})
    assert SECRET not in str(caught.value)
    assert snapshot(vault.root) == before
    assert events == told


def test_all_problems_come_in_one_answer(vault: Any) -> None:
    with pytest.raises(InvalidArguments) as caught:
        vault.upsert("p", "bug", "", slug="../x", frontmatter={"status": "open", "hits": -1})
    assert len(caught.value.problems) == 5
    assert not (vault.root / "projects").exists()


def test_a_name_of_another_kind_and_an_unreadable_file_are_never_overwritten(vault: Any) -> None:
    vault.upsert("p", "plan", "the plan", slug="x")
    broken = vault.root / "projects/p/plans/broken.md"
    broken.write_text("---\nid: [\n---\n")
    incomplete = vault.root / "projects/p/plans/incomplete.md"
    incomplete.write_text("---\nid: incomplete\n---\nhand-written\n")
    before = snapshot(vault.root)
    with pytest.raises(SlugTaken, match=r"projects/p/plans/x.md is a plan; a state of that name needs another slug"):
        vault.upsert("p", "state", "the state", slug="x")
    with pytest.raises(UnreadableRecord, match=r"projects/p/plans/broken.md: .* not valid YAML"):
        vault.upsert("p", "plan", "text", slug="broken")
    with pytest.raises(UnreadableRecord, match=r"incomplete.md: kind is required; project is required; created is required; updated is"):
        vault.upsert("p", "plan", "text", slug="incomplete")
    assert snapshot(vault.root) == before


def test_ttl_and_expiry(vault: Any, clock: SteppingClock) -> None:
    first = vault.upsert("p", "log", "x", slug="a", frontmatter={"ttl": "48h"}).record.frontmatter
    assert (first["ttl"], first["expires_at"]) == ("48h", "2026-06-06T12:00:00.000Z")
    clock.step(days=1)
    second = vault.upsert("p", "log", "x", slug="a", frontmatter={"ttl": "7d"}).record.frontmatter
    assert second["expires_at"] == "2026-06-11T12:00:00.000Z"
    third = vault.upsert("p", "log", "x", slug="a", frontmatter={"expires_at": "2026-06-05"}).record
    assert ("ttl" in third.frontmatter, third.frontmatter["expires_at"], third.expired) == (False, "2026-06-05T23:59:59.999Z", False)
    clock.step(days=1)
    assert vault.get("p", "a").expired is True
    assert "expired" not in text_of(vault, "p/logs/a.md")
    both = vault.upsert("p", "log", "x", slug="b", frontmatter={"ttl": "1h", "expires_at": "2030-01-01", "expired": True}).record
    assert (both.frontmatter["expires_at"], "expired" in both.frontmatter) == ("2030-01-01T23:59:59.999Z", False)


def test_a_path_is_folded_into_both_lists(vault: Any) -> None:
    first = vault.upsert("p", "trap", "x y z", slug="a", path="./src/a.py", frontmatter={"pathPatterns": ["lib/**", ".env"]}).record
    assert first.frontmatter["pathPatterns"] == ["lib/**", "src/a.py"]
    assert first.frontmatter["linkedPaths"] == ["src/a.py"]
    assert "path" not in first.frontmatter
    second = vault.upsert("p", "trap", "x y z", slug="a", frontmatter={"path": "src/b.py"}).record
    assert second.frontmatter["pathPatterns"] == ["lib/**", "src/a.py", "src/b.py"]
    assert second.frontmatter["linkedPaths"] == ["src/a.py", "src/b.py"]


def test_superseding(vault: Any, clock: SteppingClock) -> None:
    vault.upsert("p", "trap", "one two three", slug="old", frontmatter={"occurrences": 4})
    clock.step(hours=1)
    result = vault.upsert("p", "trap", "one two three", slug="new", frontmatter={"supersedes": "old"})
    assert (result.created, result.superseded, result.record.frontmatter["occurrences"]) == (True, True, 5)
    old = vault.get("p", "old", count_hit=False)
    assert (old.status, old.updated, old.frontmatter["occurrences"]) == ("superseded", "2026-06-04T13:00:00.000Z", 4)
    assert vault.upsert("p", "trap", "other", slug="n2", frontmatter={"supersedes": "nobody"}).superseded is False


def test_a_large_body_is_kept(vault: Any) -> None:
    body = "line of text\n" * 800_000
    vault.upsert("p", "spec", body, slug="large")
    assert vault.get("p", "large").body == body.rstrip()


def test_the_vault_stays_out_of_the_product(tmp_path: Any) -> None:
    (tmp_path / "repo/.git").mkdir(parents=True)
    inside = Vault(tmp_path / "repo/notes")
    with pytest.raises(PathRefused, match="lies inside the repository"):
        inside.upsert("p", "trap", "x", repo=tmp_path / "repo")
    assert not (tmp_path / "repo/notes").exists()


@pytest.mark.parametrize("titles", [("Café", "Caf"), ("Caf", "Café"), ("Straße 1", "Stra e 1"), ("x 日", "x")])
def test_titles_that_differ_only_in_letters_a_slug_lacks_are_two_records(vault: Vault, titles: tuple[str, str]) -> None:
    first, second = (vault.upsert("p", "spec", title, frontmatter={"title": title}).record for title in titles)
    assert (vault.get("p", first.id).body, vault.get("p", second.id).body) == titles  # type: ignore[union-attr]
    assert vault.upsert("p", "spec", "again", frontmatter={"title": titles[0]}).record.id == first.id
    assert vault.upsert("p", "spec", "again", frontmatter={"title": titles[1]}).record.id == second.id


@pytest.mark.parametrize(
    "titles",
    [
        ("Use C++", "Use C#", "Use C"), ("Temp > 0", "Temp < 0"), ("$5", "€5"), ("→ north", "← north"), ("a 😀", "a 😁"),
        ("Ship?", "Ship!"), ("Pool leaks", "Pool-leaks", "pool leaks"), ("TCP/IP", "TCP IP"), ("50% off", "50 off"), ("#1", "1", "& 1"),
    ],
)  # fmt: skip
def test_a_title_alone_never_replaces_a_record_with_another_title(vault: Vault, titles: tuple[str, ...]) -> None:
    for order in (titles, titles[::-1]):
        made = [vault.upsert(f"p{order is titles}", "spec", title, frontmatter={"title": title}) for title in order]
        assert all(one.created for one in made)
        for one, title in zip(made, order, strict=True):
            assert vault.get(one.record.project, one.record.id).body == title  # type: ignore[union-attr]
            again = vault.upsert(one.record.project, "spec", "again", frontmatter={"title": title})
            assert (again.created, again.record.key) == (False, one.record.key)


def test_two_ids_or_slugs_never_share_a_file(vault: Vault) -> None:
    for names in (("C++", "C#"), ("a b", "a-b"), ("T-1", "t-1")):
        records = [vault.upsert("p", "plan", name, frontmatter={"id": name}).record for name in names]
        assert len({record.key for record in records}) == len(names)
        assert [vault.get("p", name).body for name in names] == [*names]  # type: ignore[union-attr]
    for name in ("C++", "C#"):
        vault.upsert("q", "spec", name, slug=name)
    assert [vault.get("q", kind="spec", slug=name).body for name in ("C++", "C#")] == ["C++", "C#"]  # type: ignore[union-attr]


def test_a_record_that_has_its_name_without_a_digest_keeps_it(vault: Vault) -> None:
    vault.upsert("p", "spec", "one", slug="use-c", frontmatter={"title": "Use C++"})
    assert vault.upsert("p", "spec", "two", frontmatter={"title": "Use C++"}).record.slug == "use-c"
    assert vault.upsert("p", "spec", "three", frontmatter={"title": "Use C#"}).record.slug == f"use-c-{digest('Use C#')}"


@pytest.mark.parametrize(
    ("frontmatter", "problem"),
    [
        ({"slug": "other"}, "frontmatter: slug differs from the argument of that name"),
        ({"path": ["x"]}, "frontmatter: path must be text"),
        ({"expired": "soon"}, "frontmatter: expired must be true or false"),
        ({"allowDuplicate": "yes"}, "frontmatter: allowDuplicate must be true or false"),
    ],
)
def test_no_key_is_dropped_without_a_word(vault: Vault, frontmatter: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        vault.upsert("p", "spec", "text", slug="x", frontmatter=frontmatter)
    assert refused.value.problems == (problem,)
    assert not (vault.root / "projects").exists()


@pytest.mark.parametrize("end", ["---", "--- \t", "---\n", "---\r\n"])
def test_a_file_that_ends_with_its_closing_line_stays_whole(vault: Vault, end: str) -> None:
    head = f"---\nid: x\nkind: spec\nproject: p\ncreated: '{NOW}'\nupdated: '{NOW}'\n"
    newline = "\r\n" if "\r" in end else "\n"
    path = vault.root / "projects/p/specs/x.md"
    path.parent.mkdir(parents=True)
    path.write_bytes((head.replace("\n", newline) + end).encode())
    vault.feedback("p", "helpful", "x")
    assert path.read_bytes().decode().endswith(end)
    record = vault.upsert("p", "spec", "body", slug="x").record
    assert (record.body, record.frontmatter["helpfulCount"]) == ("body", 1)
    assert path.read_bytes().decode().endswith(end.rstrip("\r\n") + newline + "body" + newline)
