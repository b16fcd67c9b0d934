"""Models that leave, made smaller: size, what is lost, time and memory under onnxruntime.

    python -m benchmarks.exported            # prints the table of docs/exporting.md

Words choose models: digits, sentences, mobilenet, inception.  Each model is run in a process of its
own on one thread: the median of 30 runs on one example (the digits' on more as well), and the peak
of its memory less that of a process that has loaded onnxruntime alone.  The digits' network is
trained first; the sentences' is trained where ``shared/data/movie_reviews`` is above this checkout;
the others have random weights, and what is told is how far the classes' shares move.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

import penstock as tf
from penstock.models import sentence_cnn
from penstock.models.digits_data import batches as digit_batches, load_bundled
from penstock.models.sentence_cnn_text import (
    batches as sentence_batches,
    encode,
    read_reviews,
    split_fold,
    vocabulary,
)
from penstock.storage.interchange import compressing
from penstock.storage.interchange.model import of_session
from penstock.storage.interchange.onnx_file import onnx_model
from tests.storage.interchange.networks import Network, inception_v3, mobilenet

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))
from digits import build_model  # noqa: E402

_RUN = """
import json, re, statistics, sys, time
import numpy as np, onnxruntime
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
start = peak()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
options.log_severity_level = 3
session = onnxruntime.InferenceSession(sys.argv[1], options)
feeds = dict(np.load(sys.argv[2]))
times = []
for _ in range(30):
    begin = time.perf_counter()
    session.run(None, feeds)
    times.append(time.perf_counter() - begin)
print(json.dumps([statistics.median(times) * 1e3, (peak() - start) / 1024]))
"""
Score = Callable[[Any], float]
Change = Callable[[Any], Any]


def _session(model: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def rows(
    name: str, model: Any, score: Score, example: dict[str, np.ndarray], changes: dict[str, Change]
) -> None:
    """Prints the rows of a model: as it leaves, and each way it is made smaller."""
    whole, right = model.ByteSize(), score(model)
    for how, change in {"float32": lambda m: m, **changes}.items():
        made = change(model)
        with tempfile.TemporaryDirectory() as folder:
            path, feeds = Path(folder, "model.onnx"), Path(folder, "feeds.npz")
            onnx.save_model(made, path)
            np.savez(feeds, **example)
            said = subprocess.run(
                [sys.executable, "-c", _RUN, str(path), str(feeds)], check=True,
                capture_output=True, text=True,
            ).stdout  # fmt: skip
        time, peak = json.loads(said)
        size = f"{made.ByteSize() / 1e6:.2f} MB, {made.ByteSize() / whole:.3f}"
        lost = f"{100 * (right - score(made)):.2f}"
        print(f"| {name} | {how} | {size} | {lost} | {time:.3g} | {peak:.0f} |", flush=True)


def digits() -> None:
    """The digits' network: points of accuracy."""
    data = load_bundled()
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        network = build_model(8, 8, 0.001, 1)
        session = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
        session.run(tf.global_variables_initializer())
        for step, (images, labels) in enumerate(digit_batches(data, 64, 0)):
            given = {network.images: images, network.labels: labels, network.drop_rate: 0.4}
            session.run(network.train_op, given)
            if step >= 1000:
                break
        ends = {"images": network.images}, {"logits": network.activations["logits"]}
        model = onnx_model(of_session(session, *ends))

    def score(made: Any) -> float:
        found = _session(made).run(None, {"images": data.test_images})[0]
        return float((found.argmax(1) == data.test_labels).mean())

    samples = [{"images": data.train_images[i : i + 8]} for i in range(0, 400, 8)]
    rows("digits CNN", model, score, {"images": data.test_images[:1]}, {
        "float16": compressing.half_weights, "int8": compressing.int8_weights,
        "static": lambda m: compressing.static(m, samples),
    })  # fmt: skip
    for count in (32, 128):
        rows(
            f"digits CNN, {count} at a time", model, score, {"images": data.test_images[:count]},
            {"static": lambda m: compressing.static(m, samples)},
        )  # fmt: skip


def sentences() -> None:
    """The sentences' network: points of accuracy on a tenth of the reviews."""
    folders = [f / "shared" / "data" / "movie_reviews" for f in ROOT.parents]
    folder = next((f for f in folders if f.is_dir()), None)
    if folder is None:
        print("no shared/data/movie_reviews above this checkout", file=sys.stderr)
        return
    learned, held = split_fold(read_reviews(folder), fold=0)
    settings = sentence_cnn.Settings(seed=2)
    numbers = vocabulary(learned, settings.rarest)
    network = sentence_cnn.SentenceModel(settings, numbers)
    words, labels = encode(learned, numbers)
    for epoch in range(settings.epochs):
        network.train_epoch(words, labels, network.rate(epoch))
    ends = {"words": network.network.words}, {"scores": network.network.probabilities}
    model = onnx_model(of_session(network.session, *ends))
    unseen, answers = encode(held, numbers)

    def score(made: Any) -> float:
        session, right = _session(made), 0
        for batch in sentence_batches(unseen, answers, 200, settings.margin):
            found = session.run(None, {"words": batch.words})[0]
            right += int((found.argmax(1) == batch.labels).sum())
        return right / len(answers)

    example = next(iter(sentence_batches(unseen, answers, 1, settings.margin)))
    rows("sentence CNN", model, score, {"words": example.words}, {
        "int8": compressing.int8_weights,
        "prune 0.6, int8": lambda m: compressing.int8_weights(compressing.pruned(m, 0.6)),
        "low rank 0.8, int8": lambda m: compressing.int8_weights(compressing.low_rank(m, 0.8)),
    })  # fmt: skip


def images(name: str, network: Network) -> None:
    """A network of random weights: how many hundredths move from class to class."""
    model = onnx_model(of_session(network.session, network.inputs, network.outputs))
    size = network.feeds["images"].shape[1]
    found = np.random.RandomState(0).rand(12, size, size, 3).astype(np.float32)
    wanted: list[np.ndarray] = []

    def score(made: Any) -> float:
        session = _session(made)
        shares = [session.run(None, {"images": image[None]})[0] for image in found[8:]]
        wanted.extend(shares if not wanted else [])
        common = [np.minimum(a, b).sum() for a, b in zip(shares, wanted, strict=True)]
        return float(np.mean(common))

    samples = [{"images": image[None]} for image in found[:8]]
    rows(name, model, score, {"images": found[:1]}, {
        "int8": compressing.int8_weights, "static": lambda m: compressing.static(m, samples),
    })  # fmt: skip


def main() -> None:
    """Prints the table."""
    print("| model | how | size | points lost | ms | peak MB |\n|---|---|---|---|---|---|")
    parts = {
        "digits": digits, "sentences": sentences,
        "mobilenet": lambda: images("MobileNet v1", mobilenet()),
        "inception": lambda: images("Inception v3", inception_v3()),
    }  # fmt: skip
    for part in sys.argv[1:] or parts:
        parts[part]()


if __name__ == "__main__":
    main()
