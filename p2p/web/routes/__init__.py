"""The addresses below /api, one file per noun."""

from p2p.web.routes import (
    benchmarks,
    environments,
    events,
    iterations,
    jobs,
    judging,
    machines,
    media,
    sessions,
    streams,
    trash,
)

ROUTERS = tuple(
    noun.router
    for noun in (sessions, iterations, media, streams, events, judging, jobs, trash, machines, environments, benchmarks)
)
"""In the order in which an address is looked for."""
