"""Features of spoken words from WAV files: ``AudioProcessor`` of ``input_data``."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import penstock as tf
from penstock.models.tutorials import archives, speech_input

Settings = dict[str, Any]
Floats = npt.NDArray[np.float32]
_PARTS = ("validation", "testing", "training")


def fingerprint(samples: tf.Tensor, sample_rate: Any, model_settings: Settings) -> tf.Tensor:
    """Features of each window of a clip, float32 of [1, windows, features] or with a 1 behind.

    Args:
      samples: float32 of [samples, 1], from -1 to 1.
      sample_rate: samples a second.
      model_settings: what ``prepare_model_settings`` returns.

    Raises:
      ValueError: for another ``preprocess`` than "average" and "mfcc".
    """
    audio_ops = tf.contrib.framework.python.ops.audio_ops
    spectrogram = audio_ops.audio_spectrogram(
        samples,
        window_size=model_settings["window_size_samples"],
        stride=model_settings["window_stride_samples"],
        magnitude_squared=True,
    )
    made: tf.Tensor
    if model_settings["preprocess"] == "average":
        window = [1, model_settings["average_window_width"]]
        pictures = tf.expand_dims(spectrogram, -1)
        made = tf.nn.pool(pictures, window, "AVG", "SAME", strides=window)
    elif model_settings["preprocess"] == "mfcc":
        width = model_settings["fingerprint_width"]
        made = audio_ops.mfcc(spectrogram, sample_rate, dct_coefficient_count=width)
    else:
        raise ValueError(
            f'Unknown preprocess mode "{model_settings["preprocess"]}" (should be "mfcc" or'
            ' "average"; "micro" needs kernels for microcontrollers, which are not here)'
        )
    return made


class AudioProcessor:
    """Recordings of words in their parts, mixed with noise, as features.

    Args:
      data_url: an archive that is unpacked, or downloaded, if the folder has no WAV files; may be
        empty.
      data_dir: a folder of one folder a word, and perhaps one of noise, ``_background_noise_``; if
        it is empty, there is only ``get_features_for_wav``.
      silence_percentage, unknown_percentage: how many examples of silence and of other words there
        are to be, in percent of those of wanted words.
      wanted_words: the words to tell apart.
      validation_percentage, testing_percentage: shares of these parts.
      model_settings: what ``prepare_model_settings`` returns.
      summaries_dir: folder for events; None for none.

    Raises:
      FileNotFoundError: if there are no recordings; says what to put where.
      ValueError: if a wanted word has none.
    """

    def __init__(
        self,
        data_url: str,
        data_dir: str,
        silence_percentage: float,
        unknown_percentage: float,
        wanted_words: Sequence[str],
        validation_percentage: float,
        testing_percentage: float,
        model_settings: Settings,
        summaries_dir: str | None = None,
    ) -> None:
        self.data_dir = data_dir
        if data_dir:
            self.maybe_download_and_extract_dataset(data_url, data_dir)
            self.prepare_data_index(
                silence_percentage, unknown_percentage, wanted_words,
                validation_percentage, testing_percentage,
            )  # fmt: skip
            self.prepare_background_data()
        self.prepare_processing_graph(model_settings, summaries_dir)

    def maybe_download_and_extract_dataset(self, data_url: str, dest_directory: str) -> None:
        """Unpacks the archive into a folder that has no recordings yet."""
        folder = Path(dest_directory)
        if data_url and next(folder.glob("*/*.wav"), None) is None:
            archives.unpack(data_url, folder, "WAV files")

    # ---- files -----------------------------------------------------------------------------------

    def prepare_data_index(
        self,
        silence_percentage: float,
        unknown_percentage: float,
        wanted_words: Sequence[str],
        validation_percentage: float,
        testing_percentage: float,
    ) -> None:
        """Lists the recordings of each part in ``data_index``, always in the same order."""
        drawn = random.Random(speech_input.RANDOM_SEED)
        percentages = validation_percentage, testing_percentage
        found = self._recordings(percentages)
        words = {each["label"] for part in found.values() for each in part}
        for word in wanted_words:
            if word not in words:
                raise ValueError(
                    f"Expected to find {word} in labels but only found {', '.join(sorted(words))}"
                )
        silence = next(each["file"] for part in found.values() for each in part)
        self.data_index: dict[str, list[dict[str, str]]] = {}
        for part, recordings in found.items():
            wanted = [each for each in recordings if each["label"] in wanted_words]
            unknown = [each for each in recordings if each["label"] not in wanted_words]
            drawn.shuffle(unknown)
            others = math.ceil(len(wanted) * unknown_percentage / 100)
            silent = math.ceil(len(wanted) * silence_percentage / 100)
            quiet = {"label": speech_input.SILENCE_LABEL, "file": silence}
            self.data_index[part] = [*wanted, *[quiet] * silent, *unknown[:others]]
            drawn.shuffle(self.data_index[part])
        self.words_list = speech_input.prepare_words_list(wanted_words)
        self.word_to_index = dict.fromkeys(words, speech_input.UNKNOWN_WORD_INDEX)
        self.word_to_index |= {word: number for number, word in enumerate(self.words_list)}

    def _recordings(self, percentages: tuple[float, float]) -> dict[str, list[dict[str, str]]]:
        found: dict[str, list[dict[str, str]]] = {part: [] for part in _PARTS}
        for path in sorted(Path(self.data_dir).glob("*/*.wav")):
            word = path.parent.name.lower()
            if word != speech_input.BACKGROUND_NOISE_DIR_NAME:
                part = speech_input.which_set(str(path), *percentages)
                found[part].append({"label": word, "file": str(path)})
        if not any(found.values()):
            pattern = Path(self.data_dir) / "*" / "*.wav"
            raise FileNotFoundError(
                f"No .wavs found at {pattern}: put a folder of WAV files for each word into"
                f" {self.data_dir}, named after it"
            )
        return found

    def prepare_background_data(self) -> None:
        """Reads the recordings of noise into ``background_data``.

        Raises:
          FileNotFoundError: if there is a folder for them, and nothing in it.
        """
        folder = Path(self.data_dir) / speech_input.BACKGROUND_NOISE_DIR_NAME
        paths = sorted(folder.glob("*.wav"))
        if folder.is_dir() and not paths:
            raise FileNotFoundError(f"No background wav files were found in {folder}")
        self.background_data = [speech_input.load_wav_file(str(path)) for path in paths]

    # ---- nodes -----------------------------------------------------------------------------------

    def prepare_processing_graph(
        self, model_settings: Settings, summaries_dir: str | None = None
    ) -> None:
        """Adds the nodes that make features of a file; ``output_`` is their result."""
        count = model_settings["desired_samples"]
        with tf.name_scope("data"):
            self.wav_filename_placeholder_ = tf.placeholder(tf.string, [], name="wav_filename")
            content = tf.read_file(self.wav_filename_placeholder_)
            decoded = tf.audio.decode_wav(content, desired_channels=1, desired_samples=count)
            self.foreground_volume_placeholder_ = tf.placeholder(
                tf.float32, [], name="foreground_volume"
            )
            louder = tf.multiply(decoded.audio, self.foreground_volume_placeholder_)
            self.time_shift_padding_placeholder_ = tf.placeholder(
                tf.int32, [2, 2], name="time_shift_padding"
            )
            self.time_shift_offset_placeholder_ = tf.placeholder(
                tf.int32, [2], name="time_shift_offset"
            )
            padded = tf.pad(louder, self.time_shift_padding_placeholder_)
            shifted = tf.slice(padded, self.time_shift_offset_placeholder_, [count, -1])
            self.background_data_placeholder_ = tf.placeholder(
                tf.float32, [count, 1], name="background_data"
            )
            self.background_volume_placeholder_ = tf.placeholder(
                tf.float32, [], name="background_volume"
            )
            noise = tf.multiply(
                self.background_data_placeholder_, self.background_volume_placeholder_
            )
            self.samples_ = tf.clip_by_value(tf.add(noise, shifted), -1.0, 1.0)
            self.output_ = fingerprint(self.samples_, decoded.sample_rate, model_settings)
            picture = tf.reshape(self.output_, [1, -1, model_settings["fingerprint_width"], 1])
            shown = tf.summary.image("features", picture, max_outputs=1)
            self.merged_summaries_ = tf.summary.merge([shown])
        self.summary_writer_ = None
        if summaries_dir:
            path = str(Path(summaries_dir) / "data")
            self.summary_writer_ = tf.summary.FileWriter(path, tf.get_default_graph())

    def _feeds(
        self, file: str, model_settings: Settings, volume: float = 1.0, shift: int = 0
    ) -> dict[Any, Any]:
        """A file alone, shifted by samples: later where that is above 0, else earlier."""
        return {
            self.wav_filename_placeholder_: file,
            self.foreground_volume_placeholder_: volume,
            self.time_shift_padding_placeholder_: [[max(shift, 0), max(-shift, 0)], [0, 0]],
            self.time_shift_offset_placeholder_: [max(-shift, 0), 0],
            self.background_data_placeholder_: np.zeros([model_settings["desired_samples"], 1]),
            self.background_volume_placeholder_: 0.0,
        }

    def _noise(self, samples: int) -> Floats:
        """A piece of a recording of noise."""
        whole = self.background_data[np.random.randint(len(self.background_data))]
        if len(whole) <= samples:
            raise ValueError(
                f"Background sample is too short! Need more than {samples} samples but only"
                f" {len(whole)} were found"
            )
        start = np.random.randint(len(whole) - samples)
        return whole[start : start + samples].reshape(-1, 1)

    # ---- examples --------------------------------------------------------------------------------

    def set_size(self, mode: str) -> int:
        """How many recordings a part has: "training", "validation" or "testing"."""
        return len(self.data_index[mode])

    def _chosen(self, how_many: int, offset: int, mode: str) -> list[dict[str, str]]:
        """Drawn ones to train on, those from ``offset`` on otherwise; all where it is -1."""
        recordings = self.data_index[mode]
        if how_many == -1:
            return recordings
        if mode != "training":
            return recordings[offset : offset + how_many]
        return [recordings[i] for i in np.random.randint(len(recordings), size=how_many)]

    def get_data(
        self,
        how_many: int,
        offset: int,
        model_settings: Settings,
        background_frequency: float,
        background_volume_range: float,
        time_shift: int,
        mode: str,
        sess: tf.Session,
    ) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Features and numbers of words.

        Args:
          how_many: examples, as far as there are any; -1 for all of the part.
          offset: the first one; does not count in training, where they are drawn.
          model_settings: what ``prepare_model_settings`` returns.
          background_frequency: share of the examples to train on that get noise.
          background_volume_range: the loudest that noise may be, of 1.
          time_shift: by how many samples a clip is shifted, at most.
          mode: "training", "validation" or "testing".
          sess: a session of the processor's graph.

        Returns:
          float32 of [examples, fingerprint_size] and int64 of [examples].
        """
        chosen = self._chosen(how_many, offset, mode)
        data = np.zeros([len(chosen), model_settings["fingerprint_size"]], np.float32)
        labels = np.zeros(len(chosen), np.int64)
        for row, each in enumerate(chosen):
            silent = each["label"] == speech_input.SILENCE_LABEL
            shift = np.random.randint(-time_shift, time_shift) if time_shift > 0 else 0
            feeds = self._feeds(each["file"], model_settings, 0.0 if silent else 1.0, shift)
            if self.background_data and (mode == "training" or silent):
                piece = self._noise(model_settings["desired_samples"])
                loud = silent or np.random.uniform() < background_frequency
                most = 1.0 if silent else background_volume_range
                feeds[self.background_data_placeholder_] = piece
                feeds[self.background_volume_placeholder_] = np.random.uniform(0, most) * loud
            summary, features = sess.run([self.merged_summaries_, self.output_], feeds)
            if self.summary_writer_ is not None:
                self.summary_writer_.add_summary(summary)
            data[row] = features.flatten()
            labels[row] = self.word_to_index[each["label"]]
        return data, labels

    def get_features_for_wav(
        self, wav_filename: str, model_settings: Settings, sess: tf.Session
    ) -> list[Floats]:
        """A list of the features of one file, as it is."""
        return list(sess.run([self.output_], self._feeds(wav_filename, model_settings)))

    def get_unprocessed_data(
        self, how_many: int, model_settings: Settings, mode: str
    ) -> tuple[Floats, list[str]]:
        """Samples, float32 of [examples, desired_samples], and the words.

        Args:
          how_many, model_settings, mode: as ``get_data``.
        """
        count = model_settings["desired_samples"]
        chosen = self._chosen(how_many, 0, mode)
        data = np.zeros([len(chosen), count], np.float32)
        for row, each in enumerate(chosen):
            samples = speech_input.load_wav_file(each["file"])[:count]
            silent = each["label"] == speech_input.SILENCE_LABEL
            data[row, : len(samples)] = 0 if silent else samples
        return data, [self.words_list[self.word_to_index[each["label"]]] for each in chosen]
