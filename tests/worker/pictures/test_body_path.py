"""The path of a body lies on the body, and is solid behind it."""

import numpy as np
import pytest
from constructed_motions import ANT, CHEETAH, leaping, spinning
from PIL import Image

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import UnknownName
from p2p.contracts.work import ViewCamera
from p2p.worker.engine.environment import compiled_model
from p2p.worker.pictures.body_path import NEXT, PAST, body_path, draw_path, path_spots
from p2p.worker.render import raycast
from p2p.worker.render.camera import follow

SIZE = (320, 240)


@pytest.mark.parametrize(("spec", "body"), [(CHEETAH, "ffoot"), (ANT, "aux_1")])
@pytest.mark.parametrize("camera", list(ViewCamera))
def test_the_path_passes_through_the_body_as_it_is_drawn(spec: EnvSpec, body: str, camera: ViewCamera) -> None:
    qpos = (leaping(1.0) if spec is CHEETAH else spinning(1.0))[20:60:13]
    model = compiled_model(spec)
    model.geom_matid[:] = -1
    own = model.geom_bodyid == model.body(body).id
    model.geom_rgba[own], model.geom_rgba[~own] = (0.0, 1.0, 0.0, 1.0), 0.5
    model.geom_size[~own & (model.geom_bodyid > 0)] *= 0.01  # so that nothing is in front of it
    views = follow(model, spec, qpos, camera)
    spots = path_spots(body_path(model, qpos, body), views, SIZE)
    for now, picture in enumerate(raycast.frames(model, qpos, views, SIZE)):
        red, green = picture[..., 0].astype(int), picture[..., 1].astype(int)
        rows, columns = np.nonzero(green > red + 60)
        place = (columns.mean() + 0.5, rows.mean() + 0.5)
        assert np.hypot(*(spots[now, now] - place)) < 4  # pixels


def test_it_is_solid_behind_the_moment_and_pale_ahead_of_it() -> None:
    picture = Image.new("RGB", (200, 100), "white")
    spots = np.stack([np.linspace(10.0, 190.0, 19), np.full(19, 50.0)], axis=1)
    spots[3] = np.nan  # behind the camera
    draw_path(picture, spots, 9)
    assert picture.getpixel((70, 50)) == PAST
    assert picture.getpixel((150, 50)) == NEXT
    assert picture.getpixel((37, 50)) == (255, 255, 255)


def test_a_body_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(UnknownName, match=r"Unknown body 'tail'\. Known: bfoot, bshin"):
        body_path(compiled_model(CHEETAH), leaping(0.0), "tail")
