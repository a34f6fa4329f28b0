"""The commands by name."""

from typing import Annotated

import typer

import p2p
from p2p import registry
from p2p.cli.lazy import LazyCommand, LazyGroup
from p2p.cli.options import examples

FIRST_STEPS = examples(
    "p2p doctor",
    'p2p run "run forward as fast as you can" --env HalfCheetah-v5',
    "p2p show latest",
    "p2p --install-completion",
)


class Commands(LazyGroup):
    """Every command, in the order of the help page."""

    rows = (
        LazyCommand("run", "p2p.cli.run:run", "Turn a SENTENCE into a trained and judged policy."),
        LazyCommand(
            "criteria",
            "p2p.cli.preview:criteria",
            "Show what a SENTENCE would be judged by; nothing is trained or saved.",
        ),
        LazyCommand(
            "check",
            "p2p.cli.check:check",
            "Check a REWARD without starting a session: whether it loads, what it pays and, with --probe, what is "
            "learnt.",
        ),
        LazyCommand(
            "agent",
            "p2p_mcp.agent.command:agent",
            "Let Claude turn a SENTENCE into a policy: it writes, trains, looks, judges and revises.",
        ),
        LazyCommand(
            "train",
            "p2p.cli.run:train",
            "Train a reward you wrote, once; with --intent SENTENCE, judge the policy.",
        ),
        LazyCommand(
            "judge",
            "p2p.cli.sessions:judge",
            "Judge the recorded rollouts again, by the session's criteria or another sentence; nothing is overwritten.",
        ),
        LazyCommand(
            "calibrate",
            "p2p.lab.judges.calibrate_command:calibrate",
            "Measure how often the judges are right, on a thousand generated clips of known truth.",
        ),
        LazyCommand(
            "attack",
            "p2p.lab.judges.attack_command:attack",
            "Search for motions that meet the criteria of a sentence without doing what it asks for.",
        ),
        LazyCommand(
            "list",
            "p2p.cli.listing:list_sessions",
            "List the sessions, the newest first; those in the trash are shown by `p2p trash`.",
        ),
        LazyCommand(
            "show",
            "p2p.cli.show:show",
            "Show a session in full: criteria, judgment, history, runs and files.",
        ),
        LazyCommand(
            "watch",
            "p2p.cli.sessions:watch",
            "Follow a running session to its end; Ctrl-C leaves it running.",
        ),
        LazyCommand(
            "view",
            "p2p.cli.view:view",
            "Make pictures of a recorded rollout: a contact sheet of what happens in it, moments, a video "
            "in slow motion.",
        ),
        LazyCommand(
            "plot",
            "p2p.cli.view:plot",
            "Plot how an iteration trained: returns and success, reward terms, or what the learner did.",
        ),
        LazyCommand(
            "states",
            "p2p.cli.states:states",
            "Write states of a recorded rollout to a file, for another training to begin in half of its episodes.",
        ),
        LazyCommand(
            "compare",
            "p2p.cli.compare:compare",
            "Ask a model which of two policies does better what was asked; an answer that depends on their order is "
            "a tie.",
        ),
        LazyCommand(
            "diff",
            "p2p.cli.diff:diff",
            "Show what two iterations, or the best ones of two sessions, reached, and how they differ; no model is "
            "asked.",
        ),
        LazyCommand("stop", "p2p.cli.sessions:stop", "Stop a session and its trainings; finished work is kept."),
        LazyCommand(
            "resume",
            "p2p.cli.sessions:resume",
            "Resume a session that was stopped, killed or failed; no finished step is repeated.",
        ),
        LazyCommand(
            "extend",
            "p2p.cli.extend:extend",
            "Start a new session from the best reward of an ended one, with stricter criteria or a wish.",
        ),
        LazyCommand(
            "tag",
            "p2p.cli.keeping:tag",
            "Give a session an alias, a star or tags, or show those it has; `p2p list` shows and filters by them.",
        ),
        LazyCommand(
            "delete",
            "p2p.cli.keeping:delete",
            "Move a session to the trash; its files stay until `p2p trash --empty`.",
        ),
        LazyCommand(
            "trash",
            "p2p.cli.keeping:trash",
            "List the sessions in the trash, last deleted first; restore one, or delete them for good.",
        ),
        LazyCommand(
            "steer",
            "p2p.cli.steer:steer",
            "Tell the model that writes a session's next reward what to do differently, or change settings.",
        ),
        LazyCommand(
            "tighten",
            "p2p.cli.tighten:tighten",
            "Make criteria stricter for the next iterations, after eyes refused a policy that met them; never looser.",
        ),
        LazyCommand(
            "analyze",
            "p2p.cli.analyze:analyze",
            "Report on a whole session: what was tried, what worked, and what to try next.",
        ),
        LazyCommand(
            "label",
            "p2p.cli.label:label",
            "Score a rollout as a person, and see how far the judges agree with people. No verdict changes.",
        ),
        LazyCommand(
            "jobs",
            "p2p.cli.jobs:jobs",
            "List background jobs, newest first; or show or cancel one.",
        ),
        LazyCommand(
            "export",
            "p2p.cli.export:export",
            "Write a trained policy for stable-baselines3, ONNX or TorchScript, with a model card and a replay.",
        ),
        LazyCommand(
            "pack",
            "p2p.cli.pack:pack",
            "Pack the best attempts of sessions into a ZIP file: criteria, rewards, verdicts, curves, videos, exports.",
        ),
        LazyCommand(
            "envs",
            "p2p.cli.catalog:envs",
            "List the environments, or describe one with a picture; keep a robot of your own under a name.",
        ),
        LazyCommand(
            "doctor",
            "p2p.cli.doctor:doctor",
            "Check Python, packages, pictures, sandbox, cores, memory, disk and keys, and say how to solve problems.",
        ),
        LazyCommand(
            "bench",
            "p2p.lab.commands:bench",
            "Measure what p2p claims: how fast it trains, what its presets learn, and what its sentences become.",
        ),
        LazyCommand("benchmark", "p2p.cli.benchmark:benchmark", "Suites of sentences with exams, and their runs."),
        LazyCommand(
            "lab",
            "p2p.lab.commands:lab",
            "Measure p2p itself: speed, confinement, presets, learners, statistics, and how often its judges are "
            "right.",
        ),
        LazyCommand(
            "web",
            "p2p.cli.web:web",
            "Serve sessions, trainings and verdicts to a browser on this machine, and as REST.",
        ),
        LazyCommand("models", "p2p.cli.models:models", "Language models on this machine, served by vLLM."),
        LazyCommand(
            "clusters",
            "p2p.cli.clusters:clusters",
            f"Clusters that trainings run on: {', '.join(registry.cluster_kinds())}.",
        ),
        LazyCommand("nodes", "p2p.cli.nodes:nodes", "Other machines to train on, over SSH."),
    )


app = typer.Typer(
    name="p2p",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"p2p {p2p.__version__}")
        raise typer.Exit


@app.callback(epilog=FIRST_STEPS)
def start(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", envvar="P2P_DEBUG", help="Show the traceback of an error.")] = False,
) -> None:
    """One sentence in, a trained and judged policy out.

    Exit codes: 0 passed or done, 2 usage or rejected input, 3 ended without passing, 4 a problem of this machine,
    130 interrupted (trainings go on).
    """
