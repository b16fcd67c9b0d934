"""Windows and noise that are drawn at random: what holds of each, and how often what comes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make


def _steps(made: Any, times: int) -> list[Any]:
    with tf.Session() as session:
        return [session.run(made) for _ in range(times)]


def _windows(times: int, boxes: Any, **options: Any) -> np.ndarray:
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        begin, size, corners = tf.image.sample_distorted_bounding_box(
            [60, 90, 3], boxes, seed=5, **options
        )
        found = _steps([begin, size, corners], times)
    for start, extent, window in found:
        assert start[2] == 0 and extent[2] == -1
        assert (start[:2] >= 0).all() and (start[:2] + extent[:2] <= (60, 90)).all()
        ends = np.concatenate((start[:2], start[:2] + extent[:2])) / (60, 90, 60, 90)
        np.testing.assert_allclose(window, ends[None, None], rtol=1e-6)
    return np.array([np.concatenate((a[:2], b[:2])) for a, b, _ in found])


def test_windows_keep_to_ratio_and_area() -> None:
    found = _windows(
        300, np.zeros((1, 0, 4)), area_range=(0.2, 0.5), aspect_ratio_range=(0.8, 1.5),
        use_image_if_no_bounding_boxes=True, min_object_covered=0.0,
    )  # fmt: skip
    height, width = found[:, 2], found[:, 3]
    area, ratio = height * width / (60 * 90), width / height
    assert (area >= 0.2).all() and (area <= 0.5).all()
    assert (ratio > 0.75).all() and (ratio < 1.6).all()
    assert area.min() < 0.25 and area.max() > 0.45  # the whole range is used
    assert ratio.min() < 0.9 and ratio.max() > 1.4
    assert len(np.unique(found, axis=0)) > 250


def test_windows_show_enough_of_a_box() -> None:
    box = np.array([0.5, 0.5, 0.9, 0.8], np.float32)
    found = _windows(200, box[None, None], min_object_covered=0.6, max_attempts=500)
    top, left, bottom, right = (box * (59, 89, 59, 89)).astype(int)
    area = (bottom - top) * (right - left)
    down = np.minimum(found[:, 0] + found[:, 2], bottom) - np.maximum(found[:, 0], top)
    along = np.minimum(found[:, 1] + found[:, 3], right) - np.maximum(found[:, 1], left)
    assert (np.maximum(down, 0) * np.maximum(along, 0) / area >= 0.6).all()


def test_without_luck_it_is_the_whole_image() -> None:
    corner = np.array([[[0.9, 0.9, 1.0, 1.0]]], np.float32)
    found = _windows(3, corner, min_object_covered=1.0, area_range=(0.01, 0.011), max_attempts=1)
    assert (found == (0, 0, 60, 90)).all()


def test_no_box_is_an_error() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="use_image_if_no_bounding_boxes"):
        _windows(1, np.zeros((1, 0, 4)))


def test_crops_come_from_everywhere() -> None:
    image = np.arange(5 * 6 * 1).reshape(5, 6, 1)
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        found = _steps(make("RandomCrop", tf.constant(image), [3, 4], seed=2), 120)
    starts = {int(f[0, 0, 0]) for f in found}
    assert starts == {6 * row + column for row in range(3) for column in range(3)}
    for f in found:
        row, column = divmod(int(f[0, 0, 0]), 6)
        np.testing.assert_array_equal(f, image[row : row + 3, column : column + 4])


@pytest.mark.parametrize("noise", ["uniform", "gaussian", "zero"])
def test_noise_around_a_glimpse(noise: str) -> None:
    image = np.random.default_rng(0).random((1, 8, 8, 2)).astype(np.float32) + (0, 5)
    with tf.Graph().as_default():
        glimpse = make(
            "ExtractGlimpse", tf.constant(image, tf.float32), [40, 40], [[0.0, 0.0]],
            uniform_noise=False, noise=noise,
        )  # fmt: skip
        first, second = _steps(glimpse, 2)
    middle = first[0, 16:24, 16:24]
    np.testing.assert_allclose(middle, image[0], rtol=1e-6)
    outside = first[0, :16]
    if noise == "zero":
        assert not outside.any()
        return
    assert not np.array_equal(first, second)
    low, high = image.min((0, 1, 2)), image.max((0, 1, 2))
    assert (outside >= low - 1e-5).all() and (outside <= high + 1e-5).all()
    wanted = (high - low) / np.sqrt(12)
    if noise == "gaussian":  # cut at the lowest and highest pixel
        mean, spread = image.mean((0, 1, 2)), image.std((0, 1, 2))
        draws = np.random.default_rng(1).normal(mean, spread, (100_000, 2))
        wanted = draws.clip(low, high).std(0)
    np.testing.assert_allclose(outside.std((0, 1)), wanted, rtol=0.15)
