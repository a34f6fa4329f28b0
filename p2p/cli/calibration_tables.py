"""What a calibration found, as tables for people and for a file."""

from rich.console import RenderableType
from rich.text import Text

from p2p.cli.tables import table
from p2p.contracts.calibration import (
    LEAST_AUROC,
    MOST_FALSE_PASSES,
    Calibration,
    ClaimKind,
    JudgeCalibration,
    Share,
    on_target,
)

SHOWN_MISTAKES = 20
WORDS = ("passed", "failed", "no_verdict")


def calibration_tables(calibration: Calibration) -> list[RenderableType]:
    """The confusion matrix and the rates of every judge, then what was judged wrongly."""
    parts: list[RenderableType] = [_setting(calibration)]
    for judge in calibration.judges:
        parts += [_confusion(judge), _rates(judge), *_mistakes(judge)]
    return parts


def markdown(calibration: Calibration) -> str:
    """The table of a README."""
    head = (
        "| judge | near misses that pass | exploits that pass | others that pass | positives that fail | no verdict "
        "| AUROC | variance | a verdict takes | costs |\n" + "|---" * 10 + "|"
    )
    return "\n".join([head, *(_row(judge) for judge in calibration.judges), "", _setting(calibration)])


def _row(judge: JudgeCalibration) -> str:
    passes = judge.false_passes
    kinds = (ClaimKind.NEAR_MISS, ClaimKind.EXPLOIT, ClaimKind.NEGATIVE)
    cells = [
        judge.judge,
        *(_share(passes[kind]) if kind in passes else "–" for kind in kinds),
        _share(judge.false_fails),
        f"{sum(counts.get('no_verdict', 0) for counts in judge.verdicts.values()):,}",
        _number(judge.auroc, "{:.4f}"),
        _number(judge.score_variance, "{:.2g}"),
        f"{1000 * judge.seconds_per_verdict:.1f} ms",
        f"${judge.usd_per_verdict:.4f}" if judge.usd_per_verdict else "$0",
    ]
    return f"| {' | '.join(cells)} |"


def _setting(calibration: Calibration) -> str:
    robots = ", ".join(f"{name} {n}" for name, n in calibration.clips.items())
    return (
        f"{calibration.n_clips:,} clips ({robots}), {calibration.claims:,} verdicts on {calibration.sentences} "
        f"sentences, seed {calibration.seed}, {calibration.seconds:.0f} s."
    )


def _confusion(judge: JudgeCalibration) -> RenderableType:
    made = table(f"{judge.judge}: the clip is a …", *(word.replace("_", " ") for word in WORDS), "wrong [95 %]",
                 right=("passed", "failed", "no verdict", "wrong [95 %]"))  # fmt: skip
    for kind in ClaimKind:
        counts = judge.verdicts.get(kind, {})
        share = judge.false_fails if kind.holds else judge.false_passes.get(kind)
        wrong = "–" if share is None else _share(share)
        made.add_row(kind.replace("_", " "), *(f"{counts.get(word, 0):,}" for word in WORDS), wrong)
    return made


def _rates(judge: JudgeCalibration) -> RenderableType:
    made = table("measured", "value", "target", right=("value", "target"))
    made.add_row("false passes, near misses and exploits", _share(judge.costly), f"≤ {MOST_FALSE_PASSES:.0%}")
    if judge.trained is not None:
        made.add_row("wrong or missing, trained policies", _share(judge.trained), "")
    made.add_row("AUROC of the score", _number(judge.auroc, "{:.4f}"), f"≥ {LEAST_AUROC:g}")
    made.add_row(f"variance, {judge.repeated} repeated", _number(judge.score_variance, "{:.2g}"), "0")
    made.add_row("a verdict takes", f"{1000 * judge.seconds_per_verdict:.2g} ms", "")
    made.add_row("a verdict costs", f"${judge.usd_per_verdict:.4f}" if judge.usd_per_verdict else "$0", "")
    met = on_target(judge)
    made.add_row("on target", Text("yes", style="green") if met else Text("no", style="red"), "")
    return made


def _mistakes(judge: JudgeCalibration) -> list[RenderableType]:
    if not judge.mistakes:
        return []
    made = table("clip", "is a", "for", "verdict", "score", right=("score",))
    for mistake in judge.mistakes[:SHOWN_MISTAKES]:
        word = {True: "passed", False: "failed", None: "no verdict"}[mistake.passed]
        kind = mistake.kind.replace("_", " ")
        said = f"{word}: {mistake.reason}" if mistake.reason else word
        made.add_row(mistake.clip_id, kind, mistake.sentence, said, _number(mistake.score, "{:.3g}"))
    return [made]


def _share(share: Share) -> str:
    """ "0 of 747 [0 %, 0.51 %]"."""
    if share.low is None or share.high is None:
        return "–"
    return f"{share.count} of {share.of:,} [{100 * share.low:.2g} %, {100 * share.high:.2g} %]"


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)
