"""``tf.signal`` against NumPy; node by node against TensorFlow in ``test_conformance``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf

WAVE = np.random.default_rng(3).uniform(-1, 1, (2, 200)).astype(np.float32)


def _value(function: Callable[[], Any]) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as session:
        made: np.ndarray = session.run(function())
    return made


def _frames(wave: np.ndarray, length: int, step: int) -> np.ndarray:
    starts = range(0, wave.shape[-1] - length + 1, step)
    return np.stack([wave[..., s : s + length] for s in starts], -2)


def _hann(length: int) -> np.ndarray:
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)


@pytest.mark.parametrize(("length", "step"), [(8, 8), (8, 3), (5, 9), (12, 4)])
def test_frames(length: int, step: int) -> None:
    found = _value(lambda: tf.signal.frame(WAVE, length, step))
    np.testing.assert_array_equal(found, _frames(WAVE, length, step))


@pytest.mark.parametrize(("length", "step"), [(8, 8), (8, 3), (12, 4)])
def test_frames_overlap_and_add(length: int, step: int) -> None:
    frames = _frames(WAVE, length, step)
    wanted = np.zeros((2, length + step * (frames.shape[1] - 1)))
    for number in range(frames.shape[1]):
        wanted[:, number * step : number * step + length] += frames[:, number]
    found = _value(lambda: tf.signal.overlap_and_add(frames, step))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_stft_is_the_transform_of_frames() -> None:
    wanted = np.fft.rfft(_frames(WAVE, 16, 4) * _hann(16))
    np.testing.assert_allclose(_value(lambda: tf.signal.stft(WAVE, 16, 4)), wanted, atol=1e-5)
    wanted = np.fft.rfft(_frames(WAVE, 12, 4), n=16)
    found = _value(lambda: tf.signal.stft(WAVE, 12, 4, window_fn=None))
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_inverse_stft_gives_the_signal_back() -> None:
    def back() -> Any:
        window = tf.signal.inverse_stft_window_fn(4)
        return tf.signal.inverse_stft(tf.signal.stft(WAVE, 16, 4), 16, 4, window_fn=window)

    # Fewer frames overlap at the ends.
    np.testing.assert_allclose(_value(back)[:, 12:-12], WAVE[:, 12:-12], atol=1e-5)


@pytest.mark.parametrize("norm", [None, "ortho"])
def test_cosine_transforms_are_each_others_inverse(norm: str | None) -> None:
    size = WAVE.shape[1]
    matrix = 2 * np.cos(np.pi * np.outer(np.arange(size), np.arange(size) + 0.5) / size)
    if norm:
        matrix *= np.sqrt(0.5 / size)
        matrix[0] *= np.sqrt(0.5)
    found = _value(lambda: tf.signal.dct(WAVE, norm=norm))
    np.testing.assert_allclose(found, WAVE @ matrix.T, atol=1e-4)
    back = _value(lambda: tf.signal.idct(found, norm=norm))
    np.testing.assert_allclose(back / (1 if norm else 2 * size), WAVE, atol=1e-5)


def test_mel_bands_are_triangles_of_height_1() -> None:
    weights = _value(lambda: tf.signal.linear_to_mel_weight_matrix(10, 513, 16000, 50.0, 7000.0))
    assert weights.shape == (513, 10)
    assert not weights[0].any() and weights.min() == 0
    assert (weights.max(0) > 0.9).all() and weights.max() <= 1
    hertz = np.linspace(0, 8000, 513)
    assert not weights[(hertz < 50) | (hertz > 7000)].any()
    # Between the first and the last center, neighbours share each frequency.
    inner = slice(int(weights[:, 0].argmax()) + 1, int(weights[:, -1].argmax()))
    np.testing.assert_allclose(weights[inner].sum(1), 1, atol=1e-3)


def test_other_names_are_the_same_functions() -> None:
    for name in ("frame", "hann_window", "inverse_stft", "overlap_and_add", "stft"):
        assert getattr(tf.contrib.signal, name) is getattr(tf.signal, name)
    assert tf.spectral.dct is tf.signal.dct and tf.spectral.idct is tf.signal.idct
    sound = importlib.import_module("penstock.contrib.framework.python.ops.audio_ops")
    assert sound.decode_wav is tf.audio.decode_wav


def test_a_wave_file_becomes_coefficients() -> None:
    sound = importlib.import_module("penstock.contrib.framework.python.ops.audio_ops")

    def coefficients() -> Any:
        tone = np.sin(2 * np.pi * 437.5 * np.arange(4000) / 8000).astype(np.float32)[:, None]
        wave, rate = tf.audio.decode_wav(tf.audio.encode_wav(tone, 8000))
        spectrum = sound.audio_spectrogram(wave, 256, 128, magnitude_squared=True)
        return spectrum, sound.mfcc(spectrum, rate, upper_frequency_limit=3900.0)

    with tf.Graph().as_default(), tf.Session() as session:
        spectrum, found = session.run(coefficients())
    assert spectrum.shape == (1, 30, 129) and found.shape == (1, 30, 13)
    assert (spectrum[0].argmax(1) == 14).all()
    # A frame begins where the tone has been 7 times around.
    np.testing.assert_allclose(found[0, 1:], found[0, :-1], atol=0.05)


@pytest.mark.parametrize(
    ("axis", "error", "said"),
    [([], ValueError, "rank 0"), ([-1], ValueError, "rank 0"), (2, IndexError, "none of the 2"),
     (1.0, TypeError, "must be an integer")],
)  # fmt: skip
def test_an_axis_of_frames_is_one_integer(axis: Any, error: type[Exception], said: str) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=said):
        tf.signal.frame(np.zeros([2, 9], np.float32), 4, 2, axis=axis)


@pytest.mark.parametrize("kind", ["i", "d", "e"])
def test_numbers_of_mel_spectrograms_become_float32(kind: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        logs = np.ones([2, 3], kind)
        wanted = session.run(tf.signal.mfccs_from_log_mel_spectrograms(logs.astype("f")))
        found = session.run(tf.signal.mfccs_from_log_mel_spectrograms(logs))
        assert found.dtype == np.float32 and found.tolist() == wanted.tolist()
        with pytest.raises(ValueError, match="dtype float32 for Tensor"):
            tf.signal.mfccs_from_log_mel_spectrograms(tf.constant(logs))
