"""What a calibration found, as tables for people and for a file."""

from rich.console import RenderableType
from rich.text import Text

from p2p.cli.tables import table
from p2p.contracts.known_motions import ClaimKind
from p2p.lab.contracts.calibration import (
    LEAST_AUROC,
    MOST_FALSE_FAILS,
    MOST_FALSE_PASSES,
    Calibration,
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
        rates = table("measured", "value", "target", right=("value", "target"))
        rates.add_row("false passes, near misses and exploits", _share(judge.costly), f"≤ {MOST_FALSE_PASSES:.0%}")
        rates.add_row("false fails", _share(judge.false_fails), f"≤ {MOST_FALSE_FAILS:.0%}")
        if judge.trained is not None:
            rates.add_row("wrong or missing, trained policies", _share(judge.trained), "")
        rates.add_row("AUROC of the score", _number(judge.auroc, "{:.4f}"), f"≥ {LEAST_AUROC:g}")
        rates.add_row(f"variance, {judge.repeated} repeated", _number(judge.score_variance, "{:.2g}"), "0")
        rates.add_row("a verdict takes", f"{1000 * judge.seconds_per_verdict:.2g} ms", "")
        rates.add_row("a verdict costs", f"${judge.usd_per_verdict:.4f}" if judge.usd_per_verdict else "$0", "")
        met = on_target(judge)
        rates.add_row("on target", Text("yes", style="green") if met else Text("no", style="red"), "")
        parts += [_confusion(judge, "mended on"), rates, *_errors(judge), *_mistakes(judge)]
    for judge in calibration.never_looked_at:
        parts += [_confusion(judge, "never looked at"), *_errors(judge), *_mistakes(judge)]
    return parts


def markdown(calibration: Calibration) -> str:
    """The table of docs/calibration.md."""
    head = (
        "| judge | clips | near misses that pass | exploits that pass | others that pass | positives that fail "
        "| no verdict | AUROC | variance | a verdict takes | costs |\n" + "|---" * 11 + "|"
    )
    rows = [_row(judge, "mended on") for judge in calibration.judges]
    rows += [_row(judge, "never looked at") for judge in calibration.never_looked_at]
    return "\n".join([head, *rows, "", _setting(calibration)])


def what_remains(calibration: Calibration) -> str:
    """What is still judged wrongly, as tables of a document: by change, then by sentence."""
    parts = []
    judged = [
        *((judge, "clips that criteria are mended on") for judge in calibration.judges),
        *((judge, "clips never looked at") for judge in calibration.never_looked_at),
    ]
    for judge, words in judged:
        families = [
            f"| {family} | {_share(rates.false_passes)} | {_share(rates.false_fails)} |"
            for family, rates in judge.by_mutation.items()
        ]
        sentences = [
            f"| {rates.env_id} | {rates.sentence} | {_share(rates.false_passes)} | {_share(rates.false_fails)} |"
            for rates in judge.by_sentence
            if rates.false_passes.count or rates.false_fails.count
        ]
        right = len(judge.by_sentence) - len(sentences)
        parts += [f"### {judge.judge}: {words}", ""]
        parts += ["| change | wrong passes | wrong fails |", "|---|---|---|", *families, ""]
        if sentences:
            parts += ["| robot | sentence | wrong passes | wrong fails |", "|---|---|---|---|", *sentences, ""]
        parts += [f"No error on {right} of {len(judge.by_sentence)} sentences.", ""]
    return "\n".join([*parts, _setting(calibration)])


def _row(judge: JudgeCalibration, clips: str) -> str:
    passes = judge.false_passes
    kinds = (ClaimKind.NEAR_MISS, ClaimKind.EXPLOIT, ClaimKind.NEGATIVE)
    cells = [
        judge.judge,
        clips,
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
    held = calibration.held_out
    apart = ""
    if held is not None:
        opened = "; they have been opened" if held.opened else ""
        apart = (
            f" Never looked at: changed clips of {', '.join(held.env_ids)}, and these changes: "
            f"{', '.join(held.families)} (hold-out seed {held.seed}{opened})."
        )
    return (
        f"{calibration.n_clips:,} clips ({robots}), {calibration.claims:,} verdicts on {calibration.sentences} "
        f"sentences, seed {calibration.seed}, {calibration.seconds:.0f} s.{apart}"
    )


def _confusion(judge: JudgeCalibration, clips: str) -> RenderableType:
    title = f"{judge.judge}, clips {clips}: the clip is a …"
    made = table(title, *(word.replace("_", " ") for word in WORDS), "wrong [95 %]",
                 right=("passed", "failed", "no verdict", "wrong [95 %]"))  # fmt: skip
    for kind in ClaimKind:
        counts = judge.verdicts.get(kind, {})
        share = judge.false_fails if kind.holds else judge.false_passes.get(kind)
        wrong = "–" if share is None else _share(share)
        made.add_row(kind.replace("_", " "), *(f"{counts.get(word, 0):,}" for word in WORDS), wrong)
    return made


def _errors(judge: JudgeCalibration) -> list[RenderableType]:
    """By change, and by sentence where there is an error."""
    parts: list[RenderableType] = []
    if judge.by_mutation:
        made = table("change", "wrong passes", "wrong fails", right=("wrong passes", "wrong fails"))
        for family, rates in judge.by_mutation.items():
            made.add_row(family, _share(rates.false_passes), _share(rates.false_fails))
        parts.append(made)
    wrong = [rates for rates in judge.by_sentence if rates.false_passes.count or rates.false_fails.count]
    if wrong:
        made = table("robot", "sentence", "wrong passes", "wrong fails", right=("wrong passes", "wrong fails"))
        for rates in wrong:
            made.add_row(rates.env_id, rates.sentence, _share(rates.false_passes), _share(rates.false_fails))
        parts.append(made)
    return parts


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
    low, high = (f"{100 * end:.2g}" if end < 0.995 else "100" for end in (share.low, share.high))
    return f"{share.count} of {share.of:,} [{low} %, {high} %]"


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)
