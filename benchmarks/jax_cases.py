"""The cases in JAX: each step one ``jax.jit`` function, parameters and slots donated.

The optimizers are written out (JAX itself has none), with the formulas TensorFlow uses. NumPy
batches go straight into the compiled function; the loss comes out as a Python number.
"""

from __future__ import annotations

import functools
import random
from typing import Any, Callable, Dict, List

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks import data
from benchmarks.program import Program

IMAGE_LAYOUT = ("NHWC", "HWIO", "NHWC")


def device(parameters: data.Parameters) -> Dict[str, jax.Array]:
    """Arrays of the device."""
    return {name: jnp.array(value) for name, value in parameters.items()}


def adam_slots(parameters: Dict[str, jax.Array]) -> Any:
    """The count of steps and the moments, all zero."""
    zeros = [{name: jnp.zeros_like(value) for name, value in parameters.items()} for _ in range(2)]
    return jnp.zeros((), jnp.float32), zeros[0], zeros[1]


def adam(parameters: Any, gradients: Any, slots: Any, rate: float) -> Any:
    """The parameters and slots after a step of Adam."""
    count, first, second = slots
    count = count + 1.0
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, second, gradients)
    rate = rate * jnp.sqrt(1.0 - 0.999**count) / (1.0 - 0.9**count)
    parameters = jax.tree.map(
        lambda p, m, s: p - rate * m / (jnp.sqrt(s) + 1e-8), parameters, first, second
    )
    return parameters, (count, first, second)


def descend(parameters: Any, gradients: Any, rate: float) -> Any:
    """The parameters after a step down the gradients."""
    return jax.tree.map(lambda p, g: p - rate * g, parameters, gradients)


def sgd_program(
    loss_of: Callable[..., Any], parameters: Any, batches: List[Any], rate: float
) -> Program:
    """A step of gradient descent on the loss of the next batch."""

    @functools.partial(jax.jit, donate_argnums=0)
    def train(parameters: Any, *batch: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(parameters, *batch)
        return loss, descend(parameters, gradients, rate)

    return program(train, device(parameters), batches)


def adam_program(
    loss_of: Callable[..., Any], parameters: Any, batches: List[Any], rate: float
) -> Program:
    """A step of Adam on the loss of the next batch."""

    @functools.partial(jax.jit, donate_argnums=0)
    def train(carried: Any, *batch: Any) -> Any:
        parameters, slots = carried
        loss, gradients = jax.value_and_grad(loss_of)(parameters, *batch)
        return loss, adam(parameters, gradients, slots, rate)

    start = device(parameters)
    return program(train, (start, adam_slots(start)), batches)


def program(train: Callable[..., Any], carried: Any, batches: List[Any]) -> Program:
    """A step of ``train``, which gives the loss and what the next step takes."""
    cycle = data.Cycle(batches)
    box = [carried]

    def step() -> float:
        loss, box[0] = train(box[0], *cycle())
        return float(loss)

    return Program(step, box.clear)


def cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean cross entropy with given distributions."""
    return -jnp.mean(jnp.sum(labels * jax.nn.log_softmax(logits), axis=1))


def sparse_entropies(logits: Any, targets: Any) -> Any:
    """The cross entropies with given classes."""
    picked = jnp.take_along_axis(logits, targets[:, None], axis=1)[:, 0]
    return jax.nn.logsumexp(logits, axis=1) - picked


def null() -> Program:
    add = jax.jit(lambda x: x + 1.0)

    def step() -> float:
        return float(add(3.0))

    return Program(step)


def softmax() -> Program:
    parameters, batches = data.softmax()

    def loss_of(v: Any, images: Any, labels: Any) -> Any:
        return cross_entropy(images @ v["w"] + v["b"], labels)

    return sgd_program(loss_of, parameters, batches, 0.5)


def mlp() -> Program:
    parameters, batches = data.mlp()

    def loss_of(v: Any, images: Any, labels: Any) -> Any:
        hidden = jax.nn.relu(images @ v["w0"] + v["b0"])
        hidden = jax.nn.relu(hidden @ v["w1"] + v["b1"])
        return cross_entropy(hidden @ v["w2"] + v["b2"], labels)

    return adam_program(loss_of, parameters, batches, 1e-3)


def _convolution(x: Any, w: Any, b: Any, stride: int, padding: str) -> Any:
    y = lax.conv_general_dilated(x, w, (stride, stride), padding, dimension_numbers=IMAGE_LAYOUT)
    return jax.nn.relu(y + b)


def _max_pool(x: Any, size: int) -> Any:
    """Max pooling of stride 2 as the maximum of slices: on CPUs XLA runs it (and its gradient)
    about twice as fast as ``reduce_window``."""
    rows = 2 * ((x.shape[1] - size) // 2) + 1
    columns = 2 * ((x.shape[2] - size) // 2) + 1
    slices = [x[:, i : i + rows : 2, j : j + columns : 2] for i in range(size) for j in range(size)]
    return functools.reduce(jnp.maximum, slices)


def cnn() -> Program:
    parameters, batches = data.cnn()

    def loss_of(v: Any, images: Any, labels: Any) -> Any:
        hidden = images
        for name in ("conv1", "conv2"):
            hidden = _convolution(hidden, v[name + "_w"], v[name + "_b"], 1, "SAME")
            hidden = _max_pool(hidden, 2)
        hidden = hidden.reshape(hidden.shape[0], -1)
        hidden = jax.nn.relu(hidden @ v["dense_w"] + v["dense_b"])
        return cross_entropy(hidden @ v["out_w"] + v["out_b"], labels)

    return adam_program(loss_of, parameters, batches, 1e-4)


def word2vec() -> Program:
    parameters, batches = data.word2vec()
    log_not_drawn = jnp.array(data.log_not_drawn())
    draw = random.Random(7).random
    size = 128

    def loss_of(x: Any, w: Any, b: Any, log_counts: Any) -> Any:
        shift = b - log_counts
        true_logits = jnp.sum(x * w[:size], axis=1) + shift[:size]
        sampled_logits = x @ w[size:].T + shift[size:]
        total = jnp.sum(jax.nn.softplus(-true_logits)) + jnp.sum(jax.nn.softplus(sampled_logits))
        return total / size

    @functools.partial(jax.jit, donate_argnums=0)
    def train(v: Any, words: Any, labels: Any, candidates: Any, tries: Any) -> Any:
        classes = jnp.concatenate([labels, candidates])
        log_counts = jnp.log(-jnp.expm1(tries * log_not_drawn[classes]))
        x, w, b = v["embeddings"][words], v["nce_weights"][classes], v["nce_biases"][classes]
        loss, (dx, dw, db) = jax.value_and_grad(loss_of, argnums=(0, 1, 2))(x, w, b, log_counts)
        updated = {
            "embeddings": v["embeddings"].at[words].add(-dx),
            "nce_weights": v["nce_weights"].at[classes].add(-dw),
            "nce_biases": v["nce_biases"].at[classes].add(-db),
        }
        return loss, updated

    cycle = data.Cycle([(words, labels.ravel()) for words, labels in batches])
    box = [device(parameters)]

    def step() -> float:
        candidates, tries = data.log_uniform_unique(
            draw, data.WORD2VEC_VOCABULARY, data.WORD2VEC_SAMPLED
        )
        drawn = np.array(candidates, np.int32)
        loss, box[0] = train(box[0], *cycle(), drawn, np.float32(tries))
        return float(loss)

    return Program(step, box.clear)


def lstm() -> Program:
    parameters, batches = data.lstm()

    def loss_of(v: Any, rows: Any, targets: Any, state: Any) -> Any:
        sequence = [rows[:, time] for time in range(data.LSTM_STEPS)]
        for layer in range(data.LSTM_LAYERS):
            cell, hidden = state[2 * layer], state[2 * layer + 1]
            outputs = []
            for x in sequence:
                gates = jnp.concatenate([x, hidden], 1) @ v["w%d" % layer] + v["b%d" % layer]
                i, j, f, o = jnp.split(gates, 4, axis=1)
                cell = jax.nn.sigmoid(f + 1.0) * cell + jax.nn.sigmoid(i) * jnp.tanh(j)
                hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
                outputs.append(hidden)
            sequence = outputs
        flat = jnp.stack(sequence, axis=1).reshape(-1, data.LSTM_UNITS)
        logits = flat @ v["out_w"] + v["out_b"]
        return jnp.sum(sparse_entropies(logits, targets.reshape(-1))) / data.LSTM_BATCH

    @functools.partial(jax.jit, donate_argnums=0)
    def train(carried: Any, words: Any, targets: Any, state: Any) -> Any:
        embedding, v = carried
        rows = embedding[words]
        loss, gradients = jax.value_and_grad(loss_of, argnums=(0, 1))(v, rows, targets, state)
        squares = [jnp.sum(g * g) for g in jax.tree.leaves(gradients)]
        norm = jnp.sqrt(sum(squares))
        scale = data.LSTM_CLIP_NORM / jnp.maximum(norm, data.LSTM_CLIP_NORM)
        dv, drows = gradients
        embedding = embedding.at[words].add(-scale * drows)
        return loss, (embedding, jax.tree.map(lambda p, g: p - scale * g, v, dv))

    start = device(parameters)
    return program(train, (start.pop("embedding"), start), batches)


def _alexnet_logits(v: Any, images: Any) -> Any:
    hidden = images
    for name, _, _, stride, padding, pool in data.ALEXNET_CONVOLUTIONS:
        hidden = _convolution(hidden, v[name + "_w"], v[name + "_b"], stride, padding)
        if pool:
            hidden = _max_pool(hidden, 3)
    hidden = hidden.reshape(hidden.shape[0], -1)
    for name, _ in data.ALEXNET_DENSE:
        hidden = hidden @ v[name + "_w"] + v[name + "_b"]
        if name != data.ALEXNET_DENSE[-1][0]:
            hidden = jax.nn.relu(hidden)
    return hidden


def alexnet_forward() -> Program:
    parameters, batches = data.alexnet()
    v = device(parameters)
    logits = jax.jit(_alexnet_logits)
    cycle = data.Cycle(batches)

    def step() -> np.ndarray:
        return np.asarray(logits(v, cycle()[0]))

    return Program(step)


def alexnet_training() -> Program:
    parameters, batches = data.alexnet()

    def loss_of(v: Any, images: Any, labels: Any) -> Any:
        return jnp.mean(sparse_entropies(_alexnet_logits(v, images), labels))

    return sgd_program(loss_of, parameters, batches, 0.001)


CASES: Dict[str, Callable[[], Program]] = {
    case.__name__: case
    for case in (
        null,
        softmax,
        mlp,
        cnn,
        word2vec,
        lstm,
        alexnet_forward,
        alexnet_training,
    )
}
