"""What is said about a sentence that is not understood."""

from p2p.contracts.errors import UnknownPhrase
from p2p.rewards.templates import TEMPLATES
from p2p.rewards.templates.bodies import Body


def not_understood(problem: str, body: Body) -> UnknownPhrase:
    """The error, with what is understood for this robot and the two ways around the grammar.

    Args:
        problem: What is wrong, as a sentence that names the part of the prompt.
        body: The robot.
    """
    known = "\n".join(f"  {line}" for line in examples(body)) or "  nothing yet"
    return UnknownPhrase(
        f"{problem}\n"
        f"Without a model, these are understood for {body.env_id}:\n{known}\n"
        "with: slowly, moderately, as fast as you can, at 2 m/s; smoothly, with little effort, without falling, "
        "upright; for 5 seconds; …, then …\n"
        "Two other ways: configure a model provider, which reads any sentence (in a later version); or write a reward "
        f"and run `p2p train --reward FILE --env {body.env_id}`."
    )


def examples(body: Body) -> tuple[str, ...]:
    """One line of example sentences for each skill the robot has."""
    found = (kind() for kind in TEMPLATES.values())
    return tuple(", ".join(t.examples(body)) for t in found if t.refusal(body) is None)
