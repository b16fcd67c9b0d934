"""ONNX operators that come in: conditionals and loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.library.control_flow.cond import cond
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.control_flow.while_loop import while_loop
from penstock.ops.array.constant import constant
from penstock.storage.interchange.onnx_operands import (
    as_scalar,
)
from penstock.storage.interchange.onnx_reader import Reader, Rule, dtype_of

_MOST = np.iinfo(np.int64).max


def _if(r: Reader, node: Any, test: Any, then_branch: Any, else_branch: Any) -> Any:
    test = make("Reshape", test, constant(np.array([], np.int32)))
    made = cond(test, lambda: r.within(then_branch, []), lambda: r.within(else_branch, []))
    return made if isinstance(made, list | tuple) else [made]


def _loop(r: Reader, node: Any, most: Any, going: Any, *first: Any, body: Any) -> Any:
    """A loop; what its rounds give beside the variables is gathered in arrays."""
    limit = constant(np.int64(_MOST)) if most is None else as_scalar(most)
    test = constant(True) if going is None else as_scalar(going)
    count = len(first)
    kinds = [dtype_of(each.type.tensor_type.elem_type) for each in body.output[1 + count :]]
    arrays = [TensorArray(kind, 0, dynamic_size=True, infer_shape=False) for kind in kinds]
    size = len(arrays)

    def goes_on(i: Any, test: Any, *rest: Any) -> Any:
        return make("LogicalAnd", test, make("Less", i, limit))

    def one_round(i: Any, test: Any, *rest: Any) -> Any:
        made = r.within(body, [i, test, *rest[:count]])
        place = make("Cast", i, DstT=dtypes.int32)
        kept = [a.write(place, v) for a, v in zip(rest[count:], made[1 + count :], strict=True)]
        step = make("AddV2", i, constant(np.int64(1)))
        return [step, as_scalar(made[0]), *made[1 : 1 + count], *kept]

    start = [constant(np.int64(0)), test, *first, *arrays]
    open_shapes = [t.get_shape() if i < 2 else _any_of(t) for i, t in enumerate(start[: 2 + count])]
    invariants = [*open_shapes, *(None for _ in arrays)]
    made = while_loop(
        goes_on, one_round, start,
        shape_invariants=None if size else list(invariants),
    )  # fmt: skip
    return [*made[2 : 2 + count], *(array.stack() for array in made[2 + count :])]


def _any_of(tensor: Any) -> Any:
    """The shape that a variable of a loop may have: of its rank, or any."""
    shape = tensor.get_shape()
    return type(shape)([None] * len(shape)) if shape.ndims is not None else shape


RULES: dict[str, Rule] = {
    "If": _if,
    "Loop": _loop,
}
