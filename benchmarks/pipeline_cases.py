"""Input pipelines as TF1 programs: decoding jpegs, and training steps that are fed ahead.

As in ``graph_cases.py``, each case is a function of the module that implements the API.  The jpegs
are generated: smooth random images of 208 to 300 pixels a side.  A step of ``jpegs`` takes 20
batches; a batch is what ``map`` (read, decode, resize), ``batch`` and ``prefetch`` make of the
files, over and over.  Images a second are 640 divided by the seconds of a step.

``mlp_queue`` and ``mlp_prefetch`` are the step of ``graph_cases.mlp`` with its batches taken out of
a queue that a thread fills, or out of a dataset that reads ahead.  They are compared with ``mlp``
of the same implementation, which is fed from memory.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, Callable, Dict, List

import numpy as np

from benchmarks import data
from benchmarks.program import Program

JPEGS, JPEG_BATCH, JPEG_SIZE, JPEG_THREADS = 400, 32, 128, 2
# Batches of a step: many more than a pipeline makes ahead while others take their turns.
JPEG_BATCHES = 20
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "jpegs")


def jpeg_files(encode: Callable[[np.ndarray], bytes]) -> List[str]:
    """The paths of the jpegs; whoever comes first writes them.

    Args:
        encode: Makes a jpeg of quality 90 of an image, uint8 [height, width, 3].
    """
    names = ["%04d.jpg" % index for index in range(JPEGS)]
    if not os.path.isdir(_FOLDER):
        os.makedirs(os.path.dirname(_FOLDER), exist_ok=True)
        made = tempfile.mkdtemp(dir=os.path.dirname(_FOLDER))
        rng = np.random.RandomState(11)
        for name in names:
            with open(os.path.join(made, name), "wb") as file:
                file.write(encode(_image(rng)))
        os.rename(made, _FOLDER)
    return [os.path.join(_FOLDER, name) for name in names]


def _image(rng: np.random.RandomState) -> np.ndarray:
    """Random colours on a grid of 8 pixels, joined smoothly, and some noise."""
    height, width = (int(n) for n in rng.randint(208, 301, 2))
    image = rng.randint(0, 256, (height // 8 + 2, width // 8 + 2, 3)).astype(np.float64)
    for axis, size in enumerate((height, width)):
        places = np.arange(size) / 8.0
        low = places.astype(int)
        part = (places - low).reshape([-1 if i == axis else 1 for i in range(3)])
        image = image.take(low, axis) * (1 - part) + image.take(low + 1, axis) * part
    image += rng.normal(0.0, 4.0, image.shape)
    return np.clip(image, 0, 255).astype(np.uint8)


def _encoder(tf: Any) -> Callable[[np.ndarray], bytes]:
    def encode(image: np.ndarray) -> bytes:
        contents: bytes = session.run(made, {pixels: image})
        return contents

    with tf.Graph().as_default():
        pixels = tf.placeholder(tf.uint8, [None, None, 3])
        made = tf.image.encode_jpeg(pixels, quality=90)
        session = tf.Session()
    return encode


def jpegs(tf: Any) -> Program:
    """20 batches of 32 images of 128 x 128; its value is a mean over all."""
    files = jpeg_files(_encoder(tf))

    def load(name: Any) -> Any:
        image = tf.image.decode_jpeg(tf.read_file(name), channels=3)
        return tf.image.resize_images(image, [JPEG_SIZE, JPEG_SIZE])

    with tf.Graph().as_default():
        dataset = tf.data.Dataset.from_tensor_slices(files).repeat()
        dataset = dataset.map(load, num_parallel_calls=JPEG_THREADS)
        batch = dataset.batch(JPEG_BATCH).prefetch(2).make_one_shot_iterator().get_next()
        session = tf.Session()
    take = session.make_callable(batch)

    def step() -> Any:
        # A few values stand for all: a step is to measure the pipeline, not a mean.
        return np.mean([take()[:, ::16, ::16].mean() for _ in range(JPEG_BATCHES)])

    return Program(step, session.close)


def _mlp(tf: Any, parameters: Any, x: Any, y: Any) -> List[Any]:
    """The loss and the training op of ``graph_cases.mlp``."""
    v = {name: tf.Variable(tf.constant(value), name=name) for name, value in parameters.items()}
    hidden = tf.nn.relu(tf.matmul(x, v["w0"]) + v["b0"])
    hidden = tf.nn.relu(tf.matmul(hidden, v["w1"]) + v["b1"])
    logits = tf.matmul(hidden, v["w2"]) + v["b2"]
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits))
    return [loss, tf.train.AdamOptimizer(1e-3).minimize(loss)]


def _stacked(batches: List[Any]) -> List[np.ndarray]:
    return [np.concatenate(column) for column in zip(*batches)]


def mlp_queue(tf: Any) -> Program:
    """Batches out of a queue of 8 batches, which one thread fills from constants."""
    parameters, batches = data.mlp()
    with tf.Graph().as_default():
        images, labels = (tf.constant(np.stack(c)) for c in zip(*batches))
        index = tf.train.range_input_producer(len(batches), shuffle=False).dequeue()
        queue = tf.FIFOQueue(8, [tf.float32, tf.float32], [[128, 784], [128, 10]])
        put = queue.enqueue([tf.gather(images, index), tf.gather(labels, index)])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [put]))
        fetches = _mlp(tf, parameters, *queue.dequeue())
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)

    def close() -> None:
        coordinator.request_stop()
        session.run(queue.close(cancel_pending_enqueues=True))
        session.close()
        coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)

    return Program(lambda: session.run(fetches)[0], close)


def mlp_prefetch(tf: Any) -> Program:
    """Batches out of a dataset: slices of the images, put together 128 at a time, ahead."""
    parameters, batches = data.mlp()
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.from_tensor_slices(tuple(_stacked(batches))).repeat()
        dataset = dataset.batch(128, drop_remainder=True).prefetch(2)
        fetches = _mlp(tf, parameters, *dataset.make_one_shot_iterator().get_next())
        session = tf.Session()
        session.run(tf.global_variables_initializer())
    return Program(lambda: session.run(fetches)[0], session.close)


CASES: Dict[str, Callable[[Any], Program]] = {
    case.__name__: case for case in (jpegs, mlp_queue, mlp_prefetch)
}


def remove_jpegs() -> None:
    """Has the jpegs made anew next time."""
    shutil.rmtree(_FOLDER, ignore_errors=True)
