"""The page at /api/docs: the OpenAPI document for people. It is plain HTML; a script of ours adds the forms that send requests."""

import json
import re
import shlex
from functools import cache
from html import escape
from itertools import groupby
from typing import Any

from starlette.responses import HTMLResponse, RedirectResponse, Response

from server.rest.examples import PARAMETERS
from server.rest.openapi import Json, document

_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Muniment · REST</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/api.css">
<script type="module" src="/static/api.js"></script>
</head>
<body>
<header><h1>Muniment: the REST routes</h1>{about}<p><a href="/api/openapi.json">openapi.json</a> has the same for tools.</p>
<p id="caller" hidden><label>Token <input id="token" type="password" autocomplete="off" size="40"></label> Requests are sent with it, \
or without one as whoever is <a href="/sign-in">signed in</a>. It is not kept.</p></header>
<nav aria-label="Groups">{contents}</nav>
<main>{groups}<section id="schemas"><h2>Shapes</h2>{schemas}</section></main>
</body>
</html>"""


def redirect() -> Response:
    """Lead to the page from the folder that it describes."""
    return RedirectResponse("/api/docs")


def response() -> Response:
    """The page."""
    return HTMLResponse(_page(), headers=_HEADERS)


@cache
def _page() -> str:
    found = document()
    about = "".join(f"<p>{escape(part)}</p>" for part in found["info"]["description"].split("\n\n"))
    operations = [(path, method, item) for path, methods in found["paths"].items() for method, item in methods.items()]
    names = [tag["name"] for tag in found["tags"]]
    # groupby joins neighbours only.
    operations.sort(key=lambda operation: names.index(operation[2]["tags"][0]))
    told = {tag["name"]: tag["description"] for tag in found["tags"]}
    groups = [_group(name, told[name], list(items)) for name, items in groupby(operations, lambda operation: operation[2]["tags"][0])]
    contents = " ".join(f'<a href="#{_anchor(name)}">{escape(name)}</a>' for name in [*names, "schemas"])
    schemas = "".join(_schema(name, schema) for name, schema in found["components"]["schemas"].items())
    return _PAGE.format(about=about, contents=contents, groups="".join(groups), schemas=schemas)


def _group(name: str, about: str, operations: list[tuple[str, str, Json]]) -> str:
    shown = "".join(_operation(*operation) for operation in operations)
    return f'<section id="{_anchor(name)}"><h2>{escape(name.capitalize())}</h2><p>{escape(about)}</p>{shown}</section>'


def _operation(path: str, method: str, item: Json) -> str:
    title = f'<code class="{method}">{method.upper()}</code> <code>{escape(path)}</code>'
    parts = [f"<p>{escape(item['summary'])}</p>", f"<p>{escape(item['description'])}</p>" if "description" in item else ""]
    if item["parameters"]:
        rows = "".join(_parameter(parameter) for parameter in item["parameters"])
        parts.append(f"<table><thead><tr><th>Parameter<th>In<th>Type<th>What it says</thead><tbody>{rows}</tbody></table>")
    if "requestBody" in item:
        parts.append(f"<p>Body: {_contents(item['requestBody']['content'])}</p>")
    parts.append(f"<pre>{escape(_curl(path, method, item))}</pre>")
    parts += [
        f"<p>{status}: {_contents(answer.get('content', {})) or 'no body'}</p>"
        for status, answer in item["responses"].items()
        if status < "4"
    ]
    refusals = ", ".join(status for status in item["responses"] if status >= "4")
    return f'<article id="{item["operationId"]}"><h3>{title}</h3>{"".join(parts)}<p class="refusals">Refusals: {refusals}</p></article>'


_PLACES = {"id": "$ID", "record_id": "1", "name": "clean.py", **PARAMETERS}


def _curl(path: str, method: str, item: Json) -> str:
    """The request as a command of a shell, with the examples that the document has."""
    address = re.sub(r"{(\w+)}", lambda part: _PLACES[part[1]], path)
    verb = "" if method == "get" or (method == "post" and "requestBody" in item) else f" -X {method.upper()}"
    lines = [f'curl -s{verb} "localhost:8000{address}" -H "Authorization: Bearer $TOKEN"']
    content = item.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        body = json.dumps(content["application/json"]["example"], ensure_ascii=False)
        lines.append(f'-H "Content-Type: application/json" -d {shlex.quote(body)}')
    elif content:
        lines.append("-F file=@leads.csv")
    named = [one for one in item["parameters"] if one["in"] == "query" and (one["required"] or one["name"] == "where")]
    lines += [f"-G --data-urlencode {shlex.quote(one['name'] + '=' + one['example'])}" for one in named]
    return " \\\n  ".join(lines)


def _parameter(parameter: Json) -> str:
    required = " <em>required</em>" if parameter["required"] else ""
    default = parameter["schema"].get("default")
    about = escape(parameter.get("description", "")) + ("" if default is None else f" Default: <code>{escape(_plain(default))}</code>.")
    name, place = escape(parameter["name"]), parameter["in"]
    return f"<tr><td><code>{name}</code>{required}<td>{place}<td>{_type(parameter['schema'])}<td>{about}"


def _contents(content: Json) -> str:
    return ", ".join(
        _type(facts["schema"]) if media == "application/json" else f"<code>{escape(media)}</code>" for media, facts in content.items()
    )


def _schema(name: str, schema: Json) -> str:
    required = schema.get("required", [])
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code>{' <em>required</em>' if field in required else ''}"
        f"<td>{_type(facts)}<td>{escape(facts.get('description', ''))}"
        for field, facts in schema.get("properties", {}).items()
    )
    about = escape(schema.get("description", ""))
    return f'<article id="{name}"><h3><code>{name}</code></h3><p>{about}</p><table><tbody>{rows}</tbody></table></article>'


def _type(schema: Json) -> str:
    """A schema in a few words, with a link to a shape that has a name."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f"<code>{escape(_plain(value))}</code>" for value in schema["enum"])
    if "const" in schema:
        return f"<code>{escape(_plain(schema['const']))}</code>"
    kind = schema.get("type", "any JSON")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    form = schema.get("format") or schema.get("contentMediaType")
    return escape(" or ".join(kind) if isinstance(kind, list) else str(kind)) + (f" ({escape(form)})" if form else "")


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _anchor(name: str) -> str:
    return name.replace(" ", "-")
