"""The rewards that an iteration's was chosen from."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from p2p.cli.formats import share
from p2p.cli.tables import table
from p2p.contracts.numbers import number, score_in_words

if TYPE_CHECKING:
    from p2p.contracts.iteration import IterationView
    from p2p.contracts.reward import CandidateChoice


def candidate_table(view: "IterationView") -> Iterable[RenderableType]:
    """One row for each candidate, with what its short training reached; nothing where one reward was written."""
    if view.candidates is None:
        return
    numbers = ("steps", "score", "success", "return")
    made = table("candidate", "state", *numbers, "terms", right=numbers)
    for one in view.candidates.candidates:
        chosen = one.number == view.candidates.chosen
        made.add_row(
            f"{one.number}, chosen" if chosen else str(one.number),
            f"{one.state}, repaired" if one.mended else str(one.state),
            number(one.environment_steps),
            score_in_words(one.score),
            share(one.success_rate),
            number(one.episode_return),
            Text(", ".join(one.terms) or one.problem.partition("\n")[0]),
            style="bold" if chosen else "",
        )
    yield f"Candidates for the reward of iteration {view.iteration}:"
    yield made


def candidate_findings(choice: "CandidateChoice") -> Iterator[RenderableType]:
    """What the checks say of each, and why it was not trained."""
    for one in choice.candidates:
        problem = (one.problem,) if one.problem and not one.findings else ()
        for finding in (*one.findings, *problem):
            yield Text(f"  candidate {one.number}: {finding}", style="yellow")
