"""How far a long piece of work is, told on stderr where a person looks at it and not at all otherwise."""

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress(what: str, unit: str = "rows") -> Iterator[Callable[[int], None]]:
    """A function that is told how many are done by now, and shows it."""
    # A log or a pipe would be filled with the same line over and over.
    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TextColumn("{task.completed:,} " + unit), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done: shown.update(task, completed=done)
