"""What the agents of the demo did in its week, each in runs of its own."""

from models.kinds import NoteLevel
from server.demo.story import Story
from store import memory, notes, record_batch, records, scripts

_SCORE = '''"""Score a lead from what it asked for: run with the lead as JSON on stdin, prints a number from 0 to 100."""

import json
import sys

WORDS = {"budget": 25, "viewing": 30, "finance": 15, "photos": 10, "dream": -5}

lead = json.load(sys.stdin)
text = lead.get("message", "").lower()
print(max(0, min(100, 30 + sum(points for word, points in WORDS.items() if word in text))))
'''
_VALUE = '''"""Estimate a range of value from comparable sales: prices as arguments, in euros."""

import statistics
import sys

prices = sorted(float(price) for price in sys.argv[1:])
middle = statistics.median(prices)
spread = statistics.pstdev(prices) / 2
print(f"{middle - spread:,.0f} to {middle + spread:,.0f} EUR from {len(prices)} sales")
'''


async def tell(story: Story) -> None:
    """The week, in order."""
    await _first_day(story)
    await _leads(story)
    await _viewing(story)
    await _research(story)
    await _digest(story)


async def _first_day(story: Story) -> None:
    story.at(0, 9)
    async with story.run("Scout") as run:
        await scripts.write(story.db, run.call("script_write"), "score_lead.py", _SCORE)
        await memory.write(story.db, run.call("memory_write"), "Leads from the newsletter write in the evening; look again at 22:00.\n")
    story.at(0, 10)
    async with story.run("Piston") as run:
        await memory.write(story.db, run.call("memory_write"), "Burlen answers by phone only, before noon.\n")


async def _leads(story: Story) -> None:
    story.at(1, 8)
    async with story.run("Scout", "routine", "morning-leads") as run:
        found = [
            {"email": "marta.silva@example.pt", "status": "new", "score": 47, "signed_up_at": "2026-03-06T22:10:00Z"},
            {"email": "T.Okafor@example.com", "status": "new", "score": 44},
            {"email": "jonas.weber@example.ch", "status": "new", "score": 69, "signed_up_at": "2026-03-07T06:31:00+01:00"},
        ]
        await record_batch.add_many(story.db, run.call("record_add"), "leads", found)
        text = "# New leads\n\n- Marta Silva asks for a small car with four seats.\n- Jonas Weber has had a 240Z before; high score.\n"
        await notes.write(story.db, run.call("note_write"), NoteLevel.GUILD, "new-leads.md", text)
    story.at(1, 11)
    async with story.run("Quill") as run:
        for number in ("2", "8"):
            await records.update(story.db, run.call("record_update"), "leads", number, {"status": "contacted"})
        draft = "# To Jonas Weber\n\nThank you for writing. The 240Z has a repaired sill; photos follow.\n\nWhen could you come?\n"
        await notes.write(story.db, run.call("note_write"), NoteLevel.AGENT, "draft-weber.md", draft)
    story.at(2, 8)
    async with story.run("Scout", "routine", "morning-leads") as run:
        added = {"email": "claire.dubois@example.fr", "status": "new", "score": 58, "signed_up_at": "2026-03-08T19:00:00Z"}
        await records.add(story.db, run.call("record_add"), "leads", added)
        await memory.write(
            story.db,
            run.call("memory_write"),
            "Leads from the newsletter write in the evening; look again at 22:00.\nMerged Okafor twice.\n",
        )


async def _viewing(story: Story) -> None:
    story.at(2, 14)
    async with story.run("Quill") as run:
        asked = {"lead": "jonas.weber@example.ch", "car": "Datsun 240Z, 1971", "state": "requested", "at": "2026-03-12T15:00:00+01:00"}
        await records.add(story.db, run.call("record_add"), "viewings", asked)
        other = {"lead": "priya.nair@example.in", "car": "Peugeot 504, 1975", "state": "requested"}
        await records.add(story.db, run.call("record_add"), "viewings", other)
    story.at(2, 18)
    async with story.run("Mender", "routine", "evening-round") as run:
        await records.update(story.db, run.call("record_update"), "jobs", "3", {"state": "in_progress", "hours": 9.25, "urgent": True})
        prepared = {"state": "prepared", "remarks": "Starts well cold. Weeps a little oil at the front seal; show it."}
        await records.update(story.db, run.call("record_update"), "viewings", "1", prepared)
        await notes.write(
            story.db,
            run.call("note_write"),
            NoteLevel.GUILD,
            "round.md",
            "# Evening round\n\n- 240Z: carburettors balanced, ready to be shown.\n- 2002: discs are on, bleed tomorrow.\n",
        )
    story.at(3, 9)
    async with story.run("Quill") as run:
        await records.update(story.db, run.call("record_update"), "viewings", "1", {"state": "confirmed"})
        await notes.write(story.db, run.call("note_write"), NoteLevel.AGENT, "scratch.md", "Train from Basel arrives 14:12.\n")
    story.at(4, 17)
    async with story.run("Quill") as run:
        await records.update(story.db, run.call("record_update"), "viewings", "1", {"state": "held", "remarks": "Bought on the spot."})
        await records.update(story.db, run.call("record_update"), "leads", "8", {"status": "won", "score": 100})
        await notes.delete(story.db, run.call("note_delete"), story.path("Quill", "scratch.md"))
    story.at(4, 18)
    async with story.run("Mender", "routine", "evening-round") as run:
        await records.update(story.db, run.call("record_update"), "jobs", "1", {"state": "done", "hours": 14})
        booked = {"plate": "ZH 240 711", "car": "Datsun 240Z, 1971", "state": "booked", "promised_at": "2026-03-20T17:00:00+01:00"}
        await records.add(story.db, run.call("record_add"), "jobs", booked)


async def _research(story: Story) -> None:
    story.at(5, 10)
    async with story.run("Atlas") as run:
        await scripts.write(story.db, run.call("script_write"), "value_range.py", _VALUE)
        source = {
            "url": "https://example.org/240z-sales",
            "title": "Sales of the 240Z in Europe",
            "topics": ["prices", "Datsun"],
            "trust": "medium",
            "checked_at": "2026-03-11T10:00:00Z",
        }
        await records.add(story.db, run.call("record_add"), "sources", source)
        text = "# Datsun 240Z\n\n31,000 to 38,000 EUR for a good one; less 2,500 for the sill. Light for its power, and thirsty in town.\n"
        await notes.write(story.db, run.call("note_write"), NoteLevel.GUILD, "valuation-240z.md", text)


async def _digest(story: Story) -> None:
    story.at(5, 16)
    async with story.run("Ledger", "routine", "weekly-digest") as run:
        text = """# This week

- One car sold: the 240Z, to a lead of this week. It was shown with its faults, and that sold it.
- Three new leads, and one that was there already under another spelling of its address; the store merged it.
- The 2002 left the workshop. The 504 is still to be looked at, and somebody waits for it.

**For Monday:** prepare the 504 for its viewing.
"""
        await notes.write(story.db, run.call("note_write"), NoteLevel.ORG, "this-week.md", text)
        await memory.write(story.db, run.call("memory_write"), "The digest is read on Monday mornings. Keep it to three points.\n")
