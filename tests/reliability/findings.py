"""What a campaign did, what went wrong in it, and how long things took."""

import statistics
from dataclasses import dataclass, field


@dataclass
class Findings:
    """The outcome of one campaign."""

    done: dict[str, int] = field(default_factory=dict)
    """What was done, and how often."""
    wrong: dict[str, list[str]] = field(default_factory=dict)
    """Everything that must not happen, with the cases in which it did."""
    times_s: dict[str, list[float]] = field(default_factory=dict)
    """What was measured [s]."""
    notes: list[str] = field(default_factory=list)
    """Further figures, in words."""
    skipped: str | None = None
    """Why it could not be tried on this machine."""

    def watch_for(self, *names: str) -> None:
        """Say what must not happen, so that it is counted where it does not."""
        for name in names:
            self.wrong.setdefault(name, [])

    def went_wrong(self, name: str, case: str) -> None:
        self.wrong.setdefault(name, []).append(case)

    def count(self, name: str, times: int = 1) -> None:
        self.done[name] = self.done.get(name, 0) + times

    def took(self, name: str, seconds: float) -> None:
        self.times_s.setdefault(name, []).append(seconds)

    @property
    def failures(self) -> list[str]:
        """Everything that went wrong, one line each."""
        return [f"{name}: {case}" for name, cases in self.wrong.items() for case in cases]

    def row(self, name: str) -> str:
        """A line of a Markdown table."""
        if self.skipped is not None:
            return f"| {name} | not tried: {self.skipped} | | |"
        done = ", ".join(f"{times:,} {what}" for what, times in self.done.items())
        wrong = ", ".join(f"{len(cases)} {what}" for what, cases in self.wrong.items())
        times = [f"{what} {_times(values)}" for what, values in self.times_s.items() if values]
        return f"| {name} | {done} | {wrong} | {'; '.join(times + self.notes)} |"


HEAD = "| what was done | how often | went wrong | median, longest |\n|---|---|---|---|"


def _times(values: list[float]) -> str:
    return f"{_time(statistics.median(values))}, {_time(max(values))}"


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
