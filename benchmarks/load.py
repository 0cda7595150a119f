"""A load generator and a stopwatch for processes: requests over kept-open connections, and the CPU that they cost, from /proc."""

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import psutil

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measured:
    """What a number of requests cost: requests a second, and microseconds of CPU a request in the server and in PostgreSQL."""

    rate: float
    server: float
    postgres: float


async def measure(port: int, requests: Callable[[int], bytes], *, count: int, connections: int, server: int, postgres: int) -> Measured:
    """Send `count` requests, `requests(n)` being the bytes of the n-th, and read each answer, which must be a 200 without errors."""
    numbers = iter(range(count))
    before = cpu(server), cpu(postgres)
    started = perf_counter()
    await asyncio.gather(*(_client(port, requests, numbers) for _ in range(connections)))
    seconds = perf_counter() - started
    spent = cpu(server) - before[0], cpu(postgres) - before[1]
    return Measured(count / seconds, spent[0] / count * 1e6, spent[1] / count * 1e6)


async def _client(port: int, requests: Callable[[int], bytes], numbers: Iterator[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in numbers:  # one iterator for all clients
        writer.write(requests(number))
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(_length(head))
        if b" 200 " not in head[:15] or b'"errors":[' in body:
            raise RuntimeError(f"a request was refused: {body[:500]!r}")
    writer.close()


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    raise RuntimeError("an answer without a length")


def cpu(root: int) -> float:
    """Seconds of CPU that a process and its descendants have used, ended children included."""
    processes = [psutil.Process(root), *psutil.Process(root).children(recursive=True)]
    return sum(_ticks(process.pid) for process in processes) / _TICK


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0
    return sum(int(field) for field in fields[11:15])


def post(path: str, body: bytes, token: str) -> bytes:
    """The bytes of a JSON request."""
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body
