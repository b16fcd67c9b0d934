"""The steps of ``scaling_cases.py`` in JAX."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict

import jax
import jax.numpy as jnp

from benchmarks import data, scaling_data
from benchmarks.jax_cases import cross_entropy, device, program, sgd_program
from benchmarks.program import Program


def _nodes(size: int) -> Program:
    @jax.jit
    def chain(y: Any) -> Any:
        for _ in range(size // 2):
            y = jnp.tanh(y + scaling_data.NODE_SHIFT)
        return jnp.sum(y)

    cycle = data.Cycle(scaling_data.nodes())
    return Program(lambda: float(chain(*cycle())))


def _vocabulary(size: int) -> Program:
    parameters, batches = scaling_data.table(size)

    def loss_of(rows: Any) -> Any:
        return jnp.sum(jnp.square(rows))

    @functools.partial(jax.jit, donate_argnums=0)
    def train(table: Any, ids: Any) -> Any:
        loss, gradient = jax.value_and_grad(loss_of)(table[ids])
        return loss, table.at[ids].add(-scaling_data.TABLE_RATE * gradient)

    return program(train, device(parameters)["table"], batches)


def _network(width: int, batch: int) -> Program:
    parameters, batches = scaling_data.mlp(width, batch)

    def loss_of(v: Any, images: Any, labels: Any) -> Any:
        hidden = jax.nn.relu(images @ v["w0"] + v["b0"])
        hidden = jax.nn.relu(hidden @ v["w1"] + v["b1"])
        return cross_entropy(hidden @ v["w2"] + v["b2"], labels)

    return sgd_program(loss_of, parameters, batches, scaling_data.MLP_RATE)


def _width(size: int) -> Program:
    return _network(size, scaling_data.MLP_BATCH)


def _batch(size: int) -> Program:
    return _network(scaling_data.MLP_WIDTH, size)


CASES: Dict[str, Callable[[], Program]] = {
    scaling_data.name_of(what, size): functools.partial(case, size)
    for what, case in (
        ("nodes", _nodes),
        ("vocabulary", _vocabulary),
        ("width", _width),
        ("batch", _batch),
    )
    for size in scaling_data.SIZES[what]
}
