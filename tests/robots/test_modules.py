"""Environments that a module of the user's own registers."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from robot_files import PONY

import p2p
from p2p.contracts.errors import InvalidInput, P2PError
from p2p.service.training.environments import describe_environment, find_environment
from p2p.service.workspace import Workspace
from p2p.worker.verbs import Places, module_folders

SOURCE = '''
"""A pony of my own."""
from pathlib import Path
import gymnasium
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv
from gymnasium.spaces import Box


class Pony(MujocoEnv):
    metadata = {"render_modes": ["human", "rgb_array", "depth_array"]}

    def __init__(self, **kwargs):
        space = Box(-np.inf, np.inf, (27,), np.float64)
        super().__init__(str(Path(__file__).with_name("pony.xml")), 5, observation_space=space, **kwargs)
        self.init_qpos = self.model.key_qpos[0].copy()

    def step(self, action):
        before = self.data.qpos[0]
        self.do_simulation(action, self.frame_skip)
        speed = (self.data.qpos[0] - before) / self.dt
        return self._get_obs(), speed, False, False, {"speed": speed}

    def reset_model(self):
        noise = self.np_random.uniform(-0.01, 0.01, self.model.nq)
        self.set_state(self.init_qpos + noise, self.init_qvel)
        return self._get_obs()

    def _get_obs(self):
        return np.concatenate([self.data.qpos[2:], self.data.qvel])


class Plain(gymnasium.Env):
    observation_space = Box(0, 1, (2,))
    action_space = Box(0, 1, (1,))


gymnasium.register(id="Pony-v0", entry_point="my_ponies:Pony", max_episode_steps=50)
gymnasium.register(id="Plain-v0", entry_point="my_ponies:Plain")
'''
MODEL = PONY.read_text().replace("<position joint", '<position ctrllimited="true" ctrlrange="-2.6 2.5" joint')


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "my_ponies.py").write_text(SOURCE)
    (folder / "pony.xml").write_text(MODEL)
    monkeypatch.chdir(folder)
    return folder


def test_it_is_described_from_its_model(ws: Workspace, folder: Path) -> None:
    spec = find_environment(ws, "my_ponies:Pony-v0")
    assert spec.env_id == "my_ponies:Pony-v0"
    assert spec.module is not None
    assert spec.module.folder == str(folder)
    assert [entry.name for entry in spec.observation][:2] == ["base.z", "base.qw"]
    assert spec.morphology.torso == "trunk"
    assert [entry.name for entry in spec.info] == ["speed"]
    assert spec.max_episode_steps == 50


def test_what_is_changed_is_described_anew_when_it_is_named(ws: Workspace, folder: Path) -> None:
    find_environment(ws, "my_ponies:Pony-v0")
    (folder / "pony.xml").write_text(MODEL.replace('mass="6"', 'mass="9"'))
    assert find_environment(ws, "my_ponies:Pony-v0").total_mass == pytest.approx(12.9)
    assert describe_environment(ws, "my_ponies:Pony-v0").total_mass == pytest.approx(12.9)


REFUSED = {
    "no such module": ("no_ponies:Pony-v0", "There is no module 'no_ponies'"),
    "no such id": ("my_ponies:Wagon-v0", "Wagon-v0"),
    "no MuJoCo environment": ("my_ponies:Plain-v0", "is not a MuJoCo environment"),
    "a module that raises": ("broken:Pony-v0", "'broken'.*cannot be imported: ZeroDivisionError"),
    "a module that reads a key": ("curious:Pony-v0", "cannot be imported: PermissionError"),
    "a module that calls home": ("caller:Pony-v0", "cannot be imported: (PermissionError|OSError)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, ws: Workspace, folder: Path) -> None:
    secret = folder.parent / "secret"
    secret.write_text("key")
    (folder / "broken.py").write_text("1 / 0")
    (folder / "curious.py").write_text(f"open({str(secret)!r}).read()")
    (folder / "caller.py").write_text("import socket; socket.create_connection(('127.0.0.1', 9), 1)")
    env_id, words = REFUSED[case]
    with pytest.raises(P2PError, match=words):
        find_environment(ws, env_id)


def test_a_folder_that_holds_everything_is_not_shown_to_it(
    ws: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    with pytest.raises(InvalidInput, match="in a folder of its own"):
        find_environment(ws, "my_ponies:Pony-v0")


def test_a_session_from_elsewhere_imports_nothing(ws: Workspace, tmp_path: Path) -> None:
    spec = find_environment(ws, "my_ponies:Pony-v0")
    assert spec.module is not None
    shutil.rmtree(tmp_path / "config")
    with pytest.raises(InvalidInput, match="nobody has named"):
        module_folders(Places((ws.runs.environment_dir(spec.env_id),)))


@pytest.mark.nightly
def test_one_goes_through_the_whole_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("P2P_RENDERER", "raycast")
    session = p2p.run(
        "stand still for 1 second",
        env="my_ponies:Pony-v0",
        runs_dir=tmp_path / "runs",
        max_iterations=1,
        n_seeds=1,
        config={"total_timesteps": 4_000},
    ).wait()
    assert session.judgment is not None, session.error
    assert session.video is not None
    assert session.video.is_file()
    session.export("torchscript", output=tmp_path / "exported")
    assert (tmp_path / "exported" / "replay.py").is_file()
