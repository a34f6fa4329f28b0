"""Rendering without a graphics library: MuJoCo's ray caster for shapes, numpy for floor, sky and light.

Rays are cast only where a shape may be, and once more, four to a pixel, along outlines, which keeps pictures of
480 x 480 pixels smooth and affordable.
"""

import os
from collections.abc import Iterator
from itertools import product

import mujoco
import numpy as np
from mujoco.batch import Batch
from numpy.typing import NDArray

from p2p.worker.engine.morphology import terrain_geom
from p2p.worker.render.camera import FLOORS, Floats, Views
from p2p.worker.render.ground import Ground, Lens, Pixels

Frame = NDArray[np.uint8]
Indices = NDArray[np.intp]

CHUNK = 8
"""Frames cast at once; more of them only cost memory."""
MAX_THREADS = 4
SUN = np.array([0.25, -0.45, 0.86])
"""Direction to the light, world frame."""
AMBIENT = 0.42
DIFFUSE = 0.5
GLOW = 0.12
"""Light from everywhere, from the sun, and from the camera."""
OFFSETS = np.array([(-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25)])
"""Rays within a pixel of an outline [px]."""
GREY = (0.5, 0.5, 0.5, 1.0)
"""Colour MuJoCo gives to geoms without one; a material's colour then counts instead."""


def frames(model: mujoco.MjModel, qpos: Floats, views: Views, size: tuple[int, int]) -> Iterator[Frame]:
    """Pictures of shape (height, width, 3), one per row of `qpos`, shape (T, nq)."""
    caster = _Caster(model, views, size)
    for start in range(0, len(qpos), CHUNK):
        part = slice(start, start + CHUNK)
        yield from caster.draw(qpos[part], views.at(part))


class _Caster:
    """State that does not change between frames."""

    def __init__(self, model: mujoco.MjModel, views: Views, size: tuple[int, int]) -> None:
        self._model = model
        self._size = size
        self._forward = views.axes[0]
        self._colours = _colours(model)
        plane = np.isin(model.geom_type, FLOORS)
        # rays that a height field has to be searched for take a hundred times as long: `Ground` draws it
        self._excluded = 0 if terrain_geom(model) is not None else -1
        visible = (self._colours[:, 3] > 0) & (model.geom_group < 3)
        self._shapes = np.flatnonzero(~plane & visible)
        self._is_shape = np.append(~plane, False)
        self._lens = Lens(views, size)
        self._ground = Ground(model, np.flatnonzero(plane & visible), views, size, self._lens)
        self._threads = max(1, min(MAX_THREADS, len(os.sched_getaffinity(0))))

    def draw(self, qpos: Floats, views: Views) -> list[Frame]:
        """Render some frames."""
        width, height = self._size
        model = self._model
        data = mujoco.MjData(model)
        places = np.empty((len(qpos), model.ngeom, 3))
        turns = np.empty((len(qpos), model.ngeom, 3, 3))
        for index, row in enumerate(qpos):
            data.qpos[:] = row
            mujoco.mj_kinematics(model, data)
            places[index] = data.geom_xpos
            turns[index] = data.geom_xmat.reshape(-1, 3, 3)
        batch = Batch(self._model, len(qpos), nthread=self._threads)
        batch.bind("qpos")[:] = qpos
        pictures = [self._ground.paint(*pose) for pose in zip(views.eyes, places, turns, strict=True)]
        # Corners of the boxes around the shapes, shape (frames, shapes, 8, 3) [m].
        centre = self._model.geom_aabb[self._shapes, :3]
        half = self._model.geom_aabb[self._shapes, 3:]
        signs = np.array(list(product((-1, 1), repeat=3)))
        local = centre[:, None] + signs * half[:, None]
        corners = places[:, self._shapes, None] + np.einsum("fsij,skj->fski", turns[:, self._shapes], local)
        self._draw_shapes(batch, views, np.asarray(corners), pictures)
        frames = (np.asarray(np.clip(picture, 0, 1) * 255 + 0.5, np.uint8) for picture in pictures)
        return [frame.reshape(height, width, 3) for frame in frames]

    def _draw_shapes(self, batch: Batch, views: Views, corners: Floats, pictures: list[Pixels]) -> None:
        pixels = self._covered(views.project(corners, self._size))
        eyes = views.eyes[:, None]
        found = self._cast(batch, eyes, [self._lens.pixels[part] for part in pixels])
        outlines = []
        for picture, part, (shape, colour) in zip(pictures, pixels, found, strict=True):
            outline = self._outline(part, shape)
            outlines.append(outline)
            inner = (shape >= 0) & ~np.isin(part, outline)
            picture[part[inner]] = colour[inner]
        # Antialiasing: four rays for each pixel on an outline.
        rays = []
        for outline in outlines:
            rows, columns = np.divmod(outline, self._size[0])
            centres = np.stack([columns, rows], axis=1)[:, None] + 0.5 + OFFSETS
            rays.append(self._lens.through(centres[..., 0].ravel(), centres[..., 1].ravel()))
        finer = self._cast(batch, eyes, rays)
        for picture, outline, (shape, colour) in zip(pictures, outlines, finer, strict=True):
            behind = np.repeat(picture[outline], len(OFFSETS), axis=0)
            mixed = np.where((shape >= 0)[:, None], colour, behind)
            picture[outline] = mixed.reshape(-1, len(OFFSETS), 3).mean(axis=1)

    def _cast(self, batch: Batch, eyes: Floats, rays: list[Floats]) -> list[tuple[Indices, Pixels]]:
        """Shape and colour each ray meets first, per frame; -1 where it meets none."""
        # A batch casts equally many rays in every frame: shorter lists are filled up, and the filling is cut off below.
        longest = max(1, *(len(part) for part in rays))
        padded = np.ones((len(rays), longest, 3))
        for row, part in zip(padded, rays, strict=True):
            row[: len(part)] = part
        padded /= np.linalg.norm(padded, axis=2, keepdims=True)
        distance, geoms, normals = batch.ray(
            np.broadcast_to(eyes, padded.shape), padded, bodyexclude=self._excluded, normal=True
        )
        lit = AMBIENT + DIFFUSE * np.maximum(normals @ SUN, 0) + GLOW * np.abs(normals @ self._forward)
        colours = (self._colours[geoms, :3] * lit[..., None]).astype(np.float32)
        shapes = np.where(self._is_shape[geoms] & (distance >= 0), geoms, -1)
        return [(shapes[i, : len(part)], colours[i, : len(part)]) for i, part in enumerate(rays)]

    def _covered(self, spots: Floats) -> list[Indices]:
        """Pixels within the rectangles around the projected corners, per frame."""
        width, height = self._size
        limits = np.array([width, height])
        lost = np.asarray(np.isnan(spots).any(axis=(2, 3)))[..., None]
        low = np.where(lost, 0, np.floor(np.nan_to_num(spots.min(axis=2))) - 1)
        high = np.where(lost, limits, np.ceil(np.nan_to_num(spots.max(axis=2))) + 1)
        low = np.clip(low, 0, limits).astype(int)
        high = np.clip(high, 0, limits).astype(int)
        covered = []
        for starts, ends in zip(low, high, strict=True):
            mask = np.zeros((height, width), bool)
            for (left, top), (right, bottom) in zip(starts, ends, strict=True):
                mask[top:bottom, left:right] = True
            covered.append(np.flatnonzero(mask))
        return covered

    def _outline(self, pixels: Indices, shapes: Indices) -> Indices:
        """Pixels with a neighbour that shows another shape."""
        width, height = self._size
        seen = np.full((height, width), -1, np.int32)
        seen.ravel()[pixels] = shapes
        vertical = seen[1:] != seen[:-1]
        horizontal = seen[:, 1:] != seen[:, :-1]
        edge = np.zeros((height, width), bool)
        edge[1:] |= vertical
        edge[:-1] |= vertical
        edge[:, 1:] |= horizontal
        edge[:, :-1] |= horizontal
        return np.flatnonzero(edge)


def _colours(model: mujoco.MjModel) -> Floats:
    """Red, green, blue and opacity of every geom, shape (ngeom, 4), in [0, 1]."""
    colours = model.geom_rgba.astype(np.float64)
    plain = (model.geom_matid >= 0) & np.all(model.geom_rgba == np.array(GREY, np.float32), axis=1)
    colours[plain] = model.mat_rgba[model.geom_matid[plain]]
    return np.asarray(colours)
