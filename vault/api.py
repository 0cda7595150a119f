"""The vault for Python programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from vault import append, paths, reading, retire, upsert
from vault.arguments import check_project
from vault.config import VaultConfig
from vault.doctor import Report, SyncReport, examine, flush, repair, sync
from vault.engine import ChangeHook, Engine
from vault.errors import InvalidArguments, PathRefused, RecordNotFound
from vault.files import random_hex
from vault.paths import check_kind
from vault.project import check_project_id
from vault.record import Record
from vault.scan import RecordKey
from vault.times import Clock, utc_now
from vault.views import VIEW_NAMES

if TYPE_CHECKING:
    from vault.git.history import GitReport


class Vault:
    """A vault of Markdown records at `root`. Safe to share between threads; any number of processes may write.

    `on_change(project, kind, path, operation, id)` is called after each change, once, outside all locks: for
    mutations through this object and for changes made elsewhere, as soon as this object sees them. `operation` is
    CREATE, UPDATE or DELETE, `path` is `vault/<project>/<subdir>/<slug>.md`. `watched=True`: the program calls
    `notice` for every file that changes, and the vault looks at no file unasked. Every refusal is a VaultError.
    """

    def __init__(
        self,
        root: Path | str,
        *,
        config: VaultConfig | None = None,
        on_change: ChangeHook | None = None,
        watched: bool = False,
        clock: Clock = utc_now,
        random_hex: Callable[[int], str] = random_hex,
        lock_timeout: float = 30.0,
        before_write: Callable[[], None] | None = None,
    ) -> None:
        """`before_write` is called once the lock is held and before anything is written; what it raises ends the mutation there."""
        self._engine = Engine(
            Path(root),
            config=config,
            on_change=on_change,
            watched=watched,
            clock=clock,
            random_hex=random_hex,
            lock_timeout=lock_timeout,
            before_write=before_write,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def root(self) -> Path:
        """The vault's folder, with symbolic links followed."""
        return self._engine.root

    @property
    def config(self) -> VaultConfig:
        """The vault's settings."""
        return self._engine.config

    # ------------------------------------------------------------------ writing

    def upsert(
        self,
        project: str,
        kind: str,
        body: str,
        *,
        slug: str | None = None,
        frontmatter: Mapping[str, Any] | None = None,
        path: str | None = None,
        allow_duplicate: bool = False,
        repo: Path | None = None,
    ) -> upsert.UpsertResult:
        """Create a record, or merge into the one of that kind and slug; a trap that repeats an old one is counted there.

        `repo`: the repository that paths are relative to; the vault must not lie inside it.
        """
        self._keep_out_of(repo)
        return upsert.upsert(
            self._engine, project, kind, body, slug=slug, frontmatter=frontmatter, path=path, allow_duplicate=allow_duplicate, repo=repo
        )

    def append(
        self,
        project: str,
        event: str,
        *,
        kind: str = "log",
        details: Mapping[str, Any] | None = None,
        repo: Path | None = None,
    ) -> Record:
        """Write an event as a new record; `details` become its frontmatter, but for id, kind, project and created."""
        self._keep_out_of(repo)
        return append.append(self._engine, project, event, kind, details)

    def forget(
        self,
        project: str,
        record_id: str | None = None,
        *,
        kind: str | None = None,
        slug: str | None = None,
        purge: bool = False,
    ) -> retire.ForgetResult:
        """Archive a record; with `purge`, remove its file and leave a tombstone. Raises RecordNotFound, AmbiguousId."""
        return retire.forget(self._engine, project, record_id, kind, slug, purge=purge)

    def feedback(
        self,
        project: str,
        verdict: str,
        record_id: str | None = None,
        *,
        kind: str | None = None,
        slug: str | None = None,
    ) -> Record:
        """Count a verdict: helpful, not_helpful, stale or wrong. Raises RecordNotFound."""
        return reading.feedback(self._engine, project, record_id, kind, slug, verdict=verdict)

    def gc(self, project: str | None = None, *, purge: bool = False, dry_run: bool = False) -> list[retire.Collected]:
        """Archive (or purge) what has expired, in one project or all; `dry_run` only says what would be."""
        return retire.gc(self._engine, project, purge=purge, dry_run=dry_run)

    def take_warnings(self) -> tuple[str, ...]:
        """Return what went wrong beside this thread's last mutation (git, index, views), once; the records are written."""
        return self._engine.take_warnings()

    # ------------------------------------------------------------------ reading

    def get(
        self,
        project: str,
        record_id: str | None = None,
        *,
        kind: str | None = None,
        slug: str | None = None,
        session_id: str | None = None,
        siblings: bool = False,
        count_hit: bool = True,
    ) -> Record | None:
        """Return one record, None without one.

        `siblings`: the project was only guessed, so the single match of another project counts. A trap, decision,
        spec or plan counts the hit, once per session id; `count_hit=False` leaves the file alone.
        """
        return reading.get(self._engine, project, record_id, kind, slug, session_id=session_id, siblings=siblings, count_hit=count_hit)

    def get_anywhere(self, record_id: str | None = None, *, kind: str | None = None, slug: str | None = None) -> Record | None:
        """Return the single match of all projects, without their scratch, state and reviews; None for none or several. Counts no hit."""
        return reading.get_anywhere(self._engine, record_id, kind, slug)

    def list_records(
        self,
        project: str,
        *,
        kind: str | None = None,
        status: str | None = None,
        tags: Sequence[str] = (),
        include_expired: bool = False,
        limit: int | None = None,
    ) -> list[Record]:
        """Return the project's records, the last updated first."""
        return reading.list_records(
            self._engine, project, kind=kind, status=status, tags=tags, include_expired=include_expired, limit=limit
        )

    def search(
        self,
        query: str,
        project: str,
        *,
        kinds: Sequence[str] = (),
        statuses: Sequence[str] = (),
        tags: Sequence[str] = (),
        path: str | None = None,
        include_scratch: bool = False,
        include_expired: bool = False,
        as_of: str | None = None,
        cross_project: bool = False,
        limit: int = 20,
    ) -> list[reading.SearchHit]:
        """Return the best hits, best first: of the project, or of all (then without scratch, state and review)."""
        return reading.search(
            self._engine,
            query,
            project,
            kinds=kinds,
            statuses=statuses,
            tags=tags,
            path=path,
            include_scratch=include_scratch,
            include_expired=include_expired,
            as_of=as_of,
            cross_project=cross_project,
            limit=limit,
        )

    def view(self, project: str, name: str) -> str:
        """Return a compiled view: TRAPS, DECISIONS, INDEX, PROMPTS or SESSIONS. Raises RecordNotFound for an unknown project."""
        wanted = name.strip().upper().removesuffix(".MD") if isinstance(name, str) else ""
        if wanted not in VIEW_NAMES:
            raise InvalidArguments(f"name must be {', '.join(VIEW_NAMES[:-1])} or {VIEW_NAMES[-1]}")
        if check_project(project) not in self.projects():
            raise RecordNotFound(f"there is no project {project}")
        text = self._engine.page(project, wanted)
        self._engine.tell()
        return text

    def projects(self) -> list[str]:
        """Return the ids of all projects, sorted."""
        return self._engine.projects()

    # ------------------------------------------------------------------ keeping it in order

    def notice(self, path: Path | str) -> None:
        """Look at one file that changed outside (a path in the vault); what it brings goes to `on_change`."""
        key = self._key_of(Path(path))
        if key is not None:
            self._engine.files_of(key.project)
            self._engine.catalog.look(key)
            self._engine.tell()

    def notice_all(self) -> None:
        """Look at all files of all known and new projects; what changed goes to `on_change`."""
        for project in self.projects():
            self._engine.refresh(project)
        self._engine.tell()

    def doctor(self) -> Report:
        """Check every file, and bring index and views up to date."""
        return examine(self._engine)

    def repair(self) -> None:
        """Bring index and views up to date with the files, as after a crash."""
        repair(self._engine)

    def sync(self) -> SyncReport:
        """Pick up hand edits, commit what is waiting in the vault's git, and push if there is a remote."""
        return sync(self._engine)

    def flush(self) -> GitReport:
        """Commit what is waiting, as at the end of a session."""
        return flush(self._engine, automatic=True)

    def close(self) -> None:
        """Let go of files. The vault may be used again afterwards."""
        self._engine.close()

    # ------------------------------------------------------------------ places

    def display_path(self, project: str, kind: str, slug: str) -> str:
        """Return the path that names a record in feeds."""
        return paths.display_path(paths.key_of(check_project_id(project), check_kind(kind), slug))

    def _key_of(self, path: Path) -> RecordKey | None:
        try:
            parts = path.relative_to(self.root).parts
        except ValueError:
            return None
        if len(parts) != 4 or parts[0] != "projects" or not parts[3].endswith(".md"):  # noqa: PLR2004  projects/p/traps/x.md
            return None
        key = RecordKey(parts[1], parts[2], parts[3].removesuffix(".md"))
        return key if paths.is_place(key) else None

    def _keep_out_of(self, repo: Path | None) -> None:
        """Records must not end up in the product's own repository; a repository that is the vault is no product."""
        if repo is not None and repo.resolve() != self.root and self.root.is_relative_to(repo.resolve()):
            raise PathRefused(f"the vault {self.root} lies inside the repository {repo}; give it a place of its own")
