"""Tables in one style."""

from rich.box import SIMPLE_HEAD
from rich.table import Table


def table(*columns: str, right: tuple[str, ...] = (), title: str | None = None) -> Table:
    """An empty table; the columns in `right` hold numbers, which are neither wrapped nor set to the left."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", title_style="bold")
    for name in columns:
        made.add_column(name, justify="right" if name in right else "left", no_wrap=name in right)
    return made
