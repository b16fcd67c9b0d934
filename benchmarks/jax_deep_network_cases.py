"""The networks of ``deep_network_cases.py`` in JAX: each step one compiled function."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks import data, network_data
from benchmarks.jax_cases import (
    IMAGE_LAYOUT,
    adam_program,
    device,
    program,
    sparse_entropies,
)
from benchmarks.program import Program


def _convolved(x: Any, w: Any, stride: int) -> Any:
    margin = [(w.shape[0] // 2,) * 2] * 2
    return lax.conv_general_dilated(x, w, (stride,) * 2, margin, dimension_numbers=IMAGE_LAYOUT)


def _scaled(x: Any, mean: Any, var: Any, scale: Any, offset: Any, epsilon: float) -> Any:
    return (x - mean) * (lax.rsqrt(var + epsilon) * scale) + offset


def resnet50() -> Program:
    parameters, batches = network_data.resnet50()
    start, cycle = device(parameters), data.Cycle(batches)

    @jax.jit
    def logits(v: Any, x: Any) -> Any:
        def normed(x: Any, name: str, stride: int) -> Any:
            moments = (v["%s_%s" % (name, each)] for each in ("mean", "var", "scale", "offset"))
            x = _convolved(x, v[name + "_w"], stride)
            return _scaled(x, *moments, network_data.NORM_EPSILON)

        x = jax.nn.relu(normed(x, "stem", 2))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        for name, _, _, stride, projected in network_data.resnet50_blocks():
            shortcut = normed(x, name + "_p", stride) if projected else x
            x = jax.nn.relu(normed(x, name + "_a", 1))
            x = jax.nn.relu(normed(x, name + "_b", stride))
            x = jax.nn.relu(normed(x, name + "_c", 1) + shortcut)
        return jnp.mean(x, (1, 2)) @ v["out_w"] + v["out_b"]

    def step() -> np.ndarray:
        return np.asarray(logits(start, cycle()[0]))

    return Program(step)


def _resnet20_loss(v: Any, moving: Any, images: Any, labels: Any) -> Any:
    """The loss, and the moving averages after it."""
    averages: Dict[str, Any] = {}

    def normed(x: Any, name: str, stride: int) -> Any:
        x = _convolved(x, v[name + "_w"], stride)
        mean, var = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
        count = x.size // x.shape[3]
        seen = {"_mean": mean, "_var": var * (count / (count - 1.0))}
        for kind, value in seen.items():
            old = moving[name + kind]
            averages[name + kind] = old - (old - value) * (1.0 - network_data.NORM_KEPT)
        scale, offset = v[name + "_scale"], v[name + "_offset"]
        return _scaled(x, mean, var, scale, offset, network_data.NORM_EPSILON)

    x = jax.nn.relu(normed(images, "stem", 1))
    for name, channels, filters, stride in network_data.resnet20_blocks():
        shortcut = x
        if stride > 1:
            more = (filters - channels) // 2
            shortcut = jnp.pad(x[:, ::2, ::2], ((0, 0), (0, 0), (0, 0), (more, more)))
        x = jax.nn.relu(normed(x, name + "_a", stride))
        x = jax.nn.relu(normed(x, name + "_b", 1) + shortcut)
    logits = jnp.mean(x, (1, 2)) @ v["out_w"] + v["out_b"]
    return jnp.mean(sparse_entropies(logits, labels)), averages


def resnet20() -> Program:
    parameters, batches = network_data.resnet20()
    rate, momentum = network_data.RESNET20_RATE, network_data.RESNET20_MOMENTUM

    @functools.partial(jax.jit, donate_argnums=0)
    def train(carried: Any, images: Any, labels: Any) -> Any:
        v, moving, speed = carried
        graded = jax.value_and_grad(_resnet20_loss, has_aux=True)
        (loss, moving), gradients = graded(v, moving, images, labels)
        decay = network_data.RESNET20_DECAY
        speed = jax.tree.map(lambda s, g, w: momentum * s + g + decay * w, speed, gradients, v)
        return loss, (jax.tree.map(lambda w, s: w - rate * s, v, speed), moving, speed)

    start = device(parameters)
    moving = {name: start.pop(name) for name in list(start) if name.endswith(("_mean", "_var"))}
    return program(train, (start, moving, jax.tree.map(jnp.zeros_like, start)), batches)


def encoder() -> Program:
    parameters, batches = network_data.encoder()
    width, heads = network_data.ENCODER_WIDTH, network_data.ENCODER_HEADS

    def loss_of(v: Any, words: Any, targets: Any) -> Any:
        def dense(x: Any, name: str) -> Any:
            return x @ v[name + "_w"] + v[name + "_b"]

        def normed(x: Any, name: str) -> Any:
            mean, var = jnp.mean(x, 1, keepdims=True), jnp.var(x, 1, keepdims=True)
            scale, offset = v[name + "_scale"], v[name + "_offset"]
            return _scaled(x, mean, var, scale, offset, network_data.LAYER_EPSILON)

        x = (v["words"][words] * width**0.5 + v["places"]).reshape(-1, width)
        shape = (*words.shape, heads, width // heads)
        for layer in range(network_data.ENCODER_LAYERS):
            q, k, values = (dense(x, "%s%d" % (name, layer)).reshape(shape) for name in "qkv")
            mixed = jax.nn.dot_product_attention(q, k, values).reshape(-1, width)
            x = normed(x + dense(mixed, "o%d" % layer), "attended%d" % layer)
            inner = jax.nn.relu(dense(x, "inner%d" % layer))
            x = normed(x + dense(inner, "outer%d" % layer), "passed%d" % layer)
        return jnp.mean(sparse_entropies(dense(x, "out"), targets.reshape(-1)))

    return adam_program(loss_of, parameters, batches, network_data.ENCODER_RATE)


def _lstm(x: Any, cell: Any, hidden: Any, w: Any, b: Any) -> Any:
    i, j, f, o = jnp.split(jnp.concatenate([x, hidden], 1) @ w + b, 4, axis=1)
    cell = jax.nn.sigmoid(f + 1.0) * cell + jax.nn.sigmoid(i) * jnp.tanh(j)
    return cell, jax.nn.sigmoid(o) * jnp.tanh(cell)


def seq2seq() -> Program:
    """Both recurrences are scans."""
    parameters, batches = network_data.seq2seq()
    zeros = np.zeros((network_data.SEQ2SEQ_BATCH, network_data.SEQ2SEQ_UNITS), np.float32)

    def loss_of(v: Any, source: Any, inputs: Any, targets: Any) -> Any:
        def encode(state: Any, word: Any) -> Any:
            cell, hidden = _lstm(word, *state, v["encode_w"], v["encode_b"])
            return (cell, hidden), hidden

        (cell, hidden), outputs = lax.scan(encode, (zeros, zeros), v["source"][source.T])
        encoded = jnp.swapaxes(outputs, 0, 1)
        keys = encoded @ v["memory_w"]

        def decode(state: Any, word: Any) -> Any:
            cell, hidden, attention = state
            joined = jnp.concatenate([word, attention], 1)
            cell, hidden = _lstm(joined, cell, hidden, v["decode_w"], v["decode_b"])
            weights = jax.nn.softmax(jnp.einsum("btu,bu->bt", keys, hidden))
            context = jnp.einsum("bt,btu->bu", weights, encoded)
            attention = jnp.tanh(jnp.concatenate([hidden, context], 1) @ v["attend_w"])
            return (cell, hidden, attention), attention

        _, attended = lax.scan(decode, (cell, hidden, zeros), v["target"][inputs.T])
        logits = attended.reshape(-1, attended.shape[2]) @ v["out_w"] + v["out_b"]
        total = jnp.sum(sparse_entropies(logits, targets.T.reshape(-1)))
        return total / network_data.SEQ2SEQ_BATCH

    return adam_program(loss_of, parameters, batches, network_data.SEQ2SEQ_RATE)


CASES: Dict[str, Callable[[], Program]] = {
    case.__name__: case for case in (resnet50, resnet20, encoder, seq2seq)
}
