"""The page at /graphql for browsers: GraphiQL from this server alone, opened with the product's own operations as examples."""

import json
from pathlib import Path
from typing import Any

from starlette.responses import HTMLResponse

from models.caller import Caller
from server.documents import documents
from server.headers import PAGE

STATIC = Path(__file__).resolve().parent / "static"

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Muniment · GraphiQL</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/graphiql.css">
<link rel="stylesheet" href="/static/page.css">
</head>
<body>
<div id="root"><p class="muniment-loading">Loading GraphiQL…</p></div>
<noscript>GraphiQL needs JavaScript.</noscript>
<script type="application/json" id="settings">SETTINGS</script>
<script src="/static/graphiql.js"></script>
</body>
</html>"""

_WELCOME = """# Muniment: press the play button (or Ctrl-Enter) to run the operation that the cursor is in.
# The other tabs hold more examples; the book icon on the left documents every type and field.

"""
# What a newcomer tries first, in this order; variables that make the example run in the demo organisation.
_TABS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Tables", {}),
    ("SearchRecords", {"query": "ford OR buick", "collection": "cars"}),
    ("AddRecord", {"collection": "leads", "body": {"email": "new@example.org", "status": "pending", "score": "42"}}),
    ("Notes", {"level": "ORG"}),
    ("Activity", {}),
)


def page(caller: Caller | None) -> HTMLResponse:
    """The page, for whoever is signed in."""
    known = documents()
    tabs = [{"query": known[name], "variables": json.dumps(variables, indent=2)} for name, variables in _TABS if name in known]
    if tabs:
        tabs[0]["query"] = _WELCOME + tabs[0]["query"]
    viewer = {"name": caller.name, "kind": caller.kind} if caller else None
    settings = json.dumps({"viewer": viewer, "tabs": tabs}).replace("<", "\\u003c")
    return HTMLResponse(_PAGE.replace("SETTINGS", settings), headers=PAGE)
