"""A speech network from a file's bytes to probabilities: ``tf.examples.speech_commands.freeze``."""

from __future__ import annotations

import penstock as tf
from penstock.models.tutorials import speech_input, speech_models
from penstock.models.tutorials.speech_processor import fingerprint


def create_inference_graph(
    wanted_words: str,
    sample_rate: int,
    clip_duration_ms: float,
    clip_stride_ms: float,
    window_size_ms: float,
    window_stride_ms: float,
    feature_bin_count: int,
    model_architecture: str,
    preprocess: str = "mfcc",
) -> tuple[tf.Tensor, tf.Tensor]:
    """Adds the nodes ``wav_data``, ``decoded_sample_data`` and ``labels_softmax``.

    Args:
      wanted_words: the words, with commas between.
      clip_stride_ms: how often a streaming network is run; no network here is one.
      the others: as ``models.prepare_model_settings`` and ``models.create_model``.

    Returns:
      the placeholder of a WAV file's content, and float32 probabilities of [1, words + 2].
    """
    words = speech_input.prepare_words_list(wanted_words.split(","))
    settings = speech_models.prepare_model_settings(
        len(words), sample_rate, clip_duration_ms, window_size_ms, window_stride_ms,
        feature_bin_count, preprocess,
    )  # fmt: skip
    data = tf.placeholder(tf.string, [], name="wav_data")
    decoded = tf.audio.decode_wav(
        data, 1, desired_samples=settings["desired_samples"], name="decoded_sample_data"
    )
    features = fingerprint(decoded.audio, decoded.sample_rate, settings)
    row = tf.reshape(features, [-1, settings["fingerprint_size"]])
    runtime = {"clip_stride_ms": clip_stride_ms}
    logits = speech_models.create_model(row, settings, model_architecture, False, runtime)
    return data, tf.nn.softmax(logits, name="labels_softmax")
