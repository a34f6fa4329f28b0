"""Comparisons of runs of a suite, and of judges on one run: means over cases, paired differences, intervals."""

from enum import StrEnum

from p2p.contracts.base import Contract


class Metric(StrEnum):
    """What is compared, a number for each session."""

    EXAM = "exam"
    """Whether its policy passed the exam."""
    ITSELF = "itself"
    """Whether it passed by the verdict of its own session."""
    FLATTERY = "flattery"
    """Passed by itself less passed the exam: how far a system flatters itself."""
    EXAM_SUCCESS = "exam_success"
    """Share of exam rollouts that met every required criterion."""
    EXAM_SCORE = "exam_score"
    SUCCESS = "success"
    """Share of report rollouts that met its own required criteria."""
    SCORE = "score"
    """By its own criteria."""
    ITERATIONS = "iterations"
    STEPS = "steps"
    SECONDS = "seconds"
    DOLLARS = "dollars"


SUCCESSES = (Metric.EXAM, Metric.ITSELF, Metric.EXAM_SUCCESS, Metric.SUCCESS)
"""Successes and shares of them."""
SHARES = (*SUCCESSES, Metric.EXAM_SCORE, Metric.SCORE)
"""Whose values lie in [0, 1]."""
IN_POINTS = (*SHARES, Metric.FLATTERY)
"""Whose differences lie in [-1, 1]: they are drawn, and told in points of 100."""


class Estimate(Contract):
    """Mean over cases with its 95 % interval; every case counts once, however many sessions it had."""

    mean: float | None
    """None without a case."""
    low: float | None
    """None for fewer than two cases."""
    high: float | None
    n_cases: int


class Difference(Contract):
    """Paired difference over the cases that both have: second minus first."""

    mean: float | None
    """Mean of the cases' differences; None without a common case."""
    low: float | None
    """Lower end of its 95 % interval; None for fewer than two cases."""
    high: float | None
    p: float | None
    """Two-sided, of the sign-flip permutation test over cases; None as above."""
    p_holm: float | None = None
    """`p` corrected for all comparisons that are made at once."""
    n_cases: int
    n_changed: int
    """Cases with a difference other than 0: where few differ, nothing is known of the others."""


class ComparedMetric(Contract):
    """One metric of all runs."""

    metric: Metric
    estimates: tuple[Estimate, ...]
    """Of each run, over its own cases."""
    differences: tuple[Difference, ...]
    """Of each run after the first, from the first."""


class ComparedGroup(Contract):
    """The main metric over the cases of one category, difficulty or environment."""

    kind: str
    """"category", "difficulty" or "environment"."""
    name: str
    estimates: tuple[Estimate, ...]
    differences: tuple[Difference, ...]
    """`p_holm` is corrected for all groups of the kind and all runs."""


class SuiteComparison(Contract):
    """Runs of one suite, each compared with the first."""

    suite: str
    version: int
    digest: str
    runs: tuple[str, ...]
    main: Metric
    """What decides: the exam where the suite has one."""
    metrics: tuple[ComparedMetric, ...]
    groups: tuple[ComparedGroup, ...]
    notes: tuple[str, ...] = ()
    """What limits the comparison, in sentences."""
    chart: str | None = None
    """Forest plot, relative to the runs directory; None where none was drawn."""

    def metric(self, metric: Metric) -> ComparedMetric | None:
        """One metric of all runs; None where no session has it."""
        return next((one for one in self.metrics if one.metric is metric), None)


class ForestRow(Contract):
    """One interval of a forest plot."""

    label: str
    group: str
    """Rows of one group stand together, under its name."""
    mean: float
    low: float
    high: float
    n_cases: int
    main: bool = False
    """Whether it is drawn as the row that decides."""


class ForestRequest(Contract):
    """Draw differences with their intervals (`request.json`)."""

    title: str
    axis: str
    """What the differences are of."""
    rows: tuple[ForestRow, ...]


class JudgedAgreement(Contract):
    """How far one judge agrees with the exam."""

    judge: str
    n_policies: int
    """Policies that it judged and that sat an exam."""
    without_verdict: int
    """Of them those that it could not decide; they count as not passed."""
    agreement: Estimate
    """Share of policies on which verdict and exam agree, over cases."""
    false_passes: int
    """Passed by the judge, and not the exam."""
    false_fails: int
    kappa: float | None
    """Cohen's; None where chance alone would always agree."""
    auroc: float | None
    """Of its score against the exam; None where all policies passed the exam, or none."""
    dollars: float
    """What its looks and its code cost."""


class JudgeComparison(Contract):
    """Judges compared on the recorded rollouts of one run; nothing is simulated, and no model is asked."""

    run: str
    suite: str
    version: int
    digest: str
    judges: tuple[JudgedAgreement, ...]
    differences: tuple[Difference, ...]
    """Agreement with the exam of each judge after the first, less that of the first."""
    notes: tuple[str, ...] = ()
