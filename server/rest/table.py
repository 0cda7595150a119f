"""Every route, and which one a request means."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from models.errors import MunimentError, NotFound
from models.text import printable
from server.rest import agents, changes, collections, notes, records, transfer
from server.rest.route import Route

ROUTES: tuple[Route, ...] = (
    *collections.ROUTES,
    *records.ROUTES,
    *transfer.ROUTES,
    *notes.ROUTES,
    *agents.ROUTES,
    *changes.ROUTES,
)

_PARAMETER = re.compile(r"{(\w+)(:path)?}")


class MethodNotAllowed(MunimentError):
    """A method that the path does not have; `allow` says which it has."""

    code = "UNPROCESSABLE"
    status = 405

    def __init__(self, method: str, allow: str) -> None:
        super().__init__(f"{method[:20]} is not allowed here; this path takes {allow}")
        self.allow = allow


class Table:
    """The routes by path, in their order: the first path that fits is meant."""

    def __init__(self, routes: Iterable[Route] = ROUTES) -> None:
        methods: defaultdict[str, dict[str, Route]] = defaultdict(dict)
        for route in routes:
            methods[route.path][route.method] = route
        self._paths = [(pattern(path), found) for path, found in methods.items()]

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """The route and the parts of its path; HEAD is GET. Raises NotFound, MethodNotAllowed."""
        for expression, methods in self._paths:
            if (match := expression.fullmatch(path)) is not None:
                route = methods.get("GET" if method == "HEAD" else method)
                if route is None:
                    raise MethodNotAllowed(method, ", ".join(_allowed(methods)))
                return route, match.groupdict()
        raise NotFound(f"there is nothing at {printable(path)[:300]}; /api/docs lists what there is")


def pattern(path: str) -> re.Pattern[str]:
    """What a path of the table fits: `{name}` one segment, `{name:path}` all the rest."""
    parts, end = [], 0
    for parameter in _PARAMETER.finditer(path):
        segment = ".+" if parameter[2] else "[^/]+"
        parts += [re.escape(path[end : parameter.start()]), f"(?P<{parameter[1]}>{segment})"]
        end = parameter.end()
    # With DOTALL, for a name with a line break is a name too, to be found or not by what it says.
    return re.compile("".join([*parts, re.escape(path[end:])]), re.DOTALL)


def parameters(path: str) -> list[str]:
    """The names of the parts of a path."""
    return [parameter[1] for parameter in _PARAMETER.finditer(path)]


def _allowed(methods: Iterable[str]) -> Iterator[str]:
    for method in methods:
        yield method
        if method == "GET":
            yield "HEAD"
