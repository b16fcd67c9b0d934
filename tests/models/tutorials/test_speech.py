"""Spoken words: files in their parts, WAV files, and networks of fingerprints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.models.tutorials import speech_input, speech_models


def test_a_speaker_stays_in_one_part() -> None:
    parts = [speech_input.which_set(f"x/{n}_nohash_0.wav", 20, 30) for n in range(1000)]
    again = [speech_input.which_set(f"other/{n}_nohash_7.wav", 20, 30) for n in range(1000)]
    assert parts == again
    assert 150 < parts.count("validation") < 250 and 250 < parts.count("testing") < 350
    words = speech_input.prepare_words_list(["yes"])
    assert words == ["_silence_", "_unknown_", "yes"]
    assert words[speech_input.UNKNOWN_WORD_INDEX] == speech_input.UNKNOWN_WORD_LABEL


def test_wav_files(tmp_path: Path) -> None:
    wave = np.sin(np.arange(800) / 9).astype(np.float32) * 0.5
    path = str(tmp_path / "a.wav")
    speech_input.save_wav_file(path, wave, 16000)
    np.testing.assert_allclose(speech_input.load_wav_file(path), wave, atol=1 / 32768)


def test_sizes_of_features() -> None:
    made = speech_models.prepare_model_settings(4, 16000, 1000, 30, 10, 40, "mfcc")
    assert made["desired_samples"] == 16000 and made["window_size_samples"] == 480
    assert made["spectrogram_length"] == 98 and made["fingerprint_size"] == 3920
    assert speech_input.get_features_range(made) == (-247.0, 30.0)
    average = speech_models.prepare_model_settings(4, 16000, 1000, 30, 10, 40, "average")
    assert (average["average_window_width"], average["fingerprint_width"]) == (6, 43)
    with pytest.raises(ValueError, match='Unknown preprocess mode "raw"'):
        speech_models.prepare_model_settings(4, 16000, 1000, 30, 10, 40, "raw")


@pytest.mark.parametrize(
    "kind, weights", [("single_fc", 1), ("conv", 3), ("low_latency_conv", 4), ("tiny_conv", 2)]
)
def test_a_network_learns(kind: str, weights: int) -> None:
    tf.set_random_seed(2)
    settings = speech_models.prepare_model_settings(3, 1000, 200, 30, 10, 10, "mfcc")
    x = tf.placeholder(tf.float32, [None, settings["fingerprint_size"]])
    logits, keep = speech_models.create_model(x, settings, kind, True)
    assert logits.shape.as_list() == [None, 3] and len(tf.trainable_variables()) == 2 * weights
    loss = tf.losses.sparse_softmax_cross_entropy([0, 1, 2], logits)
    step = tf.train.AdamOptimizer(0.01).minimize(loss)
    rows = np.random.RandomState(0).randn(3, settings["fingerprint_size"])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step], {x: rows, keep: 1.0})[0] for _ in range(30)]
    assert losses[0] > 1 and losses[-1] < 0.5


def test_another_architecture_is_refused() -> None:
    settings = speech_models.prepare_model_settings(3, 1000, 200, 30, 10, 10, "mfcc")
    with pytest.raises(NotImplementedError, match="one of single_fc, conv, low_latency_conv"):
        speech_models.create_model(tf.zeros([1, 180]), settings, "low_latency_svdf", False)
