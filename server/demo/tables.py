"""The tables of the demo: their columns, and what is in them from the start."""

from typing import Any


def column(name: str, kind: str, description: str, **flags: Any) -> dict[str, Any]:
    """A column's definition."""
    return {"name": name, "type": kind, "description": description, **flags}


LEADS = [
    column("email", "text", "Where the person can be reached; tells leads apart.", unique=True),
    column("status", "text", "How far the lead has come.", required=True, values=["new", "contacted", "won", "lost"]),
    column("score", "number", "How likely they buy, from 0 to 100."),
    column("signed_up_at", "datetime", "When they asked to hear from us."),
]
JOBS = [
    column("plate", "text", "The car's number plate, or its chassis number where it has none.", required=True, unique=True),
    column("car", "text", "Make, model and year.", required=True),
    column(
        "state",
        "text",
        "Where the job stands; find work with where on it.",
        required=True,
        values=["booked", "in_progress", "waiting_for_parts", "done"],
    ),
    column("hours", "number", "Hours worked so far."),
    column("parts", "array", "Parts that are needed or were fitted."),
    column("urgent", "boolean", "Whether the customer waits for the car."),
    column("promised_at", "datetime", "When the car was promised back."),
]
VIEWINGS = [
    column("lead", "text", "Email of the lead who comes.", required=True),
    column("car", "text", "The car they want to see.", required=True),
    column(
        "state",
        "text",
        "Sales requests, the workshop prepares, sales confirms and holds.",
        required=True,
        values=["requested", "prepared", "confirmed", "held"],
    ),
    column("at", "datetime", "When they come."),
    column("remarks", "text", "What the next in line should know."),
]
SOURCES = [
    column("url", "text", "Address of the source.", required=True, unique=True),
    column("title", "text", "What it is called.", required=True),
    column("topics", "array", "What it is about."),
    column("trust", "text", "How far its numbers can be relied on.", values=["high", "medium", "low"]),
    column("checked_at", "datetime", "When somebody last read it."),
]
CARS = [
    column("name", "text", "Make and model, as sold then.", required=True),
    column("year", "datetime", "Model year, as its first moment.", required=True),
    column("origin", "text", "Where it was made.", required=True, values=["USA", "Europe", "Japan"]),
    column("cylinders", "number", "Number of cylinders."),
    column("horsepower", "number", "Power in horsepower."),
    column("miles_per_gallon", "number", "Consumption in miles per US gallon."),
    column("displacement", "number", "Displacement in cubic inches."),
    column("weight", "number", "Weight in pounds."),
    column("acceleration", "number", "Seconds from 0 to 60 miles per hour."),
]

PURPOSES = {
    "leads": "People who may buy a car. One record per person; update the status as things move.",
    "jobs": "Cars in the workshop and what is left to do on each.",
    "viewings": "Hand-off between sales and workshop: a car must be prepared before a lead sees it.",
    "sources": "Where our facts on classic cars come from, and how far to trust them.",
    "cars": "Reference data of cars sold from 1970 to 1982, for valuations. A public data set, not our stock.",
}

FIRST_LEADS: list[dict[str, Any]] = [
    {"email": "ines.caldas@example.pt", "status": "contacted", "score": 64, "signed_up_at": "2026-03-02T09:14:00Z"},
    {"email": "t.okafor@example.com", "status": "new", "score": 38, "signed_up_at": "2026-03-03T18:40:00Z"},
    {"email": "hanna.brandt@example.de", "status": "won", "score": 91, "signed_up_at": "2026-02-11T07:55:00Z"},
    {"email": "luc@garage-moreau.example.fr", "status": "lost", "score": 12, "signed_up_at": "2026-01-28T12:00:00Z"},
    {"email": "café.racer@example.org", "status": "new", "score": 55, "signed_up_at": "2026-03-04T21:05:00Z"},
    {"email": "priya.nair@example.in", "status": "contacted", "score": 73},
]
FIRST_JOBS: list[dict[str, Any]] = [
    {"plate": "B-MC 1972", "car": "BMW 2002 tii, 1972", "state": "in_progress", "hours": 11.5, "parts": ["front brake discs", "seals"]},
    {"plate": "HH-KL 404", "car": "Peugeot 504, 1975", "state": "booked", "parts": [], "urgent": False},
    {"plate": "DATSUN-HLS30-01544", "car": "Datsun 240Z, 1971", "state": "waiting_for_parts", "hours": 3, "parts": ["SU carburettor kit"]},
]
FIRST_SOURCES: list[dict[str, Any]] = [
    {
        "url": "https://vega.github.io/vega-datasets/",
        "title": "Vega datasets: cars",
        "topics": ["consumption", "power", "weight"],
        "trust": "high",
    },
    {"url": "https://example.org/auction-results-2025", "title": "Auction results 2025", "topics": ["prices"], "trust": "medium"},
    {"url": "https://example.net/forum/2002-rust", "title": "Where the 2002 rusts", "topics": ["rust", "BMW"], "trust": "low"},
]
