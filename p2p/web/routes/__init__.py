"""The addresses below /api, one file per noun."""

from p2p.web.routes import (
    analysis,
    benchmarks,
    environments,
    events,
    exports,
    iterations,
    jobs,
    judging,
    machines,
    media,
    sessions,
    streams,
    trash,
    vision,
)

ROUTES = tuple(
    route
    for noun in (
        sessions,
        iterations,
        media,
        analysis,
        streams,
        events,
        exports,
        judging,
        jobs,
        trash,
        machines,
        environments,
        vision,
        benchmarks,
    )
    for route in noun.router.routes
)
"""In the order in which an address is looked for."""
