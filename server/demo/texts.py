"""The words of the demo: notes, tasks, routines."""

from server.demo.story import Story

ORG_NOTES = {
    "welcome.md": """# Welcome to Meridian Classics

We sell classic cars, and six agents do much of the work: two in **Sales**, two in the **Workshop**, two in **Research**.
All of this is a demo. Change whatever you like.

Try, in GraphiQL:

- read this note's history: who wrote it, when, in which run and tool call;
- search the records: `berlin` finds nothing, `"2002"` finds the BMW in the workshop;
- add a lead whose status is `pending` and see every problem in one answer; then make it `new`;
- subscribe to `fileChanges` in one tab and write in another.
""",
    "house-style.md": """# House style

- Plain words. No "stunning", no "must-see".
- Name what is wrong with a car before what is right with it.
- Prices in euros, distances in kilometres, dates as 30 November 2026.
- Never promise a date that the workshop has not confirmed.
""",
    "how-we-hand-over.md": """# How we hand over

1. Sales adds a record to `viewings` with state `requested`.
2. The workshop looks for `requested`, prepares the car, sets `prepared` and says in `remarks` what to watch.
3. Sales confirms the time with the lead: `confirmed`.
4. After the viewing: `held`, and the lead's status in `leads` says how it went.

Nobody works from memory of a conversation: the state column is the truth.
""",
}

GUILD_NOTES = {
    "Sales": {
        "first-reply.md": """# The first reply

Answer within a day. Three short paragraphs: thanks and what they asked for; one honest fact about the car; one question.

Sign as Meridian Classics, not as a person. Style: see {house_style}.
""",
        "objections.md": """# What people ask

**"Is there rust?"** Say where, and send the photos.

**"Will it pass inspection?"** Only the workshop answers this. Look at the car's job first.
""",
    },
    "Workshop": {
        "before-a-viewing.md": """# Before a viewing

Warm it up, but not within the hour. Check tyre pressures, lights, horn, washer fluid. Leave the bonnet unlocked.

Note every leak, also the ones that "all of them do".
""",
        "parts-suppliers.md": """# Parts suppliers

| part | supplier | days |
|---|---|---|
| brake discs (BMW 02) | Walloth | 2 |
| SU carburettor kits | Burlen | 6 |
| Peugeot 504 seals | Serie04 | 4 |
""",
    },
    "Research": {
        "valuation-method.md": """# How we value a car

1. Find the model in `cars`; note power, weight and consumption.
2. Take three sales of the last year from sources with trust `high` or `medium`.
3. Subtract what the workshop says it needs.

A range, never one number.
"""
    },
}

TASKS = {
    "Scout": """Find people who want a classic car, and keep {leads} right: one record per person, with an honest score.

![[{house_style}]]
""",
    "Quill": """Write to leads with status `new`, in our style, and move them on when they answer.

![[{first_reply}]]

Hand over as described:

![[{hand_over}]]
""",
    "Mender": """Keep the workshop's jobs moving. Prepare cars for viewings that are `requested`.

![[{before_viewing}]]
""",
    "Piston": """Order parts and keep the list of suppliers current.

![[{parts}]]
""",
    "Atlas": """Answer questions about cars and their value from our data, with sources.

![[{valuation}]]
""",
    "Ledger": """You are the curator: once a week, sum up what happened for everybody, and keep the organisation's notes short and true.

![[{hand_over}]]
""",
}

ROUTINES = {
    "Scout": ("morning-leads", "Look for new leads since the last run; add or update them, and note what changed."),
    "Mender": ("evening-round", "Go through the jobs that changed since the last run; update states and hours."),
    "Ledger": ("weekly-digest", "Read what the guilds wrote this week and write the digest."),
}


def places(story: Story) -> dict[str, str]:
    """The display paths that the texts name."""
    named = {"leads": f"![[org/{story.org_id}/collections/leads]]"}
    for name, owner, key in (
        ("house_style", "", "house-style.md"),
        ("hand_over", "", "how-we-hand-over.md"),
        ("first_reply", "Sales", "first-reply.md"),
        ("before_viewing", "Workshop", "before-a-viewing.md"),
        ("parts", "Workshop", "parts-suppliers.md"),
        ("valuation", "Research", "valuation-method.md"),
    ):
        if not owner or owner in story.guilds:
            named[name] = story.path(owner, key)
    return named
