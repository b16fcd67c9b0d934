"""A new last layer for a trained image network: ``tf.examples.image_retraining.retrain``.

Images lie in one folder a class. What the network says of an image before its last layer, the
image's bottleneck, is computed once and kept in a text file; only the new layer is trained on
these. The network is Inception v3 as a graph file, ``classify_image_graph_def.pb``.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import penstock as tf
from penstock.models.tutorials.speech_input import part_of

BOTTLENECK_TENSOR_NAME = "pool_3/_reshape:0"
BOTTLENECK_TENSOR_SIZE = 2048
MODEL_INPUT_WIDTH = MODEL_INPUT_HEIGHT = 299
MODEL_INPUT_DEPTH = 3
JPEG_DATA_TENSOR_NAME = "DecodeJpeg/contents:0"
RESIZED_INPUT_TENSOR_NAME = "ResizeBilinear:0"
MAX_NUM_IMAGES_PER_CLASS = 2**27 - 1

# What the functions read of the command line; a program may set others.
FLAGS = argparse.Namespace(learning_rate=0.01, model_dir="/tmp/imagenet")

_CATEGORIES = ("training", "testing", "validation")
_SUFFIXES = (".jpg", ".jpeg")
_FEW = 20
_GRAPH = "classify_image_graph_def.pb"

ImageLists = dict[str, dict[str, Any]]
Bottleneck = npt.NDArray[np.float32]


# ---- files ---------------------------------------------------------------------------------------


def create_image_lists(
    image_dir: str, testing_percentage: float, validation_percentage: float
) -> ImageLists | None:
    """The images of each class, in three parts.

    An image's path decides its part, so that it stays there when images are added; what follows
    ``_nohash_`` in a name does not count, so that alike images stay together.

    Args:
      image_dir: a folder of folders with ``.jpg`` and ``.jpeg`` files.
      testing_percentage, validation_percentage: shares of these parts.

    Returns:
      from a class's label, its folder's name in lower case with blanks for signs, to a dict of its
      folder (``dir``) and the files' names: ``training``, ``testing``, ``validation``. None if
      there is no such folder.
    """
    root = Path(image_dir)
    if not root.is_dir():
        tf.logging.error("Image directory '%s' not found.", image_dir)
        return None
    lists: ImageLists = {}
    for folder in sorted(each for each in root.iterdir() if each.is_dir()):
        images = sorted(each for each in folder.iterdir() if each.suffix.lower() in _SUFFIXES)
        if not images:
            tf.logging.warning("No files found in %s", folder)
            continue
        if len(images) < _FEW:
            tf.logging.warning("%s has less than %d images: too few to learn", folder, _FEW)
        label = re.sub(r"[^a-z0-9]+", " ", folder.name.lower())
        lists[label] = {"dir": folder.name, **{category: [] for category in _CATEGORIES}}
        for path in images:
            name = re.sub(r"_nohash_.*$", "", str(path))
            part = part_of(name, validation_percentage, testing_percentage)
            lists[label][part].append(path.name)
    return lists


def get_image_path(
    image_lists: ImageLists, label_name: str, index: int, image_dir: str, category: str
) -> str:
    """The path of an image of a class and part.

    Args:
      image_lists: what ``create_image_lists`` returns.
      label_name: the class.
      index: which image; it is taken modulo their number.
      image_dir: the folder of the classes' folders.
      category: "training", "testing" or "validation".

    Raises:
      KeyError: if there is no such class or part.
      ValueError: if the part has no image.

    Example:
      >>> from penstock.models.tutorials import retrain
      >>> lists = {"red rose": {"dir": "Red_Rose", "training": ["a.jpg", "b.jpg"]}}
      >>> retrain.get_image_path(lists, "red rose", 3, "flowers", "training")
      'flowers/Red_Rose/b.jpg'
    """
    if label_name not in image_lists:
        raise KeyError(f"Label does not exist {label_name}; there are {sorted(image_lists)}.")
    found = image_lists[label_name]
    if category not in found:
        raise KeyError(f"Category does not exist {category}; it is one of {_CATEGORIES}.")
    if not found[category]:
        raise ValueError(f"Label {label_name} has no images in the category {category}.")
    name = found[category][index % len(found[category])]
    return str(Path(image_dir) / found["dir"] / name)


def get_bottleneck_path(
    image_lists: ImageLists, label_name: str, index: int, bottleneck_dir: str, category: str
) -> str:
    """The path of an image's bottleneck: as ``get_image_path``, with ``.txt`` behind."""
    return get_image_path(image_lists, label_name, index, bottleneck_dir, category) + ".txt"


# ---- bottlenecks ---------------------------------------------------------------------------------


def create_inception_graph() -> tuple[tf.Graph, tf.Tensor, tf.Tensor, tf.Tensor]:
    """The network of ``FLAGS.model_dir``.

    Returns:
      its graph, the bottleneck, the input of JPEG data, and that of a resized image.

    Raises:
      FileNotFoundError: if the file is not there; says where to put it.
    """
    path = Path(FLAGS.model_dir) / _GRAPH
    if not path.is_file():
        raise FileNotFoundError(f"no {path}: put {_GRAPH} of Inception v3 (2015) into its folder")
    definition = tf.GraphDef.FromString(path.read_bytes())
    names = [BOTTLENECK_TENSOR_NAME, JPEG_DATA_TENSOR_NAME, RESIZED_INPUT_TENSOR_NAME]
    with tf.Graph().as_default() as graph:
        found: Any = tf.import_graph_def(definition, name="", return_elements=names)
    bottleneck, data, resized = found
    return graph, bottleneck, data, resized


def run_bottleneck_on_image(
    sess: tf.Session, image_data: Any, image_data_tensor: tf.Tensor, bottleneck_tensor: tf.Tensor
) -> Bottleneck:
    """What the network says of one image, float32 of [size].

    Args:
      sess: a session of its graph.
      image_data: what is fed, mostly the content of a JPEG file.
      image_data_tensor: the tensor that is fed.
      bottleneck_tensor: float32 of [1, size].
    """
    values: Bottleneck = sess.run(bottleneck_tensor, {image_data_tensor: image_data})
    return np.squeeze(values)


def get_or_create_bottleneck(
    sess: tf.Session,
    image_lists: ImageLists,
    label_name: str,
    index: int,
    image_dir: str,
    category: str,
    bottleneck_dir: str,
    jpeg_data_tensor: tf.Tensor,
    bottleneck_tensor: tf.Tensor,
) -> list[float]:
    """An image's bottleneck from its file, which is written if it is not there.

    Args:
      sess, jpeg_data_tensor, bottleneck_tensor: as ``run_bottleneck_on_image``.
      image_lists, label_name, index, image_dir, category: as ``get_image_path``.
      bottleneck_dir: the folder of the bottlenecks' files.
    """
    path = Path(get_bottleneck_path(image_lists, label_name, index, bottleneck_dir, category))
    if not path.is_file():
        image = get_image_path(image_lists, label_name, index, image_dir, category)
        data = Path(image).read_bytes()
        values = run_bottleneck_on_image(sess, data, jpeg_data_tensor, bottleneck_tensor)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(",".join(map(str, values)))
    return [float(word) for word in path.read_text().split(",")]


def _all_images(image_lists: ImageLists) -> Iterator[tuple[str, int, str]]:
    for label, found in image_lists.items():
        for category in _CATEGORIES:
            yield from ((label, index, category) for index in range(len(found[category])))


def cache_bottlenecks(
    sess: tf.Session,
    image_lists: ImageLists,
    image_dir: str,
    bottleneck_dir: str,
    jpeg_data_tensor: tf.Tensor,
    bottleneck_tensor: tf.Tensor,
) -> None:
    """Has the bottlenecks of all images be in files; see ``get_or_create_bottleneck``."""
    for label, index, category in _all_images(image_lists):
        get_or_create_bottleneck(
            sess, image_lists, label, index, image_dir, category, bottleneck_dir,
            jpeg_data_tensor, bottleneck_tensor,
        )  # fmt: skip


def _drawn(image_lists: ImageLists, how_many: int, category: str) -> Iterator[tuple[str, int]]:
    """Classes and numbers of images: all where ``how_many`` is negative, else drawn ones."""
    if how_many < 0:
        yield from ((label, i) for label, i, part in _all_images(image_lists) if part == category)
        return
    labels = list(image_lists)
    for _ in range(how_many):
        yield random.choice(labels), random.randrange(MAX_NUM_IMAGES_PER_CLASS + 1)


def _one_hot(image_lists: ImageLists, label: str) -> Bottleneck:
    row: Bottleneck = np.zeros(len(image_lists), np.float32)
    row[list(image_lists).index(label)] = 1
    return row


def get_random_cached_bottlenecks(
    sess: tf.Session,
    image_lists: ImageLists,
    how_many: int,
    category: str,
    bottleneck_dir: str,
    image_dir: str,
    jpeg_data_tensor: tf.Tensor,
    bottleneck_tensor: tf.Tensor,
) -> tuple[list[list[float]], list[Bottleneck], list[str]]:
    """Bottlenecks of drawn images, rows with a one at their class, and the images' paths.

    Args:
      how_many: images; all of the part where it is negative.
      the others: as ``get_or_create_bottleneck``.
    """
    bottlenecks, truths, names = [], [], []
    for label, index in _drawn(image_lists, how_many, category):
        names.append(get_image_path(image_lists, label, index, image_dir, category))
        truths.append(_one_hot(image_lists, label))
        bottleneck = get_or_create_bottleneck(
            sess, image_lists, label, index, image_dir, category, bottleneck_dir,
            jpeg_data_tensor, bottleneck_tensor,
        )  # fmt: skip
        bottlenecks.append(bottleneck)
    return bottlenecks, truths, names


def get_random_distorted_bottlenecks(
    sess: tf.Session,
    image_lists: ImageLists,
    how_many: int,
    category: str,
    image_dir: str,
    input_jpeg_tensor: tf.Tensor,
    distorted_image: tf.Tensor,
    resized_input_tensor: tf.Tensor,
    bottleneck_tensor: tf.Tensor,
) -> tuple[list[Bottleneck], list[Bottleneck]]:
    """Bottlenecks of drawn images, each distorted anew, and rows with a one at their class.

    Args:
      input_jpeg_tensor, distorted_image: what ``add_input_distortions`` returns.
      resized_input_tensor: the network's input.
      the others: as ``get_random_cached_bottlenecks``.
    """
    bottlenecks, truths = [], []
    for label, index in _drawn(image_lists, how_many, category):
        path = Path(get_image_path(image_lists, label, index, image_dir, category))
        image = sess.run(distorted_image, {input_jpeg_tensor: path.read_bytes()})
        bottlenecks.append(
            run_bottleneck_on_image(sess, image, resized_input_tensor, bottleneck_tensor)
        )
        truths.append(_one_hot(image_lists, label))
    return bottlenecks, truths


# ---- nodes ---------------------------------------------------------------------------------------


def should_distort_images(
    flip_left_right: bool, random_crop: int, random_scale: int, random_brightness: int
) -> bool:
    """Whether any distortion is asked for; see ``add_input_distortions``."""
    return bool(flip_left_right or random_crop or random_scale or random_brightness)


def add_input_distortions(
    flip_left_right: bool, random_crop: int, random_scale: int, random_brightness: int
) -> tuple[tf.Tensor, tf.Tensor]:
    """Nodes that distort an image at random.

    Args:
      flip_left_right: whether half of the images are mirrored.
      random_crop: margin around what is cut out, in percent.
      random_scale: by how much an image may be enlarged, in percent.
      random_brightness: by how much its values may be multiplied up or down, in percent.

    Returns:
      the placeholder of a JPEG file's content, and float32 of [1, 299, 299, 3].
    """
    data = tf.placeholder(tf.string, name="DistortJPGInput")
    image = tf.cast(tf.image.decode_jpeg(data, channels=MODEL_INPUT_DEPTH), tf.float32)
    enlarged = tf.random_uniform([], minval=1.0, maxval=1.0 + random_scale / 100.0)
    scale = (1.0 + random_crop / 100.0) * enlarged
    size = tf.cast(tf.stack([scale * MODEL_INPUT_HEIGHT, scale * MODEL_INPUT_WIDTH]), tf.int32)
    larger = tf.image.resize_bilinear(tf.expand_dims(image, 0), size)
    shape = [MODEL_INPUT_HEIGHT, MODEL_INPUT_WIDTH, MODEL_INPUT_DEPTH]
    image = tf.random_crop(tf.squeeze(larger, [0]), shape)
    if flip_left_right:
        image = tf.image.random_flip_left_right(image)
    share = random_brightness / 100.0
    image = image * tf.random_uniform([], minval=1.0 - share, maxval=1.0 + share)
    return data, tf.expand_dims(image, 0, name="DistortResult")


def _summarize(name: str, x: Any) -> None:
    with tf.name_scope(f"{name}_summaries"):
        mean = tf.reduce_mean(x)
        tf.summary.scalar("mean", mean)
        tf.summary.scalar("stddev", tf.sqrt(tf.reduce_mean(tf.square(x - mean))))
        tf.summary.histogram("histogram", x)


def _layer(x: tf.Tensor, class_count: int) -> tf.Tensor:
    with tf.name_scope("final_training_ops"):
        with tf.name_scope("weights"):
            drawn = tf.truncated_normal([int(x.shape[1]), class_count], stddev=0.001)
            weights = tf.Variable(drawn, name="final_weights")
            _summarize("weights", weights)
        with tf.name_scope("biases"):
            biases = tf.Variable(tf.zeros([class_count]), name="final_biases")
            _summarize("biases", biases)
        with tf.name_scope("Wx_plus_b"):
            logits: tf.Tensor = tf.matmul(x, weights) + biases
            tf.summary.histogram("pre_activations", logits)
    return logits


def add_final_training_ops(
    class_count: int, final_tensor_name: str, bottleneck_tensor: tf.Tensor
) -> tuple[tf.Operation, tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """The new last layer and a step of gradient descent at ``FLAGS.learning_rate``.

    Args:
      class_count: how many classes there are.
      final_tensor_name: the name of the softmax.
      bottleneck_tensor: float32 of [batch, BOTTLENECK_TENSOR_SIZE]; other bottlenecks may be fed.

    Returns:
      the step, the mean cross entropy, the inputs of bottlenecks and of rows with a one at the
      class, and the softmax.
    """
    with tf.name_scope("input"):
        bottlenecks = tf.placeholder_with_default(
            bottleneck_tensor, [None, BOTTLENECK_TENSOR_SIZE], name="BottleneckInputPlaceholder"
        )
        truths = tf.placeholder(tf.float32, [None, class_count], name="GroundTruthInput")
    logits = _layer(bottlenecks, class_count)
    final = tf.nn.softmax(logits, name=final_tensor_name)
    tf.summary.histogram("activations", final)
    with tf.name_scope("cross_entropy"):
        each = tf.nn.softmax_cross_entropy_with_logits(labels=truths, logits=logits)
        with tf.name_scope("total"):
            mean = tf.reduce_mean(each)
    tf.summary.scalar("cross_entropy", mean)
    with tf.name_scope("train"):
        step = tf.train.GradientDescentOptimizer(FLAGS.learning_rate).minimize(mean)
    return step, mean, bottlenecks, truths, final


def add_evaluation_step(
    result_tensor: tf.Tensor, ground_truth_tensor: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """The share of examples whose class is foretold, and the classes foretold.

    Args:
      result_tensor: float32 of [batch, classes].
      ground_truth_tensor: rows with a one at the class.
    """
    with tf.name_scope("accuracy"):
        with tf.name_scope("correct_prediction"):
            prediction = tf.argmax(result_tensor, -1)
            correct = tf.equal(prediction, tf.argmax(ground_truth_tensor, -1))
        with tf.name_scope("accuracy"):
            share = tf.reduce_mean(tf.cast(correct, tf.float32))
    tf.summary.scalar("accuracy", share)
    return share, prediction
