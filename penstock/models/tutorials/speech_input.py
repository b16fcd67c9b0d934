"""Short spoken words as a data set: ``tf.examples.speech_commands.input_data``.

What goes with files: which of them are for training, and WAV files read and written. A folder has
one folder a word; a speaker's recordings are named ``SPEAKER_nohash_NUMBER.wav``. Its
``AudioProcessor`` is in ``speech_processor``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import penstock as tf

MAX_NUM_WAVS_PER_CLASS = 2**27 - 1
SILENCE_LABEL, SILENCE_INDEX = "_silence_", 0
UNKNOWN_WORD_LABEL, UNKNOWN_WORD_INDEX = "_unknown_", 1
BACKGROUND_NOISE_DIR_NAME = "_background_noise_"
RANDOM_SEED = 59185


def prepare_words_list(wanted_words: Sequence[str]) -> list[str]:
    """The labels: silence and all other words stand before the words that are told apart."""
    return [SILENCE_LABEL, UNKNOWN_WORD_LABEL, *wanted_words]


def which_set(filename: str, validation_percentage: float, testing_percentage: float) -> str:
    """Which part a recording belongs to: "training", "validation" or "testing".

    The name of the speaker decides, so that one speaker is in one part, and stays in it when
    recordings are added.

    Args:
      filename: the recording's path.
      validation_percentage, testing_percentage: shares of these parts.

    Example:
      >>> from penstock.models.tutorials import speech_input
      >>> {speech_input.which_set(f"yes/a_nohash_{n}.wav", 10, 10) for n in range(9)}
      {'training'}
    """
    speaker = re.sub(r"_nohash_.*$", "", Path(filename).name)
    return part_of(speaker, validation_percentage, testing_percentage)


def part_of(name: str, validation_percentage: float, testing_percentage: float) -> str:
    """The part that the hash of a name falls into: "training", "validation" or "testing"."""
    digest = int(hashlib.sha1(name.encode()).hexdigest(), 16)
    percentage = digest % (MAX_NUM_WAVS_PER_CLASS + 1) * (100.0 / MAX_NUM_WAVS_PER_CLASS)
    if percentage < validation_percentage:
        return "validation"
    return "testing" if percentage < validation_percentage + testing_percentage else "training"


def load_wav_file(filename: str) -> npt.NDArray[np.float32]:
    """The first channel of a WAV file of 16 bits, from -1 to 1, float32 of [samples]."""
    with tf.Graph().as_default(), tf.Session() as session:
        content = tf.read_file(filename)
        decoded = tf.audio.decode_wav(content, desired_channels=1)
        samples: npt.NDArray[np.float32] = session.run(decoded.audio)
        return samples.flatten()


def save_wav_file(filename: str, wav_data: Any, sample_rate: int) -> None:
    """Writes samples from -1 to 1 as a WAV file of one channel.

    Args:
      filename: the file.
      wav_data: float32 of [samples].
      sample_rate: samples a second.
    """
    samples = np.reshape(np.asarray(wav_data, np.float32), (-1, 1))
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.write_file(filename, tf.audio.encode_wav(samples, sample_rate)))


def get_features_range(model_settings: dict[str, Any]) -> tuple[float, float]:
    """The least and the largest value that features can have, for quantizing them.

    Args:
      model_settings: what ``prepare_model_settings`` returns; ``preprocess`` counts.

    Raises:
      ValueError: for another way of making features.
    """
    ranges = {"average": (0.0, 127.5), "mfcc": (-247.0, 30.0), "micro": (0.0, 26.0)}
    kind = model_settings["preprocess"]
    if kind not in ranges:
        raise ValueError(f'Unknown preprocess mode "{kind}" (should be one of {list(ranges)})')
    return ranges[kind]
