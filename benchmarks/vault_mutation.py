"""What one mutation costs in a vault of 50 and of 5,000 records, within one process and in a process of its own.

Run: `python benchmarks/vault_mutation.py [RECORDS]`. Both sizes are measured in turns, so that the ratio is one machine's at one time.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vault import Vault

_KINDS = ("trap", "decision", "log", "session")
_ROUNDS = 40
_COLD_ROUNDS = 5
_COLD = "import sys; from vault import Vault; Vault(sys.argv[1]).upsert('p', 'decision', 'Body ' + sys.argv[2], slug='cold')"


def _fill(root: Path, count: int) -> Vault:
    for index in range(count):
        kind = _KINDS[index % len(_KINDS)]
        folder = root / "projects" / "p" / f"{kind}s"
        folder.mkdir(parents=True, exist_ok=True)
        words = " ".join(f"word{index}x{part}" for part in range(40))
        head = f"id: {kind}-{index}\nkind: {kind}\nproject: p\ntitle: Record {index}\ncreated: 2026-11-01\nupdated: 2026-11-02\n"
        text = f"---\n{head}---\n{words}\n"
        (folder / f"{kind}-{index}.md").write_text(text)
    vault = Vault(root)
    for kind in _KINDS:  # the first of each loads what it needs
        vault.upsert("p", kind, f"Warm up {kind}", slug="warm")
    vault.sync()
    return vault


def _timed(vault: Vault, kind: str, number: int) -> float:
    start = time.perf_counter()
    vault.upsert("p", kind, " ".join(f"new{number}x{part}" for part in range(40)), slug=f"new-{number}")
    return (time.perf_counter() - start) * 1000


def _cold(root: Path, number: int) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", _COLD, str(root), str(number)], check=True)
    return (time.perf_counter() - start) * 1000


def main() -> None:
    """Print milliseconds and ratios."""
    large_size = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    with tempfile.TemporaryDirectory() as folder:
        roots = {50: Path(folder) / "small", large_size: Path(folder) / "large"}
        vaults = {size: _fill(root, size) for size, root in roots.items()}
        for kind in _KINDS:
            times: dict[int, list[float]] = {size: [] for size in vaults}
            for number in range(_ROUNDS):
                for size, vault in vaults.items():
                    times[size].append(_timed(vault, kind, number))
            _print(f"{kind}, one process", times)
        cold: dict[int, list[float]] = {size: [] for size in vaults}
        for number in range(_COLD_ROUNDS):
            for size, root in roots.items():
                cold[size].append(_cold(root, number))
        _print("decision, a new process each", cold)


def _print(what: str, times: dict[int, list[float]]) -> None:
    small, large = (statistics.median(values) for values in times.values())
    sizes = list(times)
    print(f"{what}: {small:.1f} ms at {sizes[0]:,}, {large:.1f} ms at {sizes[1]:,} records, ratio {large / small:.2f}")


if __name__ == "__main__":
    main()
