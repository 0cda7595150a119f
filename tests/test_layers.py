"""No import runs back: server → schema → resolvers → store → models; the engine and the vault know nothing of the others."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

MAY_IMPORT = {
    "engine": set[str](),
    "models": set[str](),
    "vault": set[str](),
    "store": {"models"},
    "migrations": {"models"},
    "resolvers": {"engine", "store", "models", "vault"},
    "schema": {"engine", "resolvers", "models", "vault"},
    "server": {"engine", "schema", "resolvers", "store", "models", "vault", "migrations"},
}


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the layer"
            yield node.module or ""


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_no_import_runs_back(package: str, repository: Path) -> None:
    ours = MAY_IMPORT.keys() | {"tests", "benchmarks"}
    files = sorted((repository / package).rglob("*.py"))
    assert files
    back = [
        f"{file.relative_to(repository)} imports {module}"
        for file in files
        for module in imported(ast.parse(file.read_text()))
        if (top := module.partition(".")[0]) in ours and top != package and top not in MAY_IMPORT[package]
    ]
    assert back == []
