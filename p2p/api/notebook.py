"""HTML view of a session for notebooks: verdict, criteria, video and learning curve."""

from base64 import b64encode
from html import escape
from pathlib import Path

from p2p.contracts.intent import needed, number, share_in_words
from p2p.contracts.judgment import CriterionScore
from p2p.contracts.session import SessionView

MOST_BYTES = 8_000_000
"""Of a video or picture that is put into the page; a larger one is named by its path."""


def session_html(view: SessionView, video: Path | None, curve: Path | None) -> str:
    """Self-contained HTML of a session; all text is escaped.

    Args:
        view: The session.
        video: Of its median rollout.
        curve: Its learning curve.
    """
    session = view.session
    judgment = view.judgment
    parts = [
        f"<b>{escape(session.prompt or 'a reward of its own')}</b> on {escape(session.env_id)}: "
        f"<b>{escape(str(view.status))}</b> <code>{escape(session.session_id)}</code>"
    ]
    if view.error:
        parts.append(f"<pre>{escape(view.error)}</pre>")
    if judgment is not None:
        rows = "".join(map(_row, judgment.criteria))
        parts.append(f"<p>{escape(judgment.diagnosis)}</p>")
        parts.append(
            "<table><tr><th>criterion</th><th>measured [95 %]</th><th>needed</th><th>rollouts that meet it</th></tr>"
            f"{rows}</table>"
        )
    parts += [part for part in (_embedded(video, "video/mp4"), _embedded(curve, "image/png")) if part]
    return "<div>" + "\n".join(parts) + "</div>"


def _row(score: CriterionScore) -> str:
    spread = "" if score.low is None or score.high is None else f" [{number(score.low)}, {number(score.high)}]"
    cells = (
        score.title + ("" if score.required else " (not required)"),
        number(score.value, score.unit) + spread,
        needed(score.comparison, score.threshold, score.upper, score.unit),
        f"{share_in_words(score.met_share)} {'✓' if score.met else '✗'}",
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _embedded(file: Path | None, media_type: str) -> str:
    """Embed a file in the page; empty if it is missing, its path if it is too large."""
    if file is None or not file.is_file():
        return ""
    if file.stat().st_size > MOST_BYTES:
        return f"<p>{escape(str(file))}</p>"
    data = f"data:{media_type};base64,{b64encode(file.read_bytes()).decode()}"
    if media_type.startswith("video/"):
        return f'<video controls loop muted width="480" src="{data}"></video>'
    return f'<img width="640" src="{data}">'
