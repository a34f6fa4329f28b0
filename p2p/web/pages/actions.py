"""What pages do by forms, with the command and the call of Python that do the same."""

from typing import NamedTuple

from p2p.web.pages.rendering import command


class Action(NamedTuple):
    """What a form does.

    Parts in braces stand for what the form is about; those in capitals for what a person fills in.
    """

    form: str
    """Its address."""
    does: str
    words: tuple[str, ...]
    """Of the command."""
    python: str
    """Name in the module `p2p`; empty for what concerns this machine and no session."""


ACTIONS = (
    Action("/e2e/new", "begin", ("p2p", "run", "SENTENCE"), "run"),
    Action("/e2e/{session_id}/stop", "stop", ("p2p", "stop", "{session_id}"), "Session.stop"),
    Action("/e2e/{session_id}/resume", "go on", ("p2p", "resume", "{session_id}"), "Session.resume"),
    Action("/e2e/{session_id}/wish", "steer", ("p2p", "steer", "{session_id}", "WISH"), "Session.steer"),
    Action(
        "/e2e/{session_id}/cap",
        "change a cap, and go on",
        ("p2p", "resume", "{session_id}", "--cap", "dollars=5"),
        "Session.set_caps",
    ),
    Action(
        "/e2e/{session_id}/name",
        "name and tag",
        ("p2p", "tag", "{session_id}", "--alias", "NAME", "--tag", "TAG"),
        "Session.edit",
    ),
    Action("/e2e/{session_id}/star", "star", ("p2p", "tag", "{session_id}", "--star"), "Session.edit"),
    Action("/e2e/{session_id}/report", "write the report", ("p2p", "analyze", "{session_id}"), "Session.analyze"),
    Action("/e2e/{session_id}/delete", "move to the trash", ("p2p", "delete", "{session_id}"), "Session.delete"),
    Action("/e2e/selected", "star one", ("p2p", "tag", "SESSION", "--star"), "Session.edit"),
    Action("/e2e/selected", "tag one", ("p2p", "tag", "SESSION", "--tag", "TAG"), "Session.edit"),
    Action("/e2e/selected", "move one to the trash", ("p2p", "delete", "SESSION"), "Session.delete"),
    Action("/compare", "compare two", ("p2p", "diff", "SESSION", "OTHER"), "Session.compare"),
    Action("/api/results.zip", "download several", ("p2p", "pack", "SESSION", "OTHER"), "Session.pack"),
    Action(
        "/e2e/{session_id}/compare",
        "compare two iterations",
        ("p2p", "diff", "{session_id}", "1", "2"),
        "Session.compare_iterations",
    ),
    Action(
        "/e2e/{session_id}/compare/{iteration_id}/{other_id}",
        "say which is better",
        ("p2p", "compare", "{session_id}", "{iteration_id}", "{other_id}", "--better", "first", "--because", "TEXT"),
        "Session.prefer",
    ),
    Action(
        "/e2e/{session_id}/iterations/{iteration_id}/label",
        "score a rollout",
        ("p2p", "label", "{session_id}", "--iteration", "{iteration_id}", "--rollout", "median", "--score", "0.75"),
        "Session.label",
    ),
    Action("/benchmark", "begin", ("p2p", "benchmark", "run", "SUITE"), "run_benchmark"),
    Action("/benchmark/{benchmark_id}/stop", "stop", ("p2p", "benchmark", "stop", "{benchmark_id}"), "Benchmark.stop"),
    Action(
        "/benchmark/{benchmark_id}/resume",
        "go on",
        ("p2p", "benchmark", "resume", "{benchmark_id}"),
        "Benchmark.resume",
    ),
    Action(
        "/benchmark/{benchmark_id}/delete",
        "move to the trash",
        ("p2p", "benchmark", "delete", "{benchmark_id}"),
        "Benchmark.delete",
    ),
    Action("/trash/{entity_id}/restore", "restore", ("p2p", "trash", "--restore", "NAME"), "Session.restore"),
    Action("/trash/{entity_id}/purge", "remove for good", ("p2p", "trash", "--delete", "NAME"), "Session.purge"),
    Action("/trash/empty", "remove everything", ("p2p", "trash", "--empty"), "Session.purge"),
    Action("/monitor/nodes/{name}/check", "check a node", ("p2p", "nodes", "check", "NODE"), ""),
    Action("/monitor/jobs/{job_id}/cancel", "cancel a job", ("p2p", "jobs", "JOB", "--cancel"), ""),
    Action("/settings", "check this machine", ("p2p", "doctor"), ""),
)
"""Every form of the pages but the theme, which is the browser's own."""


def commands_of(*forms: str, **parts: object) -> list[tuple[str, str]]:
    """What the forms of a page do, each with its command.

    Args:
        forms: Their addresses, as in `ACTIONS`.
        parts: What stands in braces.
    """
    return [
        (action.does, command(*(word.format(**parts) for word in action.words)))
        for action in ACTIONS
        if action.form in forms
    ]
