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

ROUTERS = tuple(
    noun.router
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
)
"""In the order in which an address is looked for."""
