"""``tf.switch_case``: one of several branches, by number.

Each branch is traced as a function and a ``Case`` node calls the one chosen, as in TensorFlow; a
step has the primitives in its place (``passes.functional``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph import nest
from penstock.foundation.graph.bodies import known_functions
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.scopes import get_default_graph, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.defun import outermost, trace_branch

_Branch = Callable[[], Any]


def switch_case(
    branch_index: Tensor,
    branch_fns: Any,
    default: _Branch | None = None,
    name: str = "switch_case",
) -> Any:
    """What the branch of a number returns.

    Args:
      branch_index: an integer scalar tensor.
      branch_fns: functions without arguments: a list of them, a list of pairs of a number and a
        function, or a dict; the numbers are 0 to n - 1.
      default: called for any other number; without it the branch of the largest number is.

    Returns:
      What the branch returns: tensors in a nesting, the same for all branches.

    Raises:
      TypeError: ``branch_index`` is no integer tensor, ``branch_fns`` is something else, or
        branches return other types or nestings.
      ValueError: no branches, or numbers that leave one out.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     x = tf.placeholder(tf.int32, [])
      ...     branches = [lambda: tf.constant("none"), lambda: tf.constant("one")]
      ...     y = tf.switch_case(x, branches, default=lambda: tf.constant("many"))
      ...     sess.run(y, {x: 1}), sess.run(y, {x: 5})
      (b'one', b'many')
    """
    branches = _in_order(branch_index, branch_fns, default)
    with name_scope(name, "case", [branch_index]), name_scope("indexed_case") as scope:
        names = [f"{scope}branch{number}".replace("/", "_") for number in range(len(branches))]
        traced = [
            trace_branch(each, branch, branch_index)
            for each, branch in zip(names, branches, strict=True)
        ]
        bodies = [body for body, _ in traced]
        _check_alike(traced)
        given = _share_captures(bodies)
        functions = known_functions(outermost(get_default_graph()))
        functions.update({body.name: body for body in bodies})
        index = convert_to_tensor(branch_index, name="branch_index")
        made = make(
            "Case", index, given, Tin=[t.dtype for t in given],
            Tout=[t.dtype for t in bodies[0].outputs], branches=bodies,
            output_shapes=_common_shapes(bodies), name=scope,
        )  # fmt: skip
        results = [make("Identity", tensor) for tensor in made]
        get_default_graph().prevent_fetching(made[0].op)
        return nest.pack_sequence_as(traced[0][1], results, expand_composites=True)


def _in_order(index: Any, branch_fns: Any, default: _Branch | None) -> list[_Branch]:
    if not isinstance(index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(index)}")
    if not index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {index.dtype}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if not isinstance(branch_fns, list | tuple | dict):
        raise TypeError(
            f"branch_fns must be a list, tuple, or dict; found {type(branch_fns).__name__}"
        )
    pairs: Any = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if all(callable(branch) for branch in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in branch_fns must be a 2-tuple; found {pair}")
        number, branch = pair
        if not isinstance(number, int):
            raise TypeError(f"key must be a Python `int`, got {type(number)}")
        if not callable(branch):
            raise TypeError(f"fn for key {number} must be callable.")
    numbers = sorted(number for number, _ in pairs)
    if numbers != list(range(len(pairs))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found"
            f" {{{','.join(map(str, numbers))}}}"
        )
    ordered = [branch for _, branch in sorted(pairs, key=lambda pair: pair[0])]
    return ordered if default is None else [*ordered, default]


def _check_alike(traced: Sequence[tuple[FunctionGraph, Any]]) -> None:
    (first, like), *others = traced
    for number, (body, structure) in enumerate(others, 1):
        try:
            nest.assert_same_structure(like, structure, expand_composites=True)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"branches 0 and {number} of switch_case return different nestings: {error}"
            ) from None
        types = [[t.dtype.base_dtype.name for t in each.outputs] for each in (first, body)]
        if types[0] != types[1]:
            raise TypeError(
                f"branches 0 and {number} of switch_case return different types: {types[0]} and"
                f" {types[1]}"
            )


def _share_captures(bodies: Sequence[FunctionGraph]) -> list[Tensor]:
    """Makes what any branch captures an input of all, in one order; returns the outer tensors."""
    outer: dict[Tensor, None] = {}
    for body in bodies:
        outer.update(dict.fromkeys(body.captured_outer))
    for body in bodies:
        for tensor in outer:
            body.capture(tensor)
        inner = dict(zip(body.captured_outer, body.inputs, strict=True))
        body.inputs = [inner[tensor] for tensor in outer]
        body.captured_outer = list(outer)
    return list(outer)


def _common_shapes(bodies: Sequence[FunctionGraph]) -> list[Any]:
    rows = zip(*(body.outputs for body in bodies), strict=True)
    return [shapes.from_static(shapes.common_static([t.sizes for t in row])) for row in rows]
