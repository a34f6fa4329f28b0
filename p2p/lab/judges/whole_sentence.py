"""One sentence as one criterion, for a judge function that decides all of it."""

from p2p.contracts.intent import Category, Criterion, Intent

KEY = "does_what_was_asked"
LONGEST_TITLE = 80


def whole(intent: Intent) -> Intent:
    """The same sentence with a single criterion that no predicate decides; what it means is told in words alone."""
    titles = {criterion.key: criterion.title for criterion in intent.criteria}
    lines = []
    for one in intent.criteria:
        after = f" (after “{titles[one.after]}”)" if one.after is not None else ""
        wish = "" if one.required else " (welcome, and not required)"
        lines.append(f"- {one.title}{after}{wish}. {one.description}")
    criterion = Criterion(
        key=KEY,
        title=intent.prompt[:LONGEST_TITLE],
        description="\n".join(["All of these, in one episode, and not by a trick that only gets the numbers:", *lines]),
        category=Category.DYNAMICS,
        predicate=None,
    )
    return intent.model_copy(update={"criteria": (criterion,)})
