"""What the speech example's small programs do with WAV files.

They are ``label_wav``, ``wav_to_features`` and ``generate_streaming_test_wav`` below
``tf.examples.speech_commands``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import penstock as tf
from penstock.models.tutorials import speech_input, speech_models
from penstock.models.tutorials.speech_processor import AudioProcessor


def load_graph(filename: str) -> None:
    """Imports a GraphDef's file into the default graph."""
    definition = tf.GraphDef.FromString(Path(filename).read_bytes())
    tf.import_graph_def(definition, name="")


def load_labels(filename: str) -> list[str]:
    """The lines of a file."""
    return Path(filename).read_text(encoding="utf-8").split()


def run_graph(
    wav_data: bytes,
    labels: list[str],
    input_layer_name: str,
    output_layer_name: str,
    num_top_predictions: int,
) -> int:
    """Prints the likeliest words of a recording with their probabilities; see ``label_wav``."""
    with tf.Session() as session:
        output = session.graph.get_tensor_by_name(output_layer_name)
        (scores,) = session.run(output, {input_layer_name: wav_data})
    for number in np.argsort(scores)[::-1][:num_top_predictions]:
        print(f"{labels[number]} (score = {scores[number]:.5f})")
    return 0


def label_wav(
    wav: str, labels: str, graph: str, input_name: str, output_name: str, how_many_labels: int
) -> None:
    """Prints the likeliest words of a recording, each with its probability.

    Args:
      wav: the recording's file.
      labels: a file of the words, one a line.
      graph: a file of a frozen network.
      input_name, output_name: the tensors of the WAV file's content and of the probabilities.
      how_many_labels: how many to print.

    Raises:
      FileNotFoundError: if a file does not exist.
    """
    for kind, path in {"Audio": wav, "Labels": labels, "Graph": graph}.items():
        if not path or not Path(path).is_file():
            raise FileNotFoundError(f"{kind} file does not exist {path}")
    load_graph(graph)
    content = Path(wav).read_bytes()
    run_graph(content, load_labels(labels), input_name, output_name, how_many_labels)


def wav_to_features(
    sample_rate: int,
    clip_duration_ms: float,
    window_size_ms: float,
    window_stride_ms: float,
    feature_bin_count: int,
    quantize: bool,
    preprocess: str,
    input_wav: str,
    output_c_file: str,
) -> None:
    """Writes a recording's features as a C array, ``g_NAME_data``, of the file's name.

    Args:
      quantize: whether as bytes, 0 and 255 for what ``get_features_range`` gives; else as floats.
      input_wav: the recording.
      output_c_file: the file that is written.
      the others: as ``models.prepare_model_settings``.
    """
    settings = speech_models.prepare_model_settings(
        0, sample_rate, clip_duration_ms, window_size_ms, window_stride_ms, feature_bin_count,
        preprocess,
    )  # fmt: skip
    with tf.Graph().as_default(), tf.Session() as session:
        maker = AudioProcessor("", "", 0, 0, [], 0, 0, settings)
        features = maker.get_features_for_wav(input_wav, settings, session)[0].flatten()
    kind = "unsigned char" if quantize else "float"
    if quantize:
        low, high = speech_input.get_features_range(settings)
        features = np.clip(np.rint((features - low) / (high - low) * 255), 0, 255).astype(int)
    name = Path(input_wav).stem.lower()
    sizes = {"width": settings["fingerprint_width"], "height": settings["spectrogram_length"]}
    lines = [
        f"// Features of {Path(input_wav).name}, made by {preprocess}.",
        *(f"const int g_{name}_{side} = {size};" for side, size in sizes.items()),
        f"const {kind} g_{name}_data[] = {{",
        *(f"  {value}," for value in features.tolist()),
        "};",
    ]
    Path(output_c_file).write_text("\n".join(lines) + "\n", encoding="utf-8")


def mix_in_audio_sample(
    track_data: Any,
    track_offset: int,
    sample_data: Any,
    sample_offset: int,
    clip_duration: int,
    sample_volume: float,
    ramp_in: int,
    ramp_out: int,
) -> None:
    """Adds a piece of one recording to another, in place, growing louder and softer at its ends.

    Args:
      track_data: float array of [samples], which is changed.
      track_offset: where the piece goes.
      sample_data: float array of [samples].
      sample_offset: where the piece begins.
      clip_duration: its length in samples, as far as both recordings go.
      sample_volume: factor.
      ramp_in, ramp_out: samples until it is at full volume, and from there to its end.

    Example:
      >>> import numpy as np
      >>> from penstock.models.tutorials import speech_files
      >>> track = np.zeros(8)
      >>> speech_files.mix_in_audio_sample(track, 2, np.ones(9), 0, 6, 0.5, 2, 4)
      >>> track
      array([0.   , 0.   , 0.   , 0.25 , 0.5  , 0.375, 0.25 , 0.125])
    """
    count = min(clip_duration, len(track_data) - track_offset, len(sample_data) - sample_offset)
    index = np.arange(count)
    falling = np.minimum(1.0, (clip_duration - index) / max(ramp_out, 1))
    envelope = np.where(index < ramp_in, index / max(ramp_in, 1), falling)
    piece = np.asarray(sample_data[sample_offset : sample_offset + count])
    track_data[track_offset : track_offset + count] += piece * envelope * sample_volume
