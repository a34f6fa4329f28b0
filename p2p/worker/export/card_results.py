"""Measured results in the model card."""

from p2p.contracts.export import ExportReport, FormatCheck, RecordedEpisode, ReturnStatistics
from p2p.contracts.intent import Comparison, Criterion
from p2p.contracts.judgment import CriterionScore, Judgment
from p2p.contracts.rollout import Purpose
from p2p.worker.export.markdown import interval, number, plain, share, table
from p2p.worker.export.source import Source
from p2p.worker.export.verify import LIMIT

WHOSE = {
    Purpose.REPORT: "Report rollouts: nobody chose anything by them, and their seeds meet no other.",
    Purpose.SELECTION: "Selection rollouts: checkpoints were chosen by them, so expect somewhat less elsewhere.",
}


def criteria(source: Source) -> list[str]:
    """Criteria and their measured values."""
    if source.intent is None:
        return ["Nothing but its reward: it was trained without a sentence, and nobody judged it."]
    asked = f"“{plain(source.intent.prompt)}”, in episodes of {source.intent.episode_s:g} s."
    if source.judgment is None:
        wanted = [(item.title, plain(item.description), _required(item)) for item in source.intent.criteria]
        return [asked, "This checkpoint was not judged.", table(("criterion", "what it means", "required"), wanted)]
    columns = ("criterion", "measured", "95 % interval", "needed", "rollouts that met it", "met")
    return [asked, _verdict(source.judgment), table(columns, [_row(item) for item in source.judgment.criteria])]


def returns(source: Source, report: ExportReport) -> list[str]:
    """Mean returns with intervals, and the rollouts they are from."""
    seeds = [rollout.seed for rollout in source.evaluation.rollouts]
    lengths = sorted({rollout.length for rollout in source.evaluation.rollouts})
    rows = [
        _statistics("the trained one", report.trained_returns),
        _statistics("Gymnasium's own", report.gymnasium_returns),
    ]
    return [
        table(("reward", "rollouts", "mean return", "standard deviation", "95 % interval of the mean"), rows),
        f"{WHOSE[source.evaluation.purpose]} Environment seeds {min(seeds)} to {max(seeds)}, "
        f"{' or '.join(map(str, lengths))} steps of {source.spec.dt:g} s, deterministic actions; "
        "an episode goes its whole time, also where the robot falls.",
    ]


def checks(report: ExportReport) -> list[str]:
    """Parity of each format with the policy, and its replay of the recorded episode."""
    episode = report.episode
    rows = [("recorded", "", "", *_returned(episode))]
    rows += [(c.format, ", ".join(c.files), f"{c.max_difference:.2g}", *_returned(c)) for c in report.checks]
    columns = ("format", "files", "largest difference", "return, trained reward", "return, Gymnasium's reward")
    return [
        f"On {report.checks[0].n_observations} recorded observations the actions of each format were compared with "
        f"those of `policy.npz`; the largest difference, as a share of the action's range, had to stay below "
        f"{LIMIT:g}. Then each replayed the recorded {episode.label} rollout (seed {episode.seed}, "
        f"{episode.steps} steps):",
        table(columns, rows),
        "Between observation and action all is computed in float64, so that the episode is the recorded one to the "
        "last digit. `sb3-predict` is stable-baselines3's own float32: a chaotic robot makes a somewhat different "
        "episode of the last bit of an action. To see it: `python replay.py`, which needs no p2p; only the trained "
        "reward does, for the measurements it reads.",
    ]


def _returned(episode: RecordedEpisode | FormatCheck) -> tuple[str, str]:
    return f"{episode.trained_return:.6f}", f"{episode.gymnasium_return:.6f}"


def _verdict(judgment: Judgment) -> str:
    words = str(judgment.verdict).replace("_", " ")
    low, high = judgment.success_low, judgment.success_high
    between = "" if low is None or high is None else f", 95 % interval {share(low)} to {share(high)}"
    return (
        f"**Verdict: {words}.** {share(judgment.success_rate)} of {judgment.n_rollouts} rollouts met every required "
        f"criterion{between}; score {number(judgment.intent_score)}, needed {number(judgment.pass_threshold)}. "
        f"{plain(judgment.diagnosis.partition(chr(10))[0])}"
    )


def _row(item: CriterionScore) -> tuple[object, ...]:
    title = item.title if item.required else f"{item.title} (not required)"
    return (
        title,
        number(item.value, item.unit),
        interval(item.low, item.high, item.unit),
        _needed(item),
        share(item.met_share),
        "yes" if item.met else "no",
    )


def _needed(item: CriterionScore) -> str:
    if item.comparison is Comparison.BETWEEN:
        return interval(item.threshold, item.upper, item.unit)
    return f"{'≥' if item.comparison is Comparison.AT_LEAST else '≤'} {number(item.threshold, item.unit)}"


def _required(item: Criterion) -> str:
    return "yes" if item.required else "no"


def _statistics(name: str, found: ReturnStatistics) -> tuple[object, ...]:
    return name, found.n, number(found.mean), number(found.std), interval(found.low, found.high)
