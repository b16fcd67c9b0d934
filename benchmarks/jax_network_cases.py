"""The networks of ``network_cases.py`` in JAX: each step one compiled function.

Sparse matrices are gathers and sums by row. Tables are updated in the rows that a batch looked up.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks import network_data
from benchmarks.jax_cases import (
    IMAGE_LAYOUT,
    adam,
    adam_program,
    adam_slots,
    cross_entropy,
    device,
    program,
)
from benchmarks.program import Program


def drawing_adam_program(
    loss_of: Callable[..., Any], parameters: Any, batches: List[Any], rate: float
) -> Program:
    """``adam_program`` of a loss that draws: its first argument is the key of the step."""

    @functools.partial(jax.jit, donate_argnums=0)
    def train(carried: Any, *batch: Any) -> Any:
        parameters, slots, key = carried
        key, drawn = jax.random.split(key)
        loss, gradients = jax.value_and_grad(loss_of, argnums=1)(drawn, parameters, *batch)
        return loss, (*adam(parameters, gradients, slots, rate), key)

    start = device(parameters)
    return program(train, (start, adam_slots(start), jax.random.key(7)), batches)


def _dropped(key: Any, x: Any, kept: float) -> Any:
    return jnp.where(jax.random.bernoulli(key, kept, x.shape), x / kept, 0.0)


def gcn() -> Program:
    parameters, batches = network_data.gcn()
    kept = network_data.GCN_KEPT

    def product(places: Any, values: Any, x: Any) -> Any:
        rows = x[places[:, 1]] * values[:, None]
        count = network_data.GCN_NODES
        return jax.ops.segment_sum(rows, places[:, 0], count, indices_are_sorted=True)

    def loss_of(
        key: Any, v: Any, places: Any, values: Any, links: Any, scales: Any, labels: Any, mask: Any
    ) -> Any:
        first, second = jax.random.split(key)
        values = _dropped(first, values, kept)
        hidden = jax.nn.relu(product(links, scales, product(places, values, v["w0"])))
        logits = product(links, scales, _dropped(second, hidden, kept) @ v["w1"])
        entropies = -jnp.sum(labels * jax.nn.log_softmax(logits), axis=1)
        decay = network_data.GCN_DECAY * 0.5 * jnp.sum(jnp.square(v["w0"]))
        return jnp.mean(entropies * mask) + decay

    places, values, links, *others = batches[0]
    batch = (places.astype(np.int32), values, links.astype(np.int32), *others)
    return drawing_adam_program(loss_of, parameters, [batch], network_data.GCN_RATE)


def vae() -> Program:
    parameters, batches = network_data.vae()

    def loss_of(key: Any, v: Any, x: Any) -> Any:
        def layer(x: Any, name: str) -> Any:
            return x @ v[name % "w"] + v[name % "b"]

        hidden = jax.nn.softplus(layer(x, "encode_%s0"))
        hidden = jax.nn.softplus(layer(hidden, "encode_%s1"))
        mean, log_variance = layer(hidden, "mean_%s"), layer(hidden, "spread_%s")
        sample = mean + jnp.exp(0.5 * log_variance) * jax.random.normal(key, mean.shape)
        hidden = jax.nn.softplus(layer(sample, "decode_%s0"))
        hidden = jax.nn.softplus(layer(hidden, "decode_%s1"))
        seen = jax.nn.sigmoid(layer(hidden, "decode_%s2"))
        likelihood = x * jnp.log(1e-10 + seen) + (1 - x) * jnp.log(1e-10 + 1 - seen)
        divergence = 1 + log_variance - jnp.square(mean) - jnp.exp(log_variance)
        return jnp.mean(-0.5 * jnp.sum(divergence, 1) - jnp.sum(likelihood, 1))

    return drawing_adam_program(loss_of, parameters, batches, network_data.VAE_RATE)


def dropout() -> Program:
    parameters, batches = network_data.dropout()
    kept = network_data.DROPOUT_KEPT

    def loss_of(key: Any, v: Any, images: Any, labels: Any) -> Any:
        keys = jax.random.split(key, 3)
        hidden = _dropped(keys[0], images, kept)
        for index in range(2):
            hidden = jax.nn.relu(hidden @ v["w%d" % index] + v["b%d" % index])
            hidden = _dropped(keys[index + 1], hidden, kept)
        return cross_entropy(hidden @ v["w2"] + v["b2"], labels)

    return drawing_adam_program(loss_of, parameters, batches, network_data.DROPOUT_RATE)


def gan() -> Program:
    """Both steps are one compiled function."""
    parameters, batches = network_data.gan()

    def made(makers: Any, noise: Any) -> Any:
        hidden = jax.nn.relu(noise @ makers["g_w0"] + makers["g_b0"])
        return jax.nn.sigmoid(hidden @ makers["g_w1"] + makers["g_b1"])

    def judged(judges: Any, x: Any) -> Any:
        return jax.nn.relu(x @ judges["d_w0"] + judges["d_b0"]) @ judges["d_w1"] + judges["d_b1"]

    def d_loss(judges: Any, images: Any, fake: Any) -> Any:
        real = jnp.mean(jax.nn.softplus(-judged(judges, images)))
        return real + jnp.mean(jax.nn.softplus(judged(judges, fake)))

    def g_loss(makers: Any, judges: Any, noise: Any) -> Any:
        return jnp.mean(jax.nn.softplus(-judged(judges, made(makers, noise))))

    @functools.partial(jax.jit, donate_argnums=0)
    def train(carried: Any, images: Any, first: Any, second: Any) -> Any:
        judges, d_slots, makers, g_slots = carried
        rate = network_data.GAN_RATE
        d_value, change = jax.value_and_grad(d_loss)(judges, images, made(makers, first))
        judges, d_slots = adam(judges, change, d_slots, rate)
        g_value, change = jax.value_and_grad(g_loss)(makers, judges, second)
        makers, g_slots = adam(makers, change, g_slots, rate)
        return d_value + g_value, (judges, d_slots, makers, g_slots)

    start = device(parameters)
    parts = [
        {name: value for name, value in start.items() if name.startswith(prefix)}
        for prefix in ("d_", "g_")
    ]
    carried = (parts[0], adam_slots(parts[0]), parts[1], adam_slots(parts[1]))
    return program(train, carried, batches)


def dqn() -> Program:
    parameters, batches = network_data.dqn()
    target = device({name: each for name, each in parameters.items() if name[:7] == "target_"})
    trained = {name: value for name, value in parameters.items() if name[:7] != "target_"}

    def values_of(v: Any, frames: Any, prefix: str) -> Any:
        hidden = frames.astype(jnp.float32) / 255.0
        for name, _, _, stride in network_data.DQN_CONVOLUTIONS:
            hidden = lax.conv_general_dilated(
                hidden,
                v[prefix + name + "_w"],
                (stride, stride),
                "VALID",
                dimension_numbers=IMAGE_LAYOUT,
            )
            hidden = jax.nn.relu(hidden + v[prefix + name + "_b"])
        hidden = hidden.reshape(hidden.shape[0], -1)
        hidden = jax.nn.relu(hidden @ v[prefix + "dense_w"] + v[prefix + "dense_b"])
        return hidden @ v[prefix + "out_w"] + v[prefix + "out_b"]

    def loss_of(v: Any, frames: Any, actions: Any, rewards: Any, goes_on: Any, later: Any) -> Any:
        best = jnp.max(values_of(target, later, "target_"), 1)
        wanted = rewards + network_data.DQN_DISCOUNT * goes_on * best
        values = values_of(v, frames, "")
        taken = jnp.take_along_axis(values, actions[:, None], 1)[:, 0]
        error = jnp.abs(wanted - taken)
        return jnp.mean(jnp.where(error < 1.0, 0.5 * jnp.square(error), error - 0.5))

    return adam_program(loss_of, trained, batches, network_data.DQN_RATE)


def _summed(ids: Any, gradient: Any, rows: int) -> Any:
    """The rows that occur (behind them ``rows``, which is none), and the sum of each."""
    once, places = jnp.unique(ids, return_inverse=True, size=ids.size, fill_value=rows)
    return once, jax.ops.segment_sum(gradient, places.reshape(-1), ids.size)


def _adagrad(w: Any, sums: Any, gradient: Any) -> Any:
    sums = sums + jnp.square(gradient)
    return w - network_data.DEEP_RATE * gradient / jnp.sqrt(sums), sums


def _ftrl(w: Any, sums: Any, linear: Any, gradient: Any) -> Any:
    squares = sums + jnp.square(gradient)
    sigma = (jnp.sqrt(squares) - jnp.sqrt(sums)) / network_data.WIDE_RATE
    linear = linear + gradient - sigma * w
    return -linear * network_data.WIDE_RATE / jnp.sqrt(squares), squares, linear


def wide_deep() -> Program:
    parameters, batches = network_data.wide_deep()
    start = device(parameters)
    layers = len(network_data.DEEP_LAYERS)

    def loss_of(picked: Any, bias: Any, rows: Any, v: Any, numbers: Any, labels: Any) -> Any:
        hidden = jnp.concatenate([rows.reshape(network_data.WIDE_BATCH, -1), numbers], 1)
        for index in range(layers):
            hidden = hidden @ v["w%d" % index] + v["b%d" % index]
            hidden = jax.nn.relu(hidden) if index + 1 < layers else hidden
        logits = hidden + jnp.sum(picked.reshape(network_data.WIDE_BATCH, -1), 1)[:, None] + bias
        return jnp.mean(jax.nn.softplus(logits) - labels * logits)

    def on_rows(update: Callable[..., Any], arrays: Any, ids: Any, gradient: Any) -> Any:
        once, summed = _summed(ids, gradient, arrays[0].shape[0])
        found = [array.at[once].get(mode="clip") for array in arrays]
        changed = update(*found, summed)
        return [a.at[once].set(c, mode="drop") for a, c in zip(arrays, changed)]

    @functools.partial(jax.jit, donate_argnums=0)
    def train(carried: Any, wide_ids: Any, deep_ids: Any, numbers: Any, labels: Any) -> Any:
        wide, wide_b, table, v, sums = carried
        wide_ids, deep_ids = wide_ids.reshape(-1), deep_ids.reshape(-1)
        leaves = (wide[0][wide_ids], wide_b[0], table[0][deep_ids], v)
        loss, gradients = jax.value_and_grad(loss_of, argnums=(0, 1, 2, 3))(
            *leaves, numbers, labels
        )
        wide = on_rows(_ftrl, wide, wide_ids, gradients[0])
        wide_b = list(_ftrl(*wide_b, gradients[1]))
        table = on_rows(_adagrad, table, deep_ids, gradients[2])
        both = {name: _adagrad(v[name], sums[name], gradients[3][name]) for name in v}
        v, sums = ({name: pair[place] for name, pair in both.items()} for place in (0, 1))
        return loss, (wide, wide_b, table, v, sums)

    def filled(value: Any) -> Any:
        return jnp.full_like(value, network_data.ACCUMULATED)

    wide, wide_b, table = (start.pop(name) for name in ("wide", "wide_b", "table"))
    carried = (
        [wide, filled(wide), jnp.zeros_like(wide)],
        [wide_b, filled(wide_b), jnp.zeros_like(wide_b)],
        [table, filled(table)],
        start,
        jax.tree.map(filled, start),
    )
    return program(train, carried, batches)


CASES: Dict[str, Callable[[], Program]] = {
    case.__name__: case for case in (gcn, vae, dropout, gan, dqn, wide_deep)
}
