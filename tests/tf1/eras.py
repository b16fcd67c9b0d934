"""The table of programs in ``eras/``: what each stands for, and how it is run and compared.

Programs of one file, as people wrote them from 2015 to 2019, with nothing of Penstock in them. Each
computes the same numbers every time and prints them, with six significant digits. What TensorFlow
1.15 prints stands in ``eras.json`` (``make_eras.py``).

Spellings of before 1.0 are gone from 1.15. Such a program is run there in its later spelling, which
``RENAMES`` makes of its text; Penstock runs the text as it is.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "eras"
EXPECTED = HERE / "eras.json"


class Program(NamedTuple):
    """One file of ``eras/``."""

    name: str
    # The TensorFlow that it was written for.
    era: str
    # Whether 1.15 runs it as it stands; if not, it runs there after RENAMES.
    in_115: bool = True
    # Libraries that it needs beyond the core of ops, sessions, variables and optimizers.
    wants: tuple[str, ...] = ()
    # Why it is not compared within 1e-4, and within what it is.
    tolerance: float = 1e-4
    reason: str = ""

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.py"


def _all(era: str, *names: str, in_115: bool = True, wants: tuple[str, ...] = ()) -> list[Program]:
    return [Program(name, era, in_115, wants) for name in names]


PROGRAMS: list[Program] = [
    *_all("0.6", "cnn_deep_mnist"),
    *_all("0.6", "old_names", "regression_linear", in_115=False),
    *_all("0.8", "regression_softmax_mnist", wants=("tf.examples",)),
    *_all(
        "0.8", "cnn_cifar_decay", "clustering_kmeans", "embedding_word2vec_nce", "mlp_dictionaries",
        "queue_csv", "rnn_bidirectional", "text_char_rnn", in_115=False,
    ),
    *_all("0.12", "autoencoder_dense", "gan_toy", "image_style_transfer", "rl_policy_gradient"),
    *_all(
        "0.12", "devices_towers", "queue_runner", "regression_polynomial", "seq2seq_embedding",
        "session_partial_run", "text_cnn", "training_supervisor", in_115=False,
    ),
    *_all("0.12", "cnn_contrib_layers", wants=("tf.contrib.layers",)),
    *_all("0.12", "learn_linear", wants=("tf.contrib.learn", "tf.contrib.layers")),
    *_all(
        "1.0", "autoencoder_convolutional", "autoencoder_variational", "cluster_in_process",
        "collaborative_filtering", "control_flow", "ctc_speech", "export_frozen", "gan_dcgan",
        "gradient_py_func", "mlp_summaries", "queue_tfrecords", "recurrence_scan",
        "regression_logistic", "rl_actor_critic_threads", "rnn_dynamic_lengths", "saver_restore",
        "session_timeline", "testing_case", "text_language_model",
    ),
    *_all("1.0", "cnn_resnet", "training_averages", wants=("tf.contrib.layers",)),
    *_all("1.0", "cnn_slim", wants=("tf.contrib.slim",)),
    *_all(
        "1.4", "cnn_separable", "config_hparams", "data_pipeline", "embedding_sampled_softmax",
        "export_savedmodel", "gan_wasserstein", "image_augmentation", "rl_dqn", "text_char_static",
        "training_hooks",
    ),
    *_all("1.4", "cnn_layers", "seq2seq_attention", wants=("tf.layers",)),
    *_all("1.4", "estimator_model_fn", wants=("tf.estimator",)),
    *_all("1.4", "estimator_linear", wants=("tf.estimator", "tf.feature_column")),
    *_all("1.4", "tagger_bilstm_crf", wants=("tf.contrib.crf",)),
    *_all("1.4", "text_lookup_tables", wants=("tf.contrib.learn",)),
    *_all("1.12", "data_iterators", "gradient_custom", "metrics_streaming", "training_schedules"),
    *_all("1.12", "cnn_batch_norm", "rnn_custom_cell", wants=("tf.layers",)),
    *_all("1.12", "cnn_keras_sequential", wants=("tf.keras",)),
    *_all("1.12", "keras_functional", wants=("tf.keras", "tf.estimator")),
    *_all("1.12", "distributions_densities", wants=("tf.distributions",)),
    *_all("1.12", "eager_gradient_tape", wants=("eager execution", "tf.keras")),
    *_all("1.12", "eager_functions", in_115=False, wants=("eager execution",)),
    *_all("1.12", "estimator_dnn", wants=("tf.estimator", "tf.feature_column")),
    *_all("1.12", "feature_columns", wants=("tf.feature_column",)),
    *_all("1.12", "transformer_encoder", wants=("tf.layers", "tf.contrib.layers")),
    *_all("1.12", "transformer_tpu_estimator", wants=("tf.contrib.tpu", "tf.contrib.layers")),
]  # fmt: skip
BY_NAME = {program.name: program for program in PROGRAMS}

# Programs that Penstock does not run as 1.15 does yet, and what is in the way.
UNFINISHED: dict[str, str] = {}

# Earlier spellings and what they became: patterns, in this order.
RENAMES: list[tuple[str, str]] = [
    (r"\btf\.mul\(", "tf.multiply("),
    (r"\btf\.sub\(", "tf.subtract("),
    (r"\btf\.neg\(", "tf.negative("),
    (r"\btf\.inv\(", "tf.reciprocal("),
    (r"\btf\.pack\(", "tf.stack("),
    (r"\btf\.unpack\(", "tf.unstack("),
    (r"\btf\.select\(", "tf.where("),
    (r"\btf\.batch_matmul\(", "tf.matmul("),
    (r"\btf\.batch_matrix_(determinant|inverse|diag)\(", r"tf.matrix_\1("),
    (r"\btf\.complex_abs\(", "tf.abs("),
    (r"\btf\.listdiff\(", "tf.setdiff1d("),
    # Arguments that changed places: the axis of joining and splitting, logits and labels.
    (r"\btf\.concat\((\d), (\[[^\]]*\]|\w+)\)", r"tf.concat(\2, \1)"),
    (r"\btf\.split\((\d), (\w+), (\w+)\)", r"tf.split(\3, \2, \1)"),
    (r"\btf\.split\((\d), (\w+), (tf\.nn\.\w+\([^)]*\))\)", r"tf.split(\3, \2, \1)"),
    (
        r"(softmax_cross_entropy_with_logits\(\s*)([\w.]+), ([\w.]+)(, name=[^)]*)?\)",
        r"\1logits=\2, labels=\3\4)",
    ),
    (r"\btf\.nn\.nce_loss\((\w+), (\w+), (\w+), (\w+),", r"tf.nn.nce_loss(\1, \2, \4, \3,"),
    (r"\btf\.zeros_initializer\(\[3\]\)", "tf.zeros([3])"),
    (r"\btf\.reverse\((\w+), \[False, True\]\)", r"tf.reverse(\1, [1])"),
    # Summaries.
    (r"\btf\.(scalar|histogram)_summary\(", r"tf.summary.\1("),
    (r"\btf\.merge_all_summaries\(", "tf.summary.merge_all("),
    # Recurrent networks.
    (
        r"from tensorflow\.python\.ops import (rnn, rnn_cell|rnn_cell)\b",
        "rnn_cell = tf.nn.rnn_cell",
    ),
    (r"from tensorflow\.python\.ops import seq2seq\b", "seq2seq = tf.contrib.legacy_seq2seq"),
    (r"\btf\.nn\.seq2seq\.", "tf.contrib.legacy_seq2seq."),
    (r"\brnn\.bidirectional_rnn\(", "tf.nn.static_bidirectional_rnn("),
    # What 1.15 has no more.
    (r"\btfe\.Variable\(", "tf.Variable("),
]


def later_spelling(text: str) -> str:
    """A program's text as 1.15 takes it."""
    for pattern, replacement in RENAMES:
        text = re.sub(pattern, replacement, text)
    return text


_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf)(?![\w.])")


# What is printed of a sum that cancels is as uncertain as its terms, which are of the order of 1.
ATOL = 1e-6


def differences(found: list[str], wanted: list[str], tolerance: float) -> list[str]:
    """Lines that differ by more than their numbers' last digits, as ``diff`` shows them.

    Args:
      found: what was printed.
      wanted: what TensorFlow 1.15 printed.
      tolerance: by how much of its size a number may differ.
    """
    differing = [
        f"- {line}\n+ {now}" for now, line in zip(found, wanted) if not _same(now, line, tolerance)
    ]
    if len(found) != len(wanted):
        differing.append(f"{len(found)} lines, not {len(wanted)}")
    return differing


def _same(found: str, wanted: str, tolerance: float) -> bool:
    (numbers, words), (expected, others) = numbers_and_words(found), numbers_and_words(wanted)
    return words == others and all(
        a == b or abs(a - b) <= ATOL + tolerance * abs(b) or a != a and b != b
        for a, b in zip(numbers, expected)
    )


def numbers_and_words(line: str) -> tuple[list[float], str]:
    """The numbers of a line, and what stands around them."""
    found = [float(number) for number in _NUMBER.findall(line)]
    return found, " ".join(_NUMBER.sub(" # ", line).split())
