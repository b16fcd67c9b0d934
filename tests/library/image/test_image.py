"""``tf.image``: what is drawn at random, and what needs no TensorFlow to know."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf


def _run(build: Any, times: int = 1) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(11)
        made = build()
        return [session.run(made) for _ in range(times)]


PIXELS = np.arange(24, dtype=np.float32).reshape(2, 4, 3)


@pytest.mark.parametrize(("name", "axis"), [("left_right", 1), ("up_down", 0)])
def test_flips_are_even_odds(name: str, axis: int) -> None:
    flip = getattr(tf.image, f"random_flip_{name}")
    found = _run(lambda: flip(PIXELS), 200)
    flipped = np.flip(PIXELS, axis)
    same = [np.array_equal(f, PIXELS) for f in found]
    assert all(s or np.array_equal(f, flipped) for s, f in zip(same, found, strict=True))
    assert 60 < sum(same) < 140


def test_images_of_a_batch_flip_each_for_itself() -> None:
    batch = np.stack([PIXELS] * 300)
    (found,) = _run(lambda: tf.image.random_flip_left_right(batch, seed=3))
    same = (found == batch).all((1, 2, 3))
    assert ((found == batch[:, :, ::-1]).all((1, 2, 3)) != same).all()
    assert 100 < same.sum() < 200


def test_a_seed_repeats_and_sessions_start_again() -> None:
    def build() -> Any:
        x = np.ones((4, 4, 3), np.float32) * np.array((0.2, 0.5, 0.7), np.float32)
        image = tf.image
        return [
            image.random_brightness(x, 0.3, seed=1), image.random_hue(x, 0.4, seed=1),
            image.random_saturation(x, 0.2, 2.0, seed=1), image.random_contrast(x, 0, 2, seed=1),
        ]  # fmt: skip

    first, second = _run(build, 4), _run(build, 4)
    np.testing.assert_array_equal(first, second)
    brightness = [step[0][0, 0, 0] for step in first]
    assert len(set(brightness)) == 4


@pytest.mark.parametrize("k", range(-5, 6))
def test_rotation_is_numpys(k: int) -> None:
    batch = np.stack([PIXELS, PIXELS + 30])
    one, many = _run(lambda: [tf.image.rot90(PIXELS, k), tf.image.rot90(batch, k)])[0]
    np.testing.assert_array_equal(one, np.rot90(PIXELS, k))
    np.testing.assert_array_equal(many, np.rot90(batch, k, (1, 2)))


def test_colors_come_back() -> None:
    x = np.random.default_rng(0).random((6, 7, 3)).astype(np.float32)
    image = tf.image
    pairs = [
        (image.rgb_to_hsv, image.hsv_to_rgb), (image.rgb_to_yuv, image.yuv_to_rgb),
        (image.rgb_to_yiq, image.yiq_to_rgb),
    ]  # fmt: skip
    found = _run(lambda: [back(there(x)) for there, back in pairs])[0]
    for one in found:
        np.testing.assert_allclose(one, x, atol=1e-4)


def test_hue_once_around_is_where_it_was() -> None:
    x = np.random.default_rng(0).random((6, 7, 3)).astype(np.float32)
    found = _run(lambda: [tf.image.adjust_hue(x, d) for d in (0.0, 1.0, -1.0)])[0]
    for one in found:
        np.testing.assert_allclose(one, x, atol=1e-5)


def test_equal_images_are_alike() -> None:
    x = np.random.default_rng(0).random((2, 40, 44, 3)).astype(np.float32)
    image = tf.image
    with tf.Graph().as_default(), tf.Session() as session:
        c = tf.constant(x)
        made = [image.ssim(c, c, 1.0), image.ssim_multiscale(c, c, 1.0, (0.5, 0.5))]
        found = session.run(made)
        infinite = session.run(image.psnr(c, c, 1.0))
    np.testing.assert_allclose(found, 1, atol=1e-5)
    assert np.isinf(infinite).all()


def test_what_does_not_fit_fails_in_the_step() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, None, 3])
        made = tf.image.crop_to_bounding_box(x, 1, 1, 5, 5)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be >= target"):
            session.run(made, {x: np.zeros((4, 9, 3))})
        gray = tf.image.grayscale_to_rgb(y := tf.placeholder(tf.float32))
        with pytest.raises(tf.errors.InvalidArgumentError, match="should be size 1"):
            session.run(gray, {y: np.zeros((4, 9, 3))})


def test_boxes_of_all_classes_are_suppressed_by_more_than_the_threshold():
    boxes = np.array([[0.1, 0.1, 0.5, 0.5], [0.6, 0.6, 0.9, 0.9]], np.float32)[None, :, None]
    scores = np.array([[[0.9, 0.3], [0.8, 0.4]]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        kept = tf.image.combined_non_max_suppression(boxes, scores, 2, 4, iou_threshold=0.0)
        _, found, classes, valid = session.run(kept)
        assert valid.tolist() == [4] and classes.tolist() == [[0, 0, 1, 1]]
        np.testing.assert_allclose(found, [[0.9, 0.8, 0.4, 0.3]])
        none = tf.image.combined_non_max_suppression(boxes, scores[:, :, :0], 2, 3)
        assert session.run(none)[3].tolist() == [0]
        with pytest.raises(ValueError, match="must be non-negative but is -1"):
            tf.image.combined_non_max_suppression(boxes, scores, 2, -1)
        with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
            tf.image.combined_non_max_suppression(boxes, scores, [2], 3)
        with pytest.raises(ValueError, match="Dimensions must be equal, but are 1 and 2"):
            tf.image.combined_non_max_suppression(boxes, np.zeros([2, 2, 2], np.float32), 2, 3)


def test_complex_images_are_measured_and_converted():
    image = (PIXELS.reshape(2, 4, 3) * (1 + 1j)).astype(np.complex64)
    with tf.Graph().as_default(), tf.Session() as session:
        variation = tf.image.total_variation(tf.constant(image))
        bytes_ = tf.image.convert_image_dtype(tf.constant(image / 64), tf.uint8)
        total, found = session.run([variation, bytes_])
    wanted = np.abs(np.diff(image, axis=0)).sum() + np.abs(np.diff(image, axis=1)).sum()
    np.testing.assert_allclose(total, wanted, rtol=1e-5)
    np.testing.assert_array_equal(found, (image.real / 64 * 255.5).astype(np.uint8))


def test_ssim_takes_arrays_and_says_what_rank_they_lack():
    pixels = np.linspace(0, 1, 144, dtype=np.float32).reshape(12, 12, 1)
    (found,) = _run(lambda: tf.image.ssim(pixels, pixels, 1.0))
    assert found == pytest.approx(1)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="rank"):
        tf.image.ssim(pixels[0], pixels[0], 1.0)
