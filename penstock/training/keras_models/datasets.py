"""``tf.keras.datasets``: the known sets, from files of Keras's cache folder.

A file that is not there is refused with the place where it belongs (``files``).
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from penstock.foundation.formats import plain_pickle
from penstock.training.keras_models.files import get_file

_SOURCE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_IMAGES = "https://www.cs.toronto.edu/~kriz/"
Arrays = tuple[Any, Any]


def load_mnist(path: str = "mnist.npz") -> tuple[Arrays, Arrays]:
    """Handwritten digits.

    Args:
      path: of the file, in the cache's folder ``datasets``.

    Returns:
      ``(x_train, y_train), (x_test, y_test)``: images [n, 28, 28] and digits [n], both uint8.

    Raises:
      FileNotFoundError: the file is not there; the text says where it belongs.
    """
    with np.load(get_file(path, f"{_SOURCE}mnist.npz")) as found:
        return (found["x_train"], found["y_train"]), (found["x_test"], found["y_test"])


def load_fashion_mnist() -> tuple[Arrays, Arrays]:
    """Pictures of clothes; as ``load_mnist``, from four files in ``datasets/fashion-mnist``."""

    def read(name: str, head: int) -> Any:
        path = get_file(name, _SOURCE + name, cache_subdir="datasets/fashion-mnist")
        with gzip.open(path, "rb") as file:
            return np.frombuffer(file.read(), np.uint8, offset=head)

    parts = []
    for part in ("train", "t10k"):
        labels = read(f"{part}-labels-idx1-ubyte.gz", 8)
        images = read(f"{part}-images-idx3-ubyte.gz", 16)
        parts.append((images.reshape(len(labels), 28, 28), labels))
    return parts[0], parts[1]


def load_boston_housing(
    path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113
) -> tuple[Arrays, Arrays]:
    """Prices of houses.

    Args:
      path: of the file, in the cache's folder ``datasets``.
      test_split: the part at the end that is for tests.
      seed: of the order.

    Returns:
      ``(x_train, y_train), (x_test, y_test)``: [n, 13] and [n].
    """
    with np.load(get_file(path, f"{_SOURCE}boston_housing.npz")) as found:
        x, y = found["x"], found["y"]
    np.random.seed(seed)
    order = np.arange(len(x))
    np.random.shuffle(order)
    x, y = x[order], y[order]
    at = int(len(x) * (1 - test_split))
    return (np.array(x[:at]), np.array(y[:at])), (np.array(x[at:]), np.array(y[at:]))


def _batch(path: Path, key: str) -> Arrays:
    """Images [n, 3, 32, 32] and labels of one file of the CIFAR sets."""
    with path.open("rb") as file:
        found = plain_pickle.read(file, str(path), encoding="bytes")
    images = found[b"data"]
    return images.reshape(len(images), 3, 32, 32), found[key.encode()]


def _image_sets(train: Arrays, test: Arrays) -> tuple[Arrays, Arrays]:
    made = []
    for images, labels in (train, test):
        made.append((images.transpose(0, 2, 3, 1), np.reshape(labels, (len(labels), 1))))
    return made[0], made[1]


def load_cifar10() -> tuple[Arrays, Arrays]:
    """Pictures of ten kinds, from the folder or archive ``datasets/cifar-10-batches-py``.

    Returns:
      ``(x_train, y_train), (x_test, y_test)``: images [n, 32, 32, 3] uint8 and classes [n, 1].
    """
    origin = f"{_IMAGES}cifar-10-python.tar.gz"
    folder = Path(get_file("cifar-10-batches-py", origin, untar=True))
    parts = [_batch(folder / f"data_batch_{number}", "labels") for number in range(1, 6)]
    images = np.concatenate([one for one, _ in parts])
    labels = np.concatenate([np.asarray(one, np.uint8) for _, one in parts])
    return _image_sets((images, labels), _batch(folder / "test_batch", "labels"))


def load_cifar100(label_mode: str = "fine") -> tuple[Arrays, Arrays]:
    """Pictures of a hundred kinds, from the folder or archive ``datasets/cifar-100-python``.

    Args:
      label_mode: ``"fine"``, or ``"coarse"``: twenty groups of kinds.

    Raises:
      ValueError: another mode.
    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`.')
    origin = f"{_IMAGES}cifar-100-python.tar.gz"
    folder = Path(get_file("cifar-100-python", origin, untar=True))
    key = f"{label_mode}_labels"
    return _image_sets(_batch(folder / "train", key), _batch(folder / "test", key))


def _texts(
    parts: list[Arrays], num_words: int | None, skip_top: int, maxlen: int | None,
    start_char: int | None, oov_char: int | None, index_from: int,
) -> tuple[list[Any], Any]:  # fmt: skip
    """Texts as lists of numbers of words, bounded as was asked, with their labels."""
    texts = [list(text) for x, _ in parts for text in x]
    labels = np.concatenate([y for _, y in parts])
    begin = [] if start_char is None else [start_char]
    texts = [[*begin, *(word + index_from for word in text)] for text in texts]
    if maxlen:
        kept = [n for n, text in enumerate(texts) if len(text) < maxlen]
        texts, labels = [texts[n] for n in kept], labels[kept]
        if not texts:
            raise ValueError(
                f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept."
                " Increase maxlen."
            )
    most = num_words or max(max(text) for text in texts)
    if oov_char is None:
        return [[w for w in text if skip_top <= w < most] for text in texts], labels
    bounded = [[w if skip_top <= w < most else oov_char for w in text] for text in texts]
    return bounded, labels


def load_imdb(
    path: str = "imdb.npz", num_words: int | None = None, skip_top: int = 0,
    maxlen: int | None = None, seed: int = 113, start_char: int | None = 1,
    oov_char: int | None = 2, index_from: int = 3, **kwargs: Any,
) -> tuple[Arrays, Arrays]:  # fmt: skip
    """Reviews of films, each a list of numbers of words, by how frequent they are.

    Args:
      path: of the file, in the cache's folder ``datasets``.
      num_words: words above this number become ``oov_char``; default: all are kept.
      skip_top: so many of the most frequent words become ``oov_char``.
      maxlen: longer texts are left out.
      seed: of the order.
      start_char: what a text begins with, or None.
      oov_char: stands for words that are not kept; None leaves them out.
      index_from: added to the numbers of words.
      **kwargs: ``nb_words``, older name of ``num_words``.

    Returns:
      ``(x_train, y_train), (x_test, y_test)``: arrays of lists, and 0 or 1.
    """
    num_words = kwargs.pop("nb_words", num_words)
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
    found = plain_pickle.read_arrays(get_file(path, f"{_SOURCE}imdb.npz"))
    parts = [(found[f"x_{part}"], found[f"y_{part}"]) for part in ("train", "test")]
    np.random.seed(seed)
    shuffled = []
    for x, y in parts:
        order = np.arange(len(x))
        np.random.shuffle(order)
        shuffled.append((x[order], y[order]))
    texts, labels = _texts(shuffled, num_words, skip_top, maxlen, start_char, oov_char, index_from)
    at = len(parts[0][0])
    return _split_texts(texts, labels, at)


def _split_texts(texts: list[Any], labels: Any, at: int) -> tuple[Arrays, Arrays]:
    made = []
    for rows in (slice(0, at), slice(at, None)):
        kept = texts[rows]
        array = np.empty(len(kept), object)
        array[:] = kept
        made.append((array, np.array(labels[rows])))
    return made[0], made[1]


def load_reuters(
    path: str = "reuters.npz", num_words: int | None = None, skip_top: int = 0,
    maxlen: int | None = None, test_split: float = 0.2, seed: int = 113,
    start_char: int | None = 1, oov_char: int | None = 2, index_from: int = 3, **kwargs: Any,
) -> tuple[Arrays, Arrays]:  # fmt: skip
    """News by topic; arguments as of ``load_imdb``.

    Args:
      test_split: the part at the end that is for tests.
    """
    num_words = kwargs.pop("nb_words", num_words)
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
    found = plain_pickle.read_arrays(get_file(path, f"{_SOURCE}reuters.npz"))
    x, y = found["x"], found["y"]
    np.random.seed(seed)
    order = np.arange(len(x))
    np.random.shuffle(order)
    texts, labels = _texts(
        [(x[order], y[order])], num_words, skip_top, maxlen, start_char, oov_char, index_from
    )
    return _split_texts(texts, labels, int(len(texts) * (1 - test_split)))


def _index(path: str, name: str) -> dict[str, int]:
    with open(get_file(path, _SOURCE + name), encoding="utf-8") as file:
        found: dict[str, int] = json.load(file)
    return found


def imdb_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """From words to their numbers in ``load_imdb``, before ``index_from`` is added."""
    return _index(path, "imdb_word_index.json")


def reuters_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """From words to their numbers in ``load_reuters``, before ``index_from`` is added."""
    return _index(path, "reuters_word_index.json")
