"""`p2p bench behaviours`: what the built-in author's sentences become, and why not."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer

from p2p.benchmark.table_place import TablePlace
from p2p.cli.benchmark import parse_seeds
from p2p.cli.completion import complete_environment
from p2p.cli.config import read_config
from p2p.cli.options import AsJson, Assignments, RunsDir, Timesteps, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.session_options import USUAL, PriorityOption, option
from p2p.contracts.errors import INTERRUPTED, InvalidInput, UnknownName
from p2p.contracts.session import NewSession
from p2p.contracts.suite import Budget, NewSuiteRun, Selection
from p2p.lab.behaviours.grammar import ORDER_SEED, SUITE, grammar, suite_of
from p2p.lab.behaviours.night import outcome_in_words, run_watched
from p2p.lab.behaviours.results import report
from p2p.lab.behaviours.sample import sample
from p2p.lab.behaviours.tables import listing, markdown, terminal
from p2p.lab.contracts.behaviours import Behaviour, BehavioursReport, Grammar, LeftOut
from p2p.service.machines.setup import require_training
from p2p.service.sessions.requests import new_session
from p2p.service.suites.running import new_suite_run

BEHAVIOURS_EXAMPLES = examples(
    "p2p bench behaviours --list",
    "p2p bench behaviours --cases 40 --seeds 1 --iterations 1",
    "p2p bench behaviours --env Ant-v5 --skill jump --jobs 2 --hours 8",
    "p2p bench behaviours --report --readme docs/behaviours.md",
)
WHICH, BUDGET, WHAT = "Which sentences", "What a session may take", "What to do"

Environments = Annotated[
    list[str] | None,
    typer.Option(
        "--env", help="Only this robot; repeatable.", autocompletion=complete_environment, rich_help_panel=WHICH
    ),
]
Skills = Annotated[
    list[str] | None,
    typer.Option("--skill", help="Only this skill, such as jump or sequence; repeatable.", rich_help_panel=WHICH),
]
Cases = Annotated[
    int | None,
    typer.Option(
        "--cases", min=1, help="Draw so many, evenly over robots and skills.", show_default="all", rich_help_panel=WHICH
    ),
]
SampleSeed = Annotated[
    int, typer.Option("--sample-seed", min=0, help="Of that draw; more cases hold the fewer.", rich_help_panel=WHICH)
]
SeedList = Annotated[
    str, typer.Option("--seeds", metavar="1,2,3", help="Sessions of each sentence.", rich_help_panel=WHICH)
]
Iterations = Annotated[int, option(NewSession, "max_iterations", "--iterations", rich_help_panel=BUDGET)]
Trainings = Annotated[int, option(NewSession, "n_seeds", "--trainings", rich_help_panel=BUDGET)]
Jobs = Annotated[int, option(NewSuiteRun, "parallel", "--jobs")]
Hours = Annotated[
    float | None,
    typer.Option("--hours", min=0.001, help="Stop after so many; the same command goes on.", show_default="to its end"),
]
Readme = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help="File to write the tables to, between its `behaviours` markers."),
]


def behaviours(  # noqa: PLR0913  typer reads one parameter per option
    env: Environments = None,
    skill: Skills = None,
    cases: Cases = None,
    sample_seed: SampleSeed = ORDER_SEED,
    seeds: SeedList = "1,2,3",
    iterations: Iterations = USUAL.max_iterations,
    timesteps: Timesteps = None,
    trainings: Trainings = USUAL.n_seeds,
    assignments: Assignments = None,
    priority: PriorityOption = None,
    jobs: Jobs = 1,
    hours: Hours = None,
    name: Annotated[str, option(NewSuiteRun, "name", "--name")] = SUITE,
    list_only: Annotated[
        bool, typer.Option("--list", help="List the sentences and run nothing.", rich_help_panel=WHAT)
    ] = False,
    report_only: Annotated[
        bool, typer.Option("--report", help="Show what has been run so far and run nothing.", rich_help_panel=WHAT)
    ] = False,
    pictures: Annotated[bool, typer.Option("--pictures", help="Make pictures and videos of the sessions too.")] = False,
    readme: Readme = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Run the whole grammar of the built-in author as real sessions, and show what passes and why the rest does not.

    The sentences are made by rules. The sessions are those of a run of a suite: killed or stopped, the same command
    goes on, and nothing is repeated; `p2p benchmark` shows and stops the run too. Ctrl-C stops its trainings.
    """
    output = Output(as_json)
    name = name or SUITE
    place = TablePlace(readme, SUITE) if readme is not None else None
    known = grammar()
    meant = _drawn(known, env or (), skill or (), cases, sample_seed)
    if list_only:
        output.result(meant, *listing(meant))
        return
    if not pictures:
        os.environ["P2P_RENDERER"] = "none"  # nobody looks at thousands of videos, which jobs make from here on
    ws = open_workspace(runs_dir)
    if not report_only:
        require_training(ws)
        suite = suite_of(known, Budget(max_iterations=iterations, total_timesteps=timesteps))
        asked = new_suite_run(
            name=name,
            seeds=parse_seeds(seeds),
            only=Selection(case=tuple(one.name for one in meant.behaviours)),
            parallel=jobs,
            system=new_session(
                n_seeds=trainings,
                config=read_config(None, assignments or (), None),
                priority=priority or USUAL.priority,
            ),
        )
        try:
            run_watched(ws, suite, asked, lambda one: output.console.print(outcome_in_words(one), markup=False), hours)
        except KeyboardInterrupt:
            output.console.print("Stopped. The same command goes on.", markup=False)
            raise typer.Exit(INTERRUPTED) from None
    _show(output, report(ws, name, env or (), skill or ()), place)


def _drawn(known: Grammar, env_ids: Collection[str], skills: Collection[str], n: int | None, seed: int) -> Grammar:
    """The sentences that are meant, in the grammar's order; one that is drawn is, if it matches the filters.

    Raises:
        UnknownName: of a robot or skill.
        InvalidInput: no sentence matches.
    """
    robots = dict.fromkeys(one.env_id for one in known.behaviours)
    names = dict.fromkeys(one.skill for one in known.behaviours)
    for kind, asked, there in (("environment", env_ids, robots), ("skill", skills, names)):
        for name in asked:
            if name not in there:
                raise UnknownName(kind, name, there)
    found: Sequence[Behaviour] = [
        one
        for one in known.behaviours
        if (not env_ids or one.env_id in env_ids) and (not skills or one.skill in skills)
    ]
    if not found:
        raise InvalidInput(f"No robot among {', '.join(env_ids)} has the skill {' or '.join(skills)}.")
    if n is not None:
        drawn = {one.name for one in sample(found, n, seed)}
        found = [one for one in found if one.name in drawn]

    def elsewhere(rows: Sequence[LeftOut]) -> tuple[LeftOut, ...]:
        return tuple(row for row in rows if not env_ids or row.env_id in env_ids)

    return Grammar(behaviours=tuple(found), same=elsewhere(known.same), refused=elsewhere(known.refused))


def _show(output: Output, found: BehavioursReport, place: TablePlace | None) -> None:
    if place is not None:
        place.write(markdown(found))
    output.result(found, *terminal(found))
