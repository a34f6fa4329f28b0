"""The tables of the documents that are made from the code: `python tests/docs/generated.py` writes them."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from reference import PAGES

from p2p.agents.builtin.refusals import examples
from p2p.envs import catalog
from p2p.lab.worker.clips.calibration_clips import MUTATIONS
from p2p.rewards.templates.body_table import body_of
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.web.app import web_app
from p2p_mcp.docs import offer, tool_names

ROOT = Path(__file__).parents[2]


def environments() -> str:
    """What can be trained on."""
    rows = ["| environment | observation | action | control period | features | ends early |", "|---" * 6 + "|"]
    for env_id in catalog.known():
        spec = catalog.load(env_id)
        early = "never" if spec.termination == "never" else "can be chosen" if spec.can_disable_termination else "yes"
        sizes = f"{spec.obs_dim} | {spec.action_dim} | {spec.dt:g} s | {len(spec.features)}"
        rows.append(f"| {env_id} | {sizes} | {early} |")
    return "\n".join(rows)


def sentences() -> str:
    """What the built-in author understands."""
    rows = ["| environment | for example |", "|---|---|"]
    for env_id in catalog.known():
        rows.append(f"| {env_id} | {'; '.join(examples(body_of(catalog.load(env_id))))} |")
    return "\n".join(rows)


def mutations() -> str:
    """What is changed of clips that do what is asked, and what they are then."""
    rows = ["| change | of family | sentences that … | are then | because |", "|---" * 5 + "|"]
    for mutation in MUTATIONS:
        for truth in mutation.truths:
            skills, kind = ", ".join(truth.skills), truth.kind.replace("_", " ")
            rows.append(f"| {mutation.words} | {mutation.family} | {skills} | {kind} | {truth.reason} |")
    return "\n".join(rows)


def tools() -> str:
    """What the server offers, by name."""
    return tool_names(offer().tools)


def routes() -> str:
    """Every address of the web front end."""
    rows = ["| request | what it does | for |", "|---" * 3 + "|"]
    with TemporaryDirectory() as folder:
        paths = web_app(Workspace(Settings(runs_dir=Path(folder)))).openapi()["paths"]
    for path, methods in paths.items():
        for method, told in methods.items():
            words = " ".join(told["description"].partition("\n\n")[0].split())
            rows.append(f"| `{method.upper()} {path}` | {words} | {'all' if told.get('x-shared') else 'the owner'} |")
    return "\n".join(rows)


BLOCKS = {
    "docs/clients.md": {"tools": tools},
    "docs/environments.md": {"environments": environments},
    "docs/judging.md": {"sentences": sentences},
    "docs/web.md": {"routes": routes},
    "docs/calibration.md": {"mutations": mutations},
}


def with_tables(text: str, blocks: dict[str, object]) -> str:
    """A document with its generated blocks as the code says they are."""
    for name, make in blocks.items():
        assert callable(make)
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
        assert pattern.search(text), f"the block {name} has no place in the document"
        text = pattern.sub(lambda match, make=make: match[1] + make() + match[2], text)
    return text


def main() -> None:
    """Write every block into its document, and every page that is made whole."""
    for file, blocks in BLOCKS.items():
        path = ROOT / file
        path.write_text(with_tables(path.read_text(encoding="utf-8"), dict(blocks)), encoding="utf-8")
    for file, make in PAGES.items():
        path = ROOT / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
