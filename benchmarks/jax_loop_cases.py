"""Loops in JAX: ``lax.scan``, with masks for ragged lengths, and ``lax.while_loop``."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict

import jax
import jax.numpy as jnp
from jax import lax

from benchmarks import data
from benchmarks.program import Program


def _last_state(v: Any, rows: Any, lengths: Any) -> Any:
    """The output of an LSTM at the end of each sequence; rows is [batch, time, units]."""
    # The inputs' part of all products at once, before the loop.
    inputs = rows.transpose(1, 0, 2) @ v["w"][: data.RNN_UNITS] + v["b"]

    def advance(state: Any, at: Any) -> Any:
        time, given = at
        cell, hidden = state
        i, j, f, o = jnp.split(given + hidden @ v["w"][data.RNN_UNITS :], 4, axis=1)
        new_cell = jax.nn.sigmoid(f + 1.0) * cell + jax.nn.sigmoid(i) * jnp.tanh(j)
        new_hidden = jax.nn.sigmoid(o) * jnp.tanh(new_cell)
        goes_on = (time < lengths)[:, None]
        state = jnp.where(goes_on, new_cell, cell), jnp.where(goes_on, new_hidden, hidden)
        return state, None

    zeros = jnp.zeros((data.RNN_BATCH, data.RNN_UNITS), jnp.float32)
    (_, hidden), _ = lax.scan(advance, (zeros, zeros), (jnp.arange(data.RNN_STEPS), inputs))
    return hidden


def dynamic_rnn() -> Program:
    parameters, batches = data.dynamic_rnn()

    def loss_of(v: Any, rows: Any, lengths: Any, classes: Any) -> Any:
        logits = _last_state(v, rows, lengths) @ v["out_w"] + v["out_b"]
        picked = jnp.take_along_axis(logits, classes[:, None], axis=1)[:, 0]
        return jnp.mean(jax.nn.logsumexp(logits, axis=1) - picked)

    @functools.partial(jax.jit, donate_argnums=0)
    def train(carried: Any, words: Any, lengths: Any, classes: Any) -> Any:
        embedding, v = carried
        rows = embedding[words]
        loss, gradients = jax.value_and_grad(loss_of, argnums=(0, 1))(v, rows, lengths, classes)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
        rate = data.RNN_RATE * data.RNN_CLIP_NORM / jnp.maximum(norm, data.RNN_CLIP_NORM)
        dv, drows = gradients
        embedding = embedding.at[words].add(-rate * drows)
        return loss, (embedding, jax.tree.map(lambda p, g: p - rate * g, v, dv))

    start = {name: jnp.array(value) for name, value in parameters.items()}
    cycle = data.Cycle(batches)
    box = [(start.pop("embedding"), start)]

    def step() -> float:
        loss, box[0] = train(box[0], *cycle())
        return float(loss)

    return Program(step, box.clear)


def loop_empty() -> Program:
    @jax.jit
    def count(limit: Any) -> Any:
        return lax.while_loop(lambda i: i < limit, lambda i: i + 1, 0)

    return Program(lambda: int(count(data.EMPTY_ROUNDS)))


def loop_gradient() -> Program:
    parameters, batches = data.loop_gradient()
    weights = parameters["w"]
    cycle = data.Cycle(batches)

    def loss_of(w: Any, start: Any) -> Any:
        def advance(y: Any, _: Any) -> Any:
            return jnp.tanh(y @ w), None

        last, _ = lax.scan(advance, start, None, data.GRADIENT_ROUNDS)
        return jnp.sum(last * last)

    compute = jax.jit(jax.value_and_grad(loss_of, argnums=(0, 1)))

    def step() -> float:
        _, (gradient, _) = compute(weights, cycle()[0])
        return data.along(gradient, weights)

    return Program(step)


CASES: Dict[str, Callable[[], Program]] = {
    case.__name__: case for case in (dynamic_rnn, loop_empty, loop_gradient)
}
