"""Initial parameters and batches of whole networks, as ``data`` holds those of the other cases.

Where a network draws numbers in its step (dropout, samples of a latent variable), each
implementation draws its own; where its users fed them (a generator's noise), batches hold them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.data import Batch, CaseData, Parameters, bias, digits, uniform, weight

# Cora: papers, words of a paper's vector and entries of all, citations, labels, labeled papers.
GCN_NODES, GCN_WORDS, GCN_ENTRIES, GCN_EDGES = 2708, 1433, 49216, 5278
GCN_HIDDEN, GCN_CLASSES, GCN_LABELED = 16, 7, 140
GCN_KEPT, GCN_DECAY, GCN_RATE = 0.5, 5e-4, 0.01

VAE_BATCH, VAE_HIDDEN, VAE_LATENT, VAE_RATE = 100, 500, 20, 1e-3
DROPOUT_BATCH, DROPOUT_KEPT, DROPOUT_RATE = 128, 0.5, 1e-3
GAN_BATCH, GAN_NOISE, GAN_HIDDEN, GAN_RATE = 128, 100, 128, 1e-3

# Name, size, filters, stride: the network of the DQN paper, on 84 x 84 x 4.
DQN_CONVOLUTIONS = (("conv1", 8, 32, 4), ("conv2", 4, 64, 2), ("conv3", 3, 64, 1))
DQN_FEATURES = (7, 7, 64)
DQN_BATCH, DQN_ACTIONS, DQN_DISCOUNT, DQN_RATE = 32, 6, 0.99, 1e-5

WIDE_BATCH, WIDE_IDS, WIDE_TABLE = 256, 10, 100000
DEEP_IDS, DEEP_TABLE, DEEP_UNITS, DEEP_NUMBERS = 8, 20000, 16, 5
DEEP_LAYERS = (100, 50, 1)
WIDE_RATE, DEEP_RATE, ACCUMULATED = 0.05, 0.05, 0.1


def _spread(rng: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
    """Glorot's uniform initialization."""
    return uniform(rng, shape, math.sqrt(6.0 / (shape[-2] + shape[-1])))


def _dense(rng: np.random.RandomState, names: str, sizes: tuple[int, ...]) -> Parameters:
    """Weights and biases of layers, ``names % ("w", index)``."""
    found: Parameters = {}
    for index in range(len(sizes) - 1):
        found[names % ("w", index)] = _spread(rng, sizes[index : index + 2])
        found[names % ("b", index)] = np.zeros(sizes[index + 1], np.float32)
    return found


def _entries(rng: np.random.RandomState, rows: int, columns: int, count: int) -> np.ndarray:
    """Places of a sparse matrix in order, int64 [count, 2]."""
    flat = np.sort(rng.choice(rows * columns, count, replace=False))
    return np.stack([flat // columns, flat % columns], 1).astype(np.int64)


def gcn() -> CaseData:
    """One batch: places and values of the features, of the normalized adjacency, labels, mask."""
    rng = np.random.RandomState(20)
    places = _entries(rng, GCN_NODES, GCN_WORDS, GCN_ENTRIES)
    each = np.bincount(places[:, 0], minlength=GCN_NODES)
    values = (1.0 / each[places[:, 0]]).astype(np.float32)
    pairs = rng.randint(0, GCN_NODES, (2 * GCN_EDGES, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], 1), axis=0)
    pairs = pairs[rng.permutation(len(pairs))[:GCN_EDGES]]
    loops = np.stack([np.arange(GCN_NODES)] * 2, 1)
    links = np.concatenate([pairs, pairs[:, ::-1], loops])
    links = links[np.lexsort((links[:, 1], links[:, 0]))].astype(np.int64)
    degree = np.bincount(links[:, 0], minlength=GCN_NODES)
    scale = 1.0 / np.sqrt(degree[links[:, 0]] * degree[links[:, 1]])
    labels = np.eye(GCN_CLASSES, dtype=np.float32)[rng.randint(0, GCN_CLASSES, GCN_NODES)]
    mask = np.zeros(GCN_NODES, np.float32)
    mask[:GCN_LABELED] = GCN_NODES / GCN_LABELED
    parameters = {
        "w0": _spread(rng, (GCN_WORDS, GCN_HIDDEN)),
        "w1": _spread(rng, (GCN_HIDDEN, GCN_CLASSES)),
    }
    batch: Batch = (places, values, links, scale.astype(np.float32), labels, mask)
    return CaseData(parameters, [batch])


def vae() -> CaseData:
    rng = np.random.RandomState(21)
    parameters = _dense(rng, "encode_%s%d", (784, VAE_HIDDEN, VAE_HIDDEN, 2 * VAE_LATENT))
    # Mean and logarithm of the variance have weights of their own.
    for name in ("w", "b"):
        both = parameters.pop(f"encode_{name}2")
        parameters["mean_" + name], parameters["spread_" + name] = (
            np.ascontiguousarray(part) for part in np.split(both, 2, -1)
        )
    parameters.update(_dense(rng, "decode_%s%d", (VAE_LATENT, VAE_HIDDEN, VAE_HIDDEN, 784)))
    return CaseData(parameters, [digits(rng, VAE_BATCH, (784,))[:1] for _ in range(8)])


def dropout() -> CaseData:
    rng = np.random.RandomState(22)
    parameters = _dense(rng, "%s%d", (784, 625, 625, 10))
    return CaseData(parameters, [digits(rng, DROPOUT_BATCH, (784,)) for _ in range(8)])


def gan() -> CaseData:
    """Batches of images, of noise for the discriminator's step and for the generator's."""
    rng = np.random.RandomState(23)
    parameters = _dense(rng, "d_%s%d", (784, GAN_HIDDEN, 1))
    parameters.update(_dense(rng, "g_%s%d", (GAN_NOISE, GAN_HIDDEN, 784)))
    batches: list[Batch] = []
    for _ in range(8):
        images = digits(rng, GAN_BATCH, (784,))[0]
        noise = [uniform(rng, (GAN_BATCH, GAN_NOISE), 1.0) for _ in range(2)]
        batches.append((images, noise[0], noise[1]))
    return CaseData(parameters, batches)


def dqn() -> CaseData:
    """Batches of frames, actions, rewards, whether an episode goes on, next frames.

    Parameters whose names begin with "target_" are not trained.
    """
    rng = np.random.RandomState(24)
    trained: Parameters = {}
    channels = 4
    for name, size, filters, _ in DQN_CONVOLUTIONS:
        trained[name + "_w"] = weight(rng, (size, size, channels, filters))
        trained[name + "_b"] = bias(filters)
        channels = filters
    sizes = (int(np.prod(DQN_FEATURES)), 512, DQN_ACTIONS)
    for index, name in enumerate(("dense", "out")):
        trained[name + "_w"] = weight(rng, sizes[index : index + 2])
        trained[name + "_b"] = bias(sizes[index + 1])
    parameters = dict(trained)
    parameters.update({"target_" + name: value for name, value in trained.items()})
    batches: list[Batch] = []
    for _ in range(4):
        frames, later = (
            rng.randint(0, 256, (DQN_BATCH, 84, 84, 4)).astype(np.uint8) for _ in range(2)
        )
        actions = rng.randint(0, DQN_ACTIONS, DQN_BATCH).astype(np.int32)
        rewards = rng.randint(-1, 2, DQN_BATCH).astype(np.float32)
        goes_on = (rng.random_sample(DQN_BATCH) < 0.95).astype(np.float32)
        batches.append((frames, actions, rewards, goes_on, later))
    return CaseData(parameters, batches)


def _ids(rng: np.random.RandomState, count: int, table: int) -> np.ndarray:
    """Ids of which few are frequent, as those of words and users are."""
    drawn = np.exp(rng.random_sample((WIDE_BATCH, count)) * math.log(table)) - 1.0
    return drawn.astype(np.int32)


def wide_deep() -> CaseData:
    """Batches of ids of the wide part, of the deep part, numbers, and labels."""
    rng = np.random.RandomState(25)
    parameters = {
        "wide": np.zeros((WIDE_TABLE, 1), np.float32),
        "wide_b": np.zeros(1, np.float32),
        "table": uniform(rng, (DEEP_TABLE, DEEP_UNITS), 0.25),
    }
    parameters.update(_dense(rng, "%s%d", (DEEP_IDS * DEEP_UNITS + DEEP_NUMBERS, *DEEP_LAYERS)))
    batches: list[Batch] = []
    for _ in range(8):
        labels = rng.randint(0, 2, (WIDE_BATCH, 1)).astype(np.float32)
        numbers = uniform(rng, (WIDE_BATCH, DEEP_NUMBERS), 1.0)
        wide, deep = _ids(rng, WIDE_IDS, WIDE_TABLE), _ids(rng, DEEP_IDS, DEEP_TABLE)
        batches.append((wide, deep, numbers, labels))
    return CaseData(parameters, batches)


# -- deep networks: convolutions, attention

RESNET50_BATCH, RESNET50_CLASSES = 8, 1000
# Blocks and filters of each stage; a block ends in four times as many.
RESNET50_STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))
RESNET20_BATCH, RESNET20_BLOCKS, RESNET20_FILTERS = 32, 3, (16, 32, 64)
RESNET20_RATE, RESNET20_MOMENTUM, RESNET20_DECAY = 0.01, 0.9, 1e-4
NORM_EPSILON, NORM_KEPT = 1e-5, 0.9

ENCODER_LAYERS, ENCODER_WIDTH, ENCODER_HEADS, ENCODER_INNER = 4, 256, 4, 1024
ENCODER_BATCH, ENCODER_WORDS, ENCODER_VOCABULARY, ENCODER_RATE = 8, 128, 2000, 1e-4
LAYER_EPSILON = 1e-6

SEQ2SEQ_UNITS, SEQ2SEQ_WORDS, SEQ2SEQ_BATCH = 128, 20, 32
SEQ2SEQ_VOCABULARY, SEQ2SEQ_RATE = 5000, 1e-3


def _normed(found: Parameters, rng: np.random.RandomState, name: str, shape: Any) -> None:
    """Adds a convolution without a bias and the batch normalization behind it."""
    found[name + "_w"] = weight(rng, shape)
    found[name + "_scale"] = np.ones(shape[-1], np.float32)
    found[name + "_offset"] = np.zeros(shape[-1], np.float32)
    found[name + "_mean"] = np.zeros(shape[-1], np.float32)
    found[name + "_var"] = np.ones(shape[-1], np.float32)


def resnet50_blocks() -> list[tuple[str, int, int, int, bool]]:
    """Name, channels in, filters, stride, and whether the shortcut is a convolution."""
    blocks, channels = [], 64
    for stage, (count, filters) in enumerate(RESNET50_STAGES):
        for block in range(count):
            stride = 2 if stage and not block else 1
            blocks.append((f"s{stage}_{block}", channels, filters, stride, not block))
            channels = 4 * filters
    return blocks


def resnet50() -> CaseData:
    rng = np.random.RandomState(26)
    parameters: Parameters = {}
    _normed(parameters, rng, "stem", (7, 7, 3, 64))
    for name, channels, filters, _, projected in resnet50_blocks():
        _normed(parameters, rng, name + "_a", (1, 1, channels, filters))
        _normed(parameters, rng, name + "_b", (3, 3, filters, filters))
        _normed(parameters, rng, name + "_c", (1, 1, filters, 4 * filters))
        parameters[name + "_c_scale"] *= np.float32(0.2)  # activations stay at their scale
        if projected:
            _normed(parameters, rng, name + "_p", (1, 1, channels, 4 * filters))
    parameters["out_w"] = _spread(rng, (2048, RESNET50_CLASSES))
    parameters["out_b"] = np.zeros(RESNET50_CLASSES, np.float32)
    shape = (RESNET50_BATCH, 224, 224, 3)
    return CaseData(parameters, [(uniform(rng, shape, 1.0),) for _ in range(2)])


def resnet20_blocks() -> list[tuple[str, int, int, int]]:
    """Name, channels in, filters, stride."""
    blocks, channels = [], RESNET20_FILTERS[0]
    for stage, filters in enumerate(RESNET20_FILTERS):
        for block in range(RESNET20_BLOCKS):
            stride = 2 if stage and not block else 1
            blocks.append((f"s{stage}_{block}", channels, filters, stride))
            channels = filters
    return blocks


def resnet20() -> CaseData:
    rng = np.random.RandomState(27)
    parameters: Parameters = {}
    _normed(parameters, rng, "stem", (3, 3, 3, RESNET20_FILTERS[0]))
    for name, channels, filters, _ in resnet20_blocks():
        _normed(parameters, rng, name + "_a", (3, 3, channels, filters))
        _normed(parameters, rng, name + "_b", (3, 3, filters, filters))
    parameters["out_w"] = _spread(rng, (RESNET20_FILTERS[-1], 10))
    parameters["out_b"] = np.zeros(10, np.float32)
    batches: list[Batch] = []
    for _ in range(4):
        images = uniform(rng, (RESNET20_BATCH, 32, 32, 3), 1.0)
        batches.append((images, rng.randint(0, 10, RESNET20_BATCH).astype(np.int32)))
    return CaseData(parameters, batches)


def encoder() -> CaseData:
    """Batches of words and of the words to predict."""
    rng = np.random.RandomState(28)
    width, inner = ENCODER_WIDTH, ENCODER_INNER
    parameters = {
        "words": uniform(rng, (ENCODER_VOCABULARY, width), 0.05),
        "places": uniform(rng, (ENCODER_WORDS, width), 0.05),
    }
    shapes: dict[str, tuple[int, int]] = dict.fromkeys("qkvo", (width, width))
    shapes.update(inner=(width, inner), outer=(inner, width))
    for layer in range(ENCODER_LAYERS):
        for name, shape in shapes.items():
            parameters[f"{name}{layer}_w"] = _spread(rng, shape)
            parameters[f"{name}{layer}_b"] = np.zeros(shape[1], np.float32)
        for name in ("attended", "passed"):
            parameters[f"{name}{layer}_scale"] = np.ones(width, np.float32)
            parameters[f"{name}{layer}_offset"] = np.zeros(width, np.float32)
    parameters["out_w"] = _spread(rng, (width, ENCODER_VOCABULARY))
    parameters["out_b"] = np.zeros(ENCODER_VOCABULARY, np.float32)
    shape = (ENCODER_BATCH, ENCODER_WORDS)
    return CaseData(parameters, _word_batches(rng, shape, ENCODER_VOCABULARY, 2))


def _word_batches(
    rng: np.random.RandomState, shape: tuple[int, int], vocabulary: int, arrays: int
) -> list[Batch]:
    return [
        tuple(rng.randint(0, vocabulary, shape).astype(np.int32) for _ in range(arrays))
        for _ in range(4)
    ]


def seq2seq() -> CaseData:
    """Batches of source words, the decoder's inputs and its targets."""
    rng = np.random.RandomState(29)
    units, vocabulary = SEQ2SEQ_UNITS, SEQ2SEQ_VOCABULARY
    parameters = {
        "source": uniform(rng, (vocabulary, units), 0.1),
        "target": uniform(rng, (vocabulary, units), 0.1),
        "encode_w": uniform(rng, (2 * units, 4 * units), 0.1),
        "encode_b": np.zeros(4 * units, np.float32),
        # The decoder's cell sees the word, the attention before and its state.
        "decode_w": uniform(rng, (3 * units, 4 * units), 0.1),
        "decode_b": np.zeros(4 * units, np.float32),
        "memory_w": _spread(rng, (units, units)),
        "attend_w": _spread(rng, (2 * units, units)),
        "out_w": uniform(rng, (units, vocabulary), 0.1),
        "out_b": np.zeros(vocabulary, np.float32),
    }
    shape = (SEQ2SEQ_BATCH, SEQ2SEQ_WORDS)
    return CaseData(parameters, _word_batches(rng, shape, vocabulary, 3))
