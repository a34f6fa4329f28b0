"""One sentence as one criterion, for a judge function that decides all of it."""

from p2p.contracts.intent import Category, Criterion, Intent

KEY = "does_what_was_asked"
LONGEST_TITLE = 80


def whole(intent: Intent) -> Intent:
    """The same sentence with a single criterion that no predicate decides; what it means is told in words alone."""
    titles = {criterion.key: criterion.title for criterion in intent.criteria}
    lines = [_told(criterion, titles) for criterion in intent.criteria]
    criterion = Criterion(
        key=KEY,
        title=intent.prompt[:LONGEST_TITLE],
        description="\n".join(["All of these, in one episode, and not by a trick that only gets the numbers:", *lines]),
        category=Category.DYNAMICS,
        predicate=None,
    )
    return intent.model_copy(update={"criteria": (criterion,)})


def _told(criterion: Criterion, titles: dict[str, str]) -> str:
    after = f" (after “{titles[criterion.after]}”)" if criterion.after is not None else ""
    wish = "" if criterion.required else " (welcome, and not required)"
    return f"- {criterion.title}{after}{wish}. {criterion.description}"
