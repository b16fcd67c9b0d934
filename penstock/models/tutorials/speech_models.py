"""Networks that tell spoken words apart: ``tf.examples.speech_commands.models``.

They read a fingerprint, the features of all windows of a clip, as one row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import penstock as tf

Settings = dict[str, Any]


def prepare_model_settings(
    label_count: int,
    sample_rate: int,
    clip_duration_ms: float,
    window_size_ms: float,
    window_stride_ms: float,
    feature_bin_count: int,
    preprocess: str = "mfcc",
) -> Settings:
    """The sizes that go with a way of making features.

    Args:
      label_count: how many words there are.
      sample_rate: samples a second.
      clip_duration_ms: length of a clip.
      window_size_ms: length of a window of its spectrogram.
      window_stride_ms: from the start of one window to the next.
      feature_bin_count: features of each window.
      preprocess: "average", "mfcc" or "micro".

    Returns:
      a dict with samples of a clip and a window, the number of windows (``spectrogram_length``),
      ``fingerprint_width`` and ``fingerprint_size``, and what was given.

    Raises:
      ValueError: for another ``preprocess``.
    """
    samples = int(sample_rate * clip_duration_ms / 1000)
    window, stride = (int(sample_rate * ms / 1000) for ms in (window_size_ms, window_stride_ms))
    windows = 0 if samples < window else 1 + (samples - window) // stride
    average = -1
    width = feature_bin_count
    if preprocess == "average":
        # Bins of the spectrogram of a window, which is padded to a power of two.
        bins = 1 + 2 ** math.ceil(math.log2(window)) / 2
        average = math.floor(bins / feature_bin_count)
        width = math.ceil(bins / average)
    elif preprocess not in ("mfcc", "micro"):
        raise ValueError(
            f'Unknown preprocess mode "{preprocess}" (should be "mfcc", "average", or "micro")'
        )
    return {
        "desired_samples": samples,
        "window_size_samples": window,
        "window_stride_samples": stride,
        "spectrogram_length": windows,
        "fingerprint_width": width,
        "fingerprint_size": width * windows,
        "label_count": label_count,
        "sample_rate": sample_rate,
        "preprocess": preprocess,
        "average_window_width": average,
    }


def create_model(
    fingerprint_input: tf.Tensor,
    model_settings: Settings,
    model_architecture: str,
    is_training: bool,
    runtime_settings: Settings | None = None,
) -> Any:
    """The logits of a network, and while it trains the placeholder of what dropout keeps.

    Args:
      fingerprint_input: float32 of [batch, fingerprint_size].
      model_settings: what ``prepare_model_settings`` returns.
      model_architecture: "single_fc", "conv", "low_latency_conv" or "tiny_conv".
      is_training: whether there is dropout.
      runtime_settings: taken for TensorFlow's sake.

    Returns:
      logits of [batch, label_count]; and the placeholder ``dropout_prob`` where it trains.

    Raises:
      NotImplementedError: for another architecture.
    """
    makers = {
        "single_fc": _single_fc,
        "conv": _conv,
        "low_latency_conv": _low_latency_conv,
        "tiny_conv": _tiny_conv,
    }
    if model_architecture not in makers:
        raise NotImplementedError(
            f'model_architecture argument "{model_architecture}" not recognized, should be one of'
            f" {', '.join(makers)}"
        )
    keep = tf.placeholder(tf.float32, name="dropout_prob") if is_training else None

    def dropout(x: tf.Tensor) -> tf.Tensor:
        return x if keep is None else tf.nn.dropout(x, keep)

    logits = makers[model_architecture](fingerprint_input, model_settings, dropout)
    return (logits, keep) if is_training else logits


Dropout = Callable[[tf.Tensor], tf.Tensor]


def _variable(name: str, shape: list[int], stddev: float) -> tf.Variable:
    drawn = tf.truncated_normal_initializer(stddev=stddev) if stddev else tf.zeros_initializer()
    made: tf.Variable = tf.get_variable(name, shape, initializer=drawn)
    return made


def _dense(x: tf.Tensor, size: int, names: str, stddev: float = 0.01) -> tf.Tensor:
    """A dense layer over all values of each example; ``names`` are of weights and biases."""
    inputs = math.prod(int(dim) for dim in x.shape[1:])
    weights, biases = names.split()
    flat = tf.reshape(x, [-1, inputs])
    product = tf.matmul(flat, _variable(weights, [inputs, size], stddev))
    return product + _variable(biases, [size], 0)


def _convolved(
    x: tf.Tensor, size: list[int], channels: int, strides: list[int], padding: str, names: str
) -> tf.Tensor:
    weights, biases = names.split()
    filters = _variable(weights, [*size, int(x.shape[3]), channels], 0.01)
    made = tf.nn.conv2d(x, filters, [1, *strides, 1], padding) + _variable(biases, [channels], 0)
    return tf.nn.relu(made)


def _pictures(x: tf.Tensor, settings: Settings) -> tf.Tensor:
    """Fingerprints as pictures of one channel: windows, then features."""
    shape = [-1, settings["spectrogram_length"], settings["fingerprint_width"], 1]
    return tf.reshape(x, shape)


def _single_fc(x: tf.Tensor, settings: Settings, dropout: Dropout) -> tf.Tensor:
    return _dense(x, settings["label_count"], "weights bias", 0.001)


def _conv(x: tf.Tensor, settings: Settings, dropout: Dropout) -> tf.Tensor:
    x = _pictures(x, settings)
    x = dropout(_convolved(x, [20, 8], 64, [1, 1], "SAME", "first_weights first_bias"))
    x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    x = dropout(_convolved(x, [10, 4], 64, [1, 1], "SAME", "second_weights second_bias"))
    return _dense(x, settings["label_count"], "final_fc_weights final_fc_bias")


def _low_latency_conv(x: tf.Tensor, settings: Settings, dropout: Dropout) -> tf.Tensor:
    x = _pictures(x, settings)
    size = [settings["spectrogram_length"], 8]
    x = dropout(_convolved(x, size, 186, [1, 1], "VALID", "first_weights first_bias"))
    x = dropout(_dense(x, 128, "first_fc_weights first_fc_bias"))
    x = dropout(_dense(x, 128, "second_fc_weights second_fc_bias"))
    return _dense(x, settings["label_count"], "final_fc_weights final_fc_bias")


def _tiny_conv(x: tf.Tensor, settings: Settings, dropout: Dropout) -> tf.Tensor:
    x = _pictures(x, settings)
    x = dropout(_convolved(x, [10, 8], 8, [2, 2], "SAME", "first_weights first_bias"))
    return _dense(x, settings["label_count"], "final_fc_weights final_fc_bias")
