"""Sizes at which a step's time is measured, and what the steps begin from."""

from __future__ import annotations

import numpy as np

from benchmarks.data import Batch, CaseData, bias, digits, uniform, weight

# By what grows; JAX compiles a graph of more nodes than the last of its own for minutes.
SIZES = {
    "nodes": (100, 1000, 10000, 100000),
    "vocabulary": (50000, 500000, 5000000),
    "width": (64, 256, 1024, 2048),
    "batch": (1, 8, 64, 512, 4096),
}
JAX_NODES = 10000
NODE_VALUES, NODE_SHIFT = 16, 0.01
TABLE_UNITS, TABLE_IDS, TABLE_RATE = 16, 128, 0.1
MLP_WIDTH, MLP_BATCH, MLP_RATE = 512, 128, 0.05


def name_of(what: str, size: int) -> str:
    """The case's name.

    >>> name_of("nodes", 100)
    'nodes_100'
    """
    return f"{what}_{size}"


def nodes() -> list[Batch]:
    """What a chain of nodes begins with."""
    rng = np.random.RandomState(30)
    return [(uniform(rng, (NODE_VALUES,), 1.0),) for _ in range(4)]


def table(rows: int) -> CaseData:
    """An embedding table and batches of ids."""
    rng = np.random.RandomState(31)
    parameters = {"table": uniform(rng, (rows, TABLE_UNITS), 0.5)}
    ids: list[Batch] = [(rng.randint(0, rows, TABLE_IDS).astype(np.int32),) for _ in range(8)]
    return CaseData(parameters, ids)


def mlp(width: int, batch: int) -> CaseData:
    """A network of two hidden layers, named as that of ``data.mlp``."""
    rng = np.random.RandomState(32)
    sizes = (784, width, width, 10)
    parameters = {f"w{index}": weight(rng, sizes[index : index + 2]) for index in range(3)}
    parameters.update({f"b{index}": bias(sizes[index + 1]) for index in range(3)})
    return CaseData(parameters, [digits(rng, batch, (784,)) for _ in range(2)])
