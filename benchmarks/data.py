"""Initial parameters and batches of every case, the same numbers in every implementation.

All arrays come from ``numpy.random.RandomState``, whose streams are frozen across NumPy
versions, so that workers on NumPy 1.21 and 2.x start from the same bits. Images are NHWC, filters
HWIO, ids int32; a peer that wants another layout converts once, when it prepares (its user would
hold the data that way), and converts from NumPy inside every step.

MNIST is stood in for by random arrays of its shape: speed does not depend on the digits.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

import numpy as np

LSTM_LAYERS = 2
LSTM_UNITS = 200
LSTM_STEPS = 20
LSTM_BATCH = 20
LSTM_VOCABULARY = 10000
LSTM_CLIP_NORM = 5.0

RNN_UNITS = 200
RNN_STEPS = 40
RNN_SHORTEST = 5
RNN_BATCH = 32
RNN_VOCABULARY = 10000
RNN_CLASSES = 10
RNN_RATE = 1.0
RNN_CLIP_NORM = 1.0

EMPTY_ROUNDS = 10000
GRADIENT_ROUNDS = 1000

WORD2VEC_VOCABULARY = 50000
WORD2VEC_DIMENSIONS = 128
WORD2VEC_SAMPLED = 64

# Name, filter height and width, filters, stride, padding, and whether a 3x3 pool of stride 2
# follows: the one-tower AlexNet on 224x224 images.
ALEXNET_CONVOLUTIONS = (
    ("conv1", 11, 64, 4, "VALID", True),
    ("conv2", 5, 192, 1, "SAME", True),
    ("conv3", 3, 384, 1, "SAME", False),
    ("conv4", 3, 384, 1, "SAME", False),
    ("conv5", 3, 256, 1, "SAME", True),
)
ALEXNET_FEATURES = (5, 5, 256)
ALEXNET_DENSE = (("fc6", 4096), ("fc7", 4096), ("fc8", 1000))

Parameters = Dict[str, np.ndarray]
Batch = Tuple[np.ndarray, ...]


# float32 arrays of 64 MB and small ones, as biases are: 1.07 GB in all.
CHECKPOINT_LARGE, CHECKPOINT_SMALL = 16, 100


def checkpoint_shapes() -> Dict[str, Tuple[int, ...]]:
    """Names and shapes of the variables of the cases ``save`` and ``restore``."""
    shapes: Dict[str, Tuple[int, ...]] = {
        "large%d" % index: (4096, 4096) for index in range(CHECKPOINT_LARGE)
    }
    shapes.update({"small%d" % index: (1000,) for index in range(CHECKPOINT_SMALL)})
    return shapes


def background_shapes() -> Dict[str, Tuple[int, ...]]:
    """Names and shapes of what the case ``background`` saves: 512 MiB."""
    return {"large%d" % index: (4096, 4096) for index in range(8)}


def size_of(shapes: Dict[str, Tuple[int, ...]]) -> int:
    """The size in bytes of float32 arrays of these shapes."""
    return sum(4 * int(np.prod(shape)) for shape in shapes.values())


class CaseData(NamedTuple):
    """Initial parameters by name, and the batches that steps take in turn."""

    parameters: Parameters
    batches: List[Batch]


class Cycle:
    """Hands out batches in turn, forever.

    >>> cycle = Cycle([(1,), (2,)])
    >>> [cycle()[0] for _ in range(3)]
    [1, 2, 1]
    """

    def __init__(self, batches: List[Any]) -> None:
        self._batches = batches
        self._next = 0

    def __call__(self) -> Any:
        batch = self._batches[self._next]
        self._next = (self._next + 1) % len(self._batches)
        return batch


def uniform(rng: np.random.RandomState, shape: Tuple[int, ...], limit: float) -> np.ndarray:
    """float32 numbers between -limit and limit."""
    return rng.uniform(-limit, limit, shape).astype(np.float32)


def weight(rng: np.random.RandomState, shape: Tuple[int, ...]) -> np.ndarray:
    """He's uniform initialization: keeps activations of relu layers at their scale."""
    return uniform(rng, shape, math.sqrt(6.0 / float(np.prod(shape[:-1]))))


def bias(count: int) -> np.ndarray:
    return np.full(count, 0.1, np.float32)


def digits(rng: np.random.RandomState, batch: int, shape: Tuple[int, ...]) -> Batch:
    """Images with a fifth of their pixels lit, as handwritten digits have, and one-hot labels."""
    lit = rng.random_sample((batch,) + shape) < 0.2
    images = (rng.random_sample(lit.shape) * lit).astype(np.float32)
    labels = np.eye(10, dtype=np.float32)[rng.randint(0, 10, batch)]
    return images, labels


def softmax() -> CaseData:
    rng = np.random.RandomState(1)
    parameters = {"w": np.zeros((784, 10), np.float32), "b": np.zeros(10, np.float32)}
    return CaseData(parameters, [digits(rng, 100, (784,)) for _ in range(8)])


def mlp() -> CaseData:
    rng = np.random.RandomState(2)
    parameters: Parameters = {}
    sizes = (784, 512, 512, 10)
    for index in range(3):
        parameters["w%d" % index] = weight(rng, sizes[index : index + 2])
        parameters["b%d" % index] = bias(sizes[index + 1])
    return CaseData(parameters, [digits(rng, 128, (784,)) for _ in range(8)])


def cnn() -> CaseData:
    rng = np.random.RandomState(3)
    shapes = {
        "conv1": (5, 5, 1, 32),
        "conv2": (5, 5, 32, 64),
        "dense": (7 * 7 * 64, 1024),
        "out": (1024, 10),
    }
    parameters: Parameters = {}
    for name, shape in shapes.items():
        parameters[name + "_w"] = weight(rng, shape)
        parameters[name + "_b"] = bias(shape[-1])
    return CaseData(parameters, [digits(rng, 50, (28, 28, 1)) for _ in range(8)])


def word2vec() -> CaseData:
    rng = np.random.RandomState(4)
    table = (WORD2VEC_VOCABULARY, WORD2VEC_DIMENSIONS)
    parameters = {
        "embeddings": uniform(rng, table, 1.0),
        "nce_weights": uniform(rng, table, 1.0 / math.sqrt(WORD2VEC_DIMENSIONS)),
        "nce_biases": np.zeros(WORD2VEC_VOCABULARY, np.float32),
    }
    batches: List[Batch] = [(_words(rng), _words(rng).reshape(128, 1)) for _ in range(8)]
    return CaseData(parameters, batches)


def _words(rng: np.random.RandomState) -> np.ndarray:
    """128 word ids, frequent ones more often, as in text."""
    ids = np.exp(rng.random_sample(128) * math.log(WORD2VEC_VOCABULARY)) - 1.0
    return ids.astype(np.int32)


def log_uniform_unique(
    random: Callable[[], float], words: int, count: int
) -> Tuple[List[int], int]:
    """Draws ``count`` distinct ids with P(id) = log((id + 2) / (id + 1)) / log(words + 1).

    Redraws until enough are distinct, as TensorFlow's log-uniform sampler does.

    Args:
        random: Draws from [0, 1).
        words: Ids are below it.
        count: How many distinct ids.

    Returns:
        The ids in the order drawn, and the number of draws it took.
    """
    scale = math.log(words + 1.0)
    exp = math.exp
    found: Dict[int, None] = {}
    tries = 0
    while len(found) < count:
        found[int(exp(random() * scale)) - 1] = None
        tries += 1
    return list(found), tries


def log_not_drawn() -> np.ndarray:
    """log(1 - P(id)) of the log-uniform sampler for every id, float32 [vocabulary]."""
    ids = np.arange(WORD2VEC_VOCABULARY, dtype=np.float64)
    probability = np.log((ids + 2.0) / (ids + 1.0)) / math.log(WORD2VEC_VOCABULARY + 1.0)
    return np.log1p(-probability).astype(np.float32)


def lstm() -> CaseData:
    rng = np.random.RandomState(5)
    units, vocabulary = LSTM_UNITS, LSTM_VOCABULARY
    parameters = {"embedding": uniform(rng, (vocabulary, units), 0.1)}
    for layer in range(LSTM_LAYERS):
        parameters["w%d" % layer] = uniform(rng, (2 * units, 4 * units), 0.1)
        parameters["b%d" % layer] = np.zeros(4 * units, np.float32)
    parameters["out_w"] = uniform(rng, (units, vocabulary), 0.1)
    parameters["out_b"] = np.zeros(vocabulary, np.float32)
    shape = (LSTM_BATCH, LSTM_STEPS)
    batches: List[Batch] = []
    for _ in range(4):
        words, targets = (rng.randint(0, vocabulary, shape).astype(np.int32) for _ in range(2))
        state = np.zeros((2 * LSTM_LAYERS, LSTM_BATCH, units), np.float32)
        batches.append((words, targets, state))
    return CaseData(parameters, batches)


def dynamic_rnn() -> CaseData:
    """Words, padded with zeros, lengths and classes; each batch has a sentence of full length."""
    rng = np.random.RandomState(7)
    units, vocabulary = RNN_UNITS, RNN_VOCABULARY
    parameters = {
        "embedding": uniform(rng, (vocabulary, units), 0.5),
        "w": uniform(rng, (2 * units, 4 * units), 0.1),
        "b": np.zeros(4 * units, np.float32),
        "out_w": uniform(rng, (units, RNN_CLASSES), 0.3),
        "out_b": np.zeros(RNN_CLASSES, np.float32),
    }
    batches: List[Batch] = []
    for _ in range(4):
        lengths = rng.randint(RNN_SHORTEST, RNN_STEPS + 1, RNN_BATCH).astype(np.int32)
        lengths[rng.randint(RNN_BATCH)] = RNN_STEPS
        words = rng.randint(1, vocabulary, (RNN_BATCH, RNN_STEPS)).astype(np.int32)
        words *= np.arange(RNN_STEPS) < lengths[:, None]
        batches.append((words, lengths, rng.randint(0, RNN_CLASSES, RNN_BATCH).astype(np.int32)))
    return CaseData(parameters, batches)


def loop_gradient() -> CaseData:
    """A weight [200, 200] and first states [20, 200].

    The weight is orthogonal (a reflection, its rows rolled): over 1,000 rounds a state neither
    dies out, which would make denormal numbers, nor depends chaotically on rounding.
    """
    rng = np.random.RandomState(8)
    normal = rng.uniform(-1.0, 1.0, 200)
    reflection = np.eye(200) - 2.0 * np.outer(normal, normal) / np.dot(normal, normal)
    weight = np.ascontiguousarray(np.roll(reflection, 1, axis=0).astype(np.float32))
    return CaseData({"w": weight}, [(uniform(rng, (20, 200), 0.5),) for _ in range(4)])


def along(gradient: Any, direction: np.ndarray) -> float:
    """The derivative in a direction: one number that tells gradients apart.

    >>> along(np.array([[1.0, 2.0]], np.float32), np.array([[3.0, 4.0]], np.float32))
    11.0
    """
    return float(np.vdot(np.asarray(gradient), direction))


def alexnet() -> CaseData:
    rng = np.random.RandomState(6)
    parameters: Parameters = {}
    channels = 3
    for name, size, filters, _, _, _ in ALEXNET_CONVOLUTIONS:
        parameters[name + "_w"] = weight(rng, (size, size, channels, filters))
        parameters[name + "_b"] = bias(filters)
        channels = filters
    features = int(np.prod(ALEXNET_FEATURES))
    for name, units in ALEXNET_DENSE:
        parameters[name + "_w"] = weight(rng, (features, units))
        parameters[name + "_b"] = bias(units)
        features = units
    # Logits near zero at first: ten steps then stay comparable between implementations.
    parameters["fc8_w"] *= np.float32(0.1)
    batches: List[Batch] = []
    for _ in range(2):
        images = uniform(rng, (16, 224, 224, 3), 1.0)
        batches.append((images, rng.randint(0, 1000, 16).astype(np.int32)))
    return CaseData(parameters, batches)
