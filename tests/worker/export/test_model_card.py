import pytest
from conftest import STEP

from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.judgment import CriterionScore, Judgment, Provenance, Verdict
from p2p.contracts.work import ExportFormat, ExportRequest
from p2p.store.exports import ExportRecord
from p2p.store.iterations import IterationRecord
from p2p.worker.export.card import cell, interval, number
from p2p.worker.export.job import export

FAST = Predicate(
    statistic=Statistic.MEAN,
    feature="velocity_x",
    comparison=Comparison.AT_LEAST,
    threshold=2.0,
    unit="m/s",
    margin=1.0,
)
INTENT = Intent(
    prompt='run "fast" <b>\nnow',
    env_id="HalfCheetah-v5",
    criteria=(Criterion(key="fast", title="Fast | far", description="", category=Category.GAIT, predicate=FAST),),
    episode_s=1.0,
)
JUDGMENT = Judgment(
    verdict=Verdict.PASSED,
    intent_score=0.93,
    pass_threshold=0.8,
    success_rate=0.98,
    success_low=0.9,
    success_high=1.0,
    n_rollouts=50,
    criteria=(
        CriterionScore(
            key="fast",
            title="Fast | far",
            required=True,
            weight=1.0,
            value=3.21,
            low=3.1,
            high=3.32,
            comparison=Comparison.AT_LEAST,
            threshold=2.0,
            upper=None,
            unit="m/s",
            score=0.9,
            met_share=0.98,
            met=True,
        ),
    ),
    rollouts=(),
    diagnosis="Passed: it runs.\n- details",
    run_id="baseline_seed_1",
    best_checkpoint=STEP,
    provenance=Provenance(judge="code", code_hash="0" * 16),
)


@pytest.fixture
def card_of(tmp_path):
    """Exports the checkpoint of a run; returns its model card."""

    def make(*formats):
        record = ExportRecord(tmp_path / "job")
        request = ExportRequest(
            run_dir="../iter_1/baseline_seed_1", checkpoint=STEP, formats=formats, license="apache-2.0"
        )
        record.save_request(request)
        export(record.path)
        return record.package.card_path.read_text(encoding="utf-8")

    return make


def test_the_card_begins_with_what_the_hub_reads(make_checkpoint, card_of):
    make_checkpoint()
    front = card_of(ExportFormat.ONNX).split("---\n")[1].splitlines()
    for line in (
        "library_name: onnx",
        "license: apache-2.0",
        '- "HalfCheetah-v5"',
        '- "reinforcement-learning"',
        "model-index:",
        "    - type: mean_reward",
        '      name: "mean_reward (Gymnasium\'s own reward, 1 s)"',
        '      name: "mean_reward (the trained reward, 1 s)"',
    ):
        assert line in front
    values = [line for line in front if line.startswith("      value: ")]
    assert len(values) == 2
    assert all(" +/- " in value for value in values)


def test_the_card_reports_the_verdict_with_measured_values(make_checkpoint, card_of):
    run = make_checkpoint()
    run.save_criteria(INTENT)
    IterationRecord(run.path.parent).save_judgment(JUDGMENT)
    card = card_of(ExportFormat.ONNX)
    assert '# “run "fast" &lt;b> now”, HalfCheetah-v5' in card
    assert "**Verdict: passed.** 98 % of 50 rollouts" in card
    assert "| Fast \\| far | 3.21 m/s | 3.1 … 3.32 m/s | ≥ 2 m/s | 98 % | yes |" in card
    assert "Passed: it runs." in card
    assert "details |" not in card


def test_the_card_warns_of_what_is_unpickled(make_checkpoint, card_of):
    make_checkpoint()
    assert "whoever loads them runs what they contain" in card_of(ExportFormat.SB3)


def test_the_card_of_files_without_pickles_warns_of_none(make_checkpoint, card_of):
    make_checkpoint()
    assert "pickles" not in card_of(ExportFormat.ONNX)


def test_the_card_of_a_checkpoint_that_was_not_judged_says_so(make_checkpoint, card_of):
    run = make_checkpoint()
    run.save_criteria(INTENT)
    IterationRecord(run.path.parent).save_judgment(JUDGMENT.model_copy(update={"best_checkpoint": 7}))
    card = card_of(ExportFormat.ONNX)
    assert "This checkpoint was not judged." in card
    assert "Verdict" not in card
    assert "Selection rollouts" in card


def test_the_card_of_a_reward_without_an_intent_has_returns_and_no_verdict(make_checkpoint, card_of):
    make_checkpoint()
    card = card_of(ExportFormat.TORCHSCRIPT)
    assert "trained without a sentence" in card
    assert "| the trained one | 4 |" in card
    assert "| Gymnasium's own | 4 |" in card
    assert "$$\nr = v_x\n$$" in card
    assert "| speed | forward \\| velocity |" in card
    assert "Runs &lt;fast>." in card
    assert "training seed 1" in card
    assert "| n_envs | 16 |" in card
    assert "| mujoco | " in card


@pytest.mark.parametrize(
    ("formats", "there", "missing"),
    [
        ((ExportFormat.SB3,), ["PPO.load", "VecNormalize.load"], ["onnxruntime", "torch.jit.load"]),
        ((ExportFormat.ONNX,), ["onnxruntime.InferenceSession"], ["PPO.load", "torch.jit.load"]),
        ((ExportFormat.TORCHSCRIPT, ExportFormat.ONNX), ["torch.jit.load", "onnxruntime"], ["PPO.load"]),
    ],
)
def test_the_card_says_how_to_load_what_was_exported(make_checkpoint, card_of, formats, there, missing):
    make_checkpoint()
    card = card_of(*formats)
    assert all(words in card for words in there)
    assert not any(words in card for words in missing)


@pytest.mark.parametrize("name", list(ExportFormat))
def test_the_code_in_the_card_runs_and_acts(make_checkpoint, card_of, name, tmp_path, monkeypatch):
    make_checkpoint()
    blocks = card_of(name).split("```python\n")[1:]
    code = "".join(block.split("```")[0] for block in blocks)
    monkeypatch.chdir(tmp_path / "job" / "package")
    found: dict = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.filters", [("ignore", None, DeprecationWarning, None, 0)])
        exec(code, found)
    actions = found["action"] if name is ExportFormat.SB3 else found["actions"]
    assert actions.shape == (1, 6)


def test_numbers_have_four_figures_and_cells_keep_their_column():
    assert [number(value) for value in (None, 0.123456, 12345.678)] == ["–", "0.1235", "12,345.7"]
    assert number(2.0, "m/s") == "2 m/s"
    assert interval(1.0, None) == "–"
    assert cell("x|y\n<z>") == "x\\|y &lt;z>"
