"""Benchmark cases: sentences and their environments."""

from p2p.contracts.base import Contract


class Case(Contract):
    """A sentence and its environment."""

    name: str
    env_id: str
    prompt: str


BEHAVIOURS = (
    Case(name="cheetah-run", env_id="HalfCheetah-v5", prompt="run forward as fast as you can"),
    Case(name="cheetah-back", env_id="HalfCheetah-v5", prompt="run backward"),
    Case(name="hopper-hop", env_id="Hopper-v5", prompt="hop forward without falling"),
    Case(name="pendulum-balance", env_id="InvertedPendulum-v5", prompt="keep the pole balanced"),
    Case(name="reacher-reach", env_id="Reacher-v5", prompt="reach the target"),
    Case(name="ant-left", env_id="Ant-v5", prompt="walk to the left"),
    Case(name="swimmer-swim", env_id="Swimmer-v5", prompt="swim forward"),
    Case(name="walker-walk", env_id="Walker2d-v5", prompt="walk forward slowly, upright"),
)

ACROBATICS = (
    Case(name="cheetah-backflip", env_id="HalfCheetah-v5", prompt="do a backflip and land on your feet"),
    Case(name="cheetah-front-flip", env_id="HalfCheetah-v5", prompt="do a front flip"),
    Case(name="cheetah-rear", env_id="HalfCheetah-v5", prompt="stand on your hind legs"),
    Case(name="cheetah-jump", env_id="HalfCheetah-v5", prompt="jump as high as possible"),
    Case(name="cheetah-crawl", env_id="HalfCheetah-v5", prompt="crawl forward"),
    Case(name="cheetah-still", env_id="HalfCheetah-v5", prompt="stand still"),
    Case(name="ant-spin", env_id="Ant-v5", prompt="spin left twice"),
    Case(name="humanoid-still", env_id="Humanoid-v5", prompt="stand still"),
)

SUITES = {"basic": BEHAVIOURS, "acrobatics": ACROBATICS}
"""Suite -> its sentences. The basic ones are expected to pass; of the others some are hard."""
