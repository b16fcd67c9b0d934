"""A training program with an estimator, one task of it or all: ``trainer.py FOLDER LAST_STEP``.

Each step adds its own number to a variable on the way, so the sum tells whether a step was lost or
done twice.  TF_CONFIG says which task this is; the evaluator exports the last checkpoint.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import penstock as tf


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    step = tf.train.get_global_step()
    total = tf.get_variable("total", [], tf.int64, tf.zeros_initializer(), trainable=False)
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"y": w * features["x"]})
    loss = tf.reduce_mean(tf.square(w * features["x"] - labels))
    descend = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.control_dependencies([tf.assign_add(total, step.read_value() + 1), descend]):
        train = tf.assign_add(step, 1)
    metrics = {"total": tf.metrics.mean(tf.cast(total, tf.float32))}
    return tf.estimator.EstimatorSpec(mode, None, loss, train, metrics)


def read() -> Any:
    data = tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [3.0, 6.0]))
    return data.repeat()


def receive() -> Any:
    x = tf.placeholder(tf.float32, [None], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def main(folder: str, last_step: int) -> None:
    config = tf.estimator.RunConfig(
        folder, save_checkpoints_steps=7, experimental_max_worker_delay_secs=0
    )
    estimator = tf.estimator.Estimator(model_fn, config=config)
    exporter = tf.estimator.FinalExporter("final", receive)
    task = config.task_type
    metrics = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(read, max_steps=last_step),
        tf.estimator.EvalSpec(
            read, steps=1, exporters=exporter, start_delay_secs=0, throttle_secs=0
        ),
    )
    found = {name: float(value) for name, value in metrics[0].items()} if metrics else None
    Path(folder, f"{task}{config.task_id}.done").write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
