"""Random straight-line programs, and what they mean: each instruction done in order, in NumPy.

An instruction names its operands by their places: the places 0 to 6 hold the feeds, a constant and
the variables, later ones the results of the instructions before.  All values are 2x2, or views and
parts of that, so that most pairs of values fit each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import penstock as tf
from penstock.foundation.graph.build import make

REFERENCES = (3, 4)  # the places of the variables by reference
VARIABLES = (*REFERENCES, 5)  # and of the resource
SHAPES: list[tuple[int, ...]] = [(2, 2)] * 6 + [(2,)]
VIEWS = {
    "identity": lambda x: x.copy(),
    "flat": lambda x: x.reshape(-1).copy(),
    "square": lambda x: x.reshape(2, 2).copy(),
    "transpose": lambda x: x.T.copy(),
    "first": lambda x: x[0].copy(),
    "reversed": lambda x: x[::-1].copy(),
    "spread": lambda x: np.broadcast_to(x, (2, 2)).copy(),
}
UNARY = {
    "negative": np.negative,
    "square_": np.square,
    "relu": lambda x: np.maximum(x, 0),
    "abs": np.abs,
    "unit": lambda x: x * 1.0,
}
BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "matmul": np.matmul,
}
UPDATES = {
    "assign": lambda v, x: x.copy(),
    "assign_add": lambda v, x: v + x,
    "assign_sub": lambda v, x: v - x,
    "descend": lambda v, x: v - 0.5 * x,
    "scatter_add": lambda v, x: v + x[::-1],
}
OPS = [*VIEWS, *UNARY, *BINARY, "bias_add", *UPDATES]


@dataclass
class Program:
    """Instructions that make sense, and which places are fetched."""

    lines: list[tuple[str, int, int]] = field(default_factory=list)
    fetches: list[int] = field(default_factory=list)


def _shape_after(op: str, x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...] | None:
    size = int(np.prod(x))
    if op in UNARY or op == "identity" or (op == "reversed" and x):
        return x
    if op == "spread":
        return (2, 2) if x == (2,) else None
    if op in ("flat", "square"):
        return None if size != 4 else (4,) if op == "flat" else (2, 2)
    if op in ("transpose", "matmul", "first"):
        if len(x) != 2 or (op == "matmul" and y != x):
            return None
        return x if op != "first" else x[1:]
    if op == "bias_add":
        return x if len(x) == 2 and y == (2,) else None
    if op in BINARY:
        return x if x == y or (x == (2, 2) and y == (2,)) else None
    return None


def make_sense(draws: list[tuple[str, int, int]], fetches: list[int]) -> Program:
    """The program of these draws, less the instructions whose operands do not fit."""
    shapes: list[tuple[int, ...] | None] = list(SHAPES)
    program = Program()
    for op, a, b in draws:
        a, b = a % len(shapes), b % len(shapes)
        if op in UPDATES:
            a = VARIABLES[a % len(VARIABLES)]
            if shapes[b] != (2, 2) or (op in ("descend", "scatter_add") and a == VARIABLES[2]):
                continue
            shapes.append(None)
        else:
            first, second = shapes[a], shapes[b]
            after = None if first is None or second is None else _shape_after(op, first, second)
            if after is None or (op == "identity" and a in REFERENCES):
                # An identity of a reference is no read of its own: see Rebuilder._keeps_reads.
                continue
            shapes.append(after)
        program.lines.append((op, a, b))
    # A variable fetched beside its updates may be read before or after them: read it in a line.
    wanted = [i % len(shapes) for i in fetches]
    program.fetches = [i for i in wanted if shapes[i] is not None and i not in VARIABLES] or [0]
    return program


def interpret(program: Program, places: list[np.ndarray]) -> tuple[list[Any], list[np.ndarray]]:
    """Fetched values and the variables' values after one step that begins with these values."""
    values: list[Any] = [p.copy() for p in places]
    for op, a, b in program.lines:
        x, y = values[a], values[b]
        if op in UPDATES:
            values[a] = UPDATES[op](x, y)
            values.append(None)
        elif op in VIEWS:
            values.append(VIEWS[op](x))
        elif op in UNARY:
            values.append(UNARY[op](x))
        else:
            values.append((BINARY[op] if op in BINARY else np.add)(x, y))
    return [values[i] for i in program.fetches], [values[i] for i in VARIABLES]


class Built:
    """The same program as a graph, whose control edges leave it no other order."""

    def __init__(self, program: Program, constant: np.ndarray) -> None:
        self.feeds = [
            tf.placeholder(tf.float64, [2, 2]),
            tf.placeholder(tf.float64, None if len(program.lines) % 2 else [None, 2]),
        ]
        zero = np.zeros((2, 2))
        self.variables = [
            tf.Variable(zero, name="a"), tf.Variable(zero, name="b"),
            tf.Variable(zero, name="r", use_resource=True),
        ]  # fmt: skip
        self.new = tf.placeholder(tf.float64, [2, 2])
        self.set = [tf.assign(v, self.new) for v in self.variables]
        bias = tf.placeholder(tf.float64, [2])
        self.feeds.append(bias)
        self.places: list[Any] = [
            self.feeds[0], self.feeds[1], tf.constant(constant), *self.variables, bias,
        ]  # fmt: skip
        self.writes: list[Any] = []
        self.last_write: dict[int, Any] = {}
        self.readers: dict[int, list[Any]] = {place: [] for place in VARIABLES}
        for line in program.lines:
            self._add(*line)
        self.fetches = [self.places[i] for i in program.fetches]

    def _add(self, op: str, a: int, b: int) -> None:
        touched = [p for p in dict.fromkeys((a, b)) if p in VARIABLES]
        before = [self.last_write[p] for p in touched if p in self.last_write]
        if op in UPDATES:
            before += self.readers[a]
        with tf.control_dependencies(before):
            made = _node(op, self.places[a], self.places[b])
        node = getattr(made, "op", made)
        for place in touched:
            self.readers[place].append(node)
        if op in UPDATES:
            self.last_write[a], self.readers[a] = node, []
            self.writes.append(node)
        self.places.append(made)


def _value(place: Any) -> Any:
    """What a node reads: the reference itself, not the value read at the variable's making."""
    if not isinstance(place, tf.Variable):
        return place
    handle = place._ref()
    return handle if handle.dtype.is_ref else place.read_value()


def _node(op: str, x: Any, y: Any) -> Any:
    y = _value(y)
    if op not in UPDATES:
        x = _value(x)
    if op == "assign":
        return tf.assign(x, y).op
    if op in ("assign_add", "assign_sub"):
        return getattr(tf, op)(x, y).op
    if op == "descend":
        return make("ApplyGradientDescent", x, tf.constant(0.5, tf.float64), y).op
    if op == "scatter_add":
        return tf.scatter_add(x, tf.constant([1, 0]), y).op
    if op == "unit":
        return tf.multiply(x, tf.constant(1.0, tf.float64))
    if op in ("flat", "square"):
        return tf.reshape(x, [-1] if op == "flat" else [2, 2])
    if op == "spread":
        return tf.broadcast_to(x, [2, 2])
    if op in ("first", "reversed"):
        value = tf.convert_to_tensor(x)
        return (
            tf.strided_slice(value, [0], [1], shrink_axis_mask=1)
            if op == "first"
            else (tf.reverse(value, [0]))
        )
    if op == "relu":
        return tf.nn.relu(x)
    if op == "bias_add":
        return tf.nn.bias_add(x, y)
    if op in UNARY or op in ("identity", "transpose"):
        return getattr(tf, op.rstrip("_"))(x)
    return getattr(tf, op)(x, y)
