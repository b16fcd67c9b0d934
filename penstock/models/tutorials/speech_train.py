"""Trains a network to tell spoken words apart: ``tf.examples.speech_commands.train``.

``main`` does what ``FLAGS`` say, which a program may set beforehand.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import penstock as tf
from penstock.models.tutorials import speech_input, speech_models
from penstock.models.tutorials.speech_processor import AudioProcessor

FLAGS = argparse.Namespace(
    data_url="http://download.tensorflow.org/data/speech_commands_v0.02.tar.gz",
    data_dir="/tmp/speech_dataset/",
    background_volume=0.1,
    background_frequency=0.8,
    silence_percentage=10.0,
    unknown_percentage=10.0,
    time_shift_ms=100.0,
    testing_percentage=10,
    validation_percentage=10,
    sample_rate=16000,
    clip_duration_ms=1000,
    window_size_ms=30.0,
    window_stride_ms=10.0,
    feature_bin_count=40,
    how_many_training_steps="15000,3000",
    eval_step_interval=400,
    learning_rate="0.001,0.0001",
    batch_size=100,
    summaries_dir="/tmp/retrain_logs",
    wanted_words="yes,no,up,down,left,right,on,off,stop,go",
    train_dir="/tmp/speech_commands_train",
    save_step_interval=100,
    start_checkpoint="",
    model_architecture="conv",
    check_nans=False,
    quantize=False,
    preprocess="mfcc",
)


class _Network(NamedTuple):
    """The nodes of a run."""

    inputs: Any
    labels: Any
    keep: Any
    rate: Any
    loss: Any
    classes: Any
    accuracy: Any
    step: Any
    global_step: Any


def _rates() -> list[float]:
    """The learning rate of each step.

    Raises:
      ValueError: if there are not as many rates as numbers of steps.
    """
    counts = [int(word) for word in str(FLAGS.how_many_training_steps).split(",")]
    rates = [float(word) for word in str(FLAGS.learning_rate).split(",")]
    if len(counts) != len(rates):
        raise ValueError(
            "--how_many_training_steps and --learning_rate must be equal length lists, but are"
            f" {len(counts)} and {len(rates)} long instead"
        )
    return [rate for rate, count in zip(rates, counts) for _ in range(count)]


def _quantized(inputs: Any, settings: speech_models.Settings) -> Any:
    low, high = speech_input.get_features_range(settings)
    return tf.fake_quant_with_min_max_args(inputs, low, high)


def _build(settings: speech_models.Settings) -> _Network:
    inputs = tf.placeholder(tf.float32, [None, settings["fingerprint_size"]], "fingerprint_input")
    x = _quantized(inputs, settings) if FLAGS.quantize else inputs
    logits, keep = speech_models.create_model(x, settings, FLAGS.model_architecture, True)
    labels = tf.placeholder(tf.int64, [None], name="groundtruth_input")
    checks = [tf.add_check_numerics_ops()] if FLAGS.check_nans else []
    with tf.name_scope("cross_entropy"):
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if FLAGS.quantize:
        contrib: Any = tf.contrib
        contrib.quantize.create_training_graph(quant_delay=0)
    global_step = tf.train.get_or_create_global_step()
    with tf.name_scope("train"), tf.control_dependencies(checks):
        rate = tf.placeholder(tf.float32, [], name="learning_rate_input")
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step)
    classes = tf.argmax(logits, 1)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(classes, labels), tf.float32))
    with tf.name_scope("eval"):
        tf.summary.scalar("cross_entropy", loss)
        tf.summary.scalar("accuracy", accuracy)
    return _Network(inputs, labels, keep, rate, loss, classes, accuracy, step, global_step)


class _Run:
    """One training: the files, the network and its session."""

    def __init__(self, session: tf.Session) -> None:
        words = speech_input.prepare_words_list(FLAGS.wanted_words.split(","))
        self.settings = speech_models.prepare_model_settings(
            len(words), FLAGS.sample_rate, FLAGS.clip_duration_ms, FLAGS.window_size_ms,
            FLAGS.window_stride_ms, FLAGS.feature_bin_count, FLAGS.preprocess,
        )  # fmt: skip
        self.session = session
        self.audio = AudioProcessor(
            FLAGS.data_url, FLAGS.data_dir, FLAGS.silence_percentage, FLAGS.unknown_percentage,
            words[2:], FLAGS.validation_percentage, FLAGS.testing_percentage, self.settings,
            FLAGS.summaries_dir,
        )  # fmt: skip
        self.network = _build(self.settings)
        scalars = tf.get_collection(tf.GraphKeys.SUMMARIES, scope="eval")
        self.summary = tf.summary.merge(scalars)
        self.saver = tf.train.Saver(tf.global_variables())
        session.run(tf.global_variables_initializer())
        if FLAGS.start_checkpoint:
            self.saver.restore(session, FLAGS.start_checkpoint)
        self.writer = tf.summary.FileWriter(str(Path(FLAGS.summaries_dir) / "train"))
        self._write(words)

    def _write(self, words: list[str]) -> None:
        folder, name = Path(FLAGS.train_dir), FLAGS.model_architecture
        tf.train.write_graph(self.session.graph_def, str(folder), f"{name}.pbtxt")
        (folder / f"{name}_labels.txt").write_text("\n".join(words), encoding="utf-8")

    def train(self, number: int, rate: float) -> None:
        shift = int(FLAGS.time_shift_ms * FLAGS.sample_rate / 1000)
        data, labels = self.audio.get_data(
            FLAGS.batch_size, 0, self.settings, FLAGS.background_frequency,
            FLAGS.background_volume, shift, "training", self.session,
        )  # fmt: skip
        net = self.network
        feeds = {net.inputs: data, net.labels: labels, net.keep: 0.5, net.rate: rate}
        summary, accuracy, loss, _ = self.session.run(
            [self.summary, net.accuracy, net.loss, net.step], feeds
        )
        self.writer.add_summary(summary, number)
        tf.logging.debug(
            "Step #%d: rate %f, accuracy %.1f%%, cross entropy %f",
            number, rate, accuracy * 100, loss,
        )  # fmt: skip

    def measure(self, part: str) -> float:
        """Logs a part's confusion matrix and the share that is right, which it returns."""
        size, net = self.audio.set_size(part), self.network
        found, wanted = [], []
        for offset in range(0, size, FLAGS.batch_size):
            data, labels = self.audio.get_data(
                FLAGS.batch_size, offset, self.settings, 0.0, 0.0, 0, part, self.session
            )
            found += list(self.session.run(net.classes, {net.inputs: data, net.keep: 1.0}))
            wanted += list(labels)
        count = self.settings["label_count"]
        confusion = np.zeros([count, count], int)
        np.add.at(confusion, (np.array(wanted, int), np.array(found, int)), 1)
        right = float(np.trace(confusion)) / max(size, 1)
        tf.logging.info("Confusion Matrix:\n %s", confusion)
        tf.logging.info("%s accuracy = %.1f%% (N=%d)", part, right * 100, size)
        return right

    def save(self, number: int) -> None:
        path = str(Path(FLAGS.train_dir) / f"{FLAGS.model_architecture}.ckpt")
        self.saver.save(self.session, path, global_step=number)


def main(_: Any = None) -> None:
    """Trains, and writes the graph, the words and checkpoints to ``FLAGS.train_dir``.

    Raises:
      FileNotFoundError: if there are no recordings; says what to put where.
      ValueError: if there are not as many learning rates as numbers of steps.
    """
    rates = _rates()
    with tf.Graph().as_default(), tf.Session() as session:
        run = _Run(session)
        first = int(session.run(run.network.global_step)) + 1
        for number in range(first, len(rates) + 1):
            run.train(number, rates[number - 1])
            last = number == len(rates)
            if last or number % FLAGS.eval_step_interval == 0:
                run.measure("validation")
            if last or number % FLAGS.save_step_interval == 0:
                run.save(number)
        run.measure("testing")
        run.writer.close()
