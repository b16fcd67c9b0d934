"""``tf.map_fn``, ``tf.scan``, ``tf.foldl``, ``tf.foldr``: loops over the rows of tensors.

Each puts the rows into TensorArrays (one for each part of a nesting), loops over their index, and
stacks what the iterations give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.base.docstrings import documented_as, named
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph import nest
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.control_flow.while_loop import while_loop
from penstock.library.variables.scope import get_variable_scope
from penstock.ops.array import shape as shape_ops
from penstock.ops.array.constant import constant
from penstock.ops.array.nodes import element
from penstock.ops.control import control_flow


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """What ``fn`` makes of each row of ``elems``, stacked.

    Args:
      fn: takes a row: a nesting as ``elems``.
      elems: a tensor [n, ...], or a nesting of tensors with one n.
      dtype: a nesting of the dtypes that ``fn`` gives; default those of ``elems``.
      parallel_iterations: as of ``tf.while_loop``; default 10.
      back_prop: whether there is to be a gradient.
      swap_memory: as of ``tf.while_loop``.
      infer_shape: whether all results must have one shape.

    Returns:
      A nesting as ``dtype`` (else as ``elems``) of tensors [n, ...].

    Raises:
      TypeError: ``fn`` is not callable, ``elems`` is sparse, or nestings differ in type.
      ValueError: ``elems`` is a scalar, or nestings differ.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3]))).tolist()
      [1, 4, 9]
    """
    _check_callable(fn)
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "map_fn cannot map over the rows of a sparse tensor; map over its values instead:"
            " SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    flat = nest.flatten(elems)
    with name_scope(name, "map", flat), _caching_reads():
        flat = [convert_to_tensor(elem, name="elem") for elem in flat]
        if dtype is None:
            dtype = nest.pack_sequence_as(elems, [elem.dtype for elem in flat])
        count = _rows_to_map(flat)
        rows = _unstacked(flat, count)
        i = constant(0)
        results = [
            TensorArray(kind, size=count, dynamic_size=False, infer_shape=infer_shape)
            for kind in nest.flatten(dtype)
        ]

        def compute(i: Any, arrays: list[TensorArray]) -> tuple[Any, list[TensorArray]]:
            made = fn(nest.pack_sequence_as(elems, [row.read(i) for row in rows]))
            nest.assert_same_structure(dtype, made)
            arrays = _written(arrays, i, nest.flatten(made))
            return i + 1, arrays

        _, results = while_loop(
            lambda i, _: i < count, compute, (i, results),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=count,
        )  # fmt: skip
        return nest.pack_sequence_as(dtype, _stacked(results, flat))


@documented_as(map_fn)
def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All values of an accumulator that ``fn`` takes over the rows of ``elems``, stacked.

    Args:
      fn: ``fn(accumulator, row) -> accumulator``.
      initializer: the first accumulator, a nesting; default the first row, which is then the
        first result.
      parallel_iterations: as of ``tf.while_loop``.
      reverse: from the last row to the first; results stay at their rows.

    Returns:
      A nesting as the accumulator of tensors [n, ...].

    Raises:
      TypeError: ``fn`` is not callable, or nestings differ in type.
      ValueError: nestings differ.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3]))).tolist()
      [1, 3, 6]
    """
    _check_callable(fn)
    like = elems if initializer is None else initializer
    flat = nest.flatten(elems)
    with name_scope(name, "scan", flat), _caching_reads():
        flat = [convert_to_tensor(elem, name="elem") for elem in flat]
        count = dimension_value(flat[0].shape[0])
        if count is None:
            count = element(shape_ops.shape(flat[0]), 0)
        rows = _unstacked(flat, count, with_shape=True)
        if initializer is None:
            start = [row.read(count - 1 if reverse else 0) for row in rows]
            done = 1
        else:
            start = [convert_to_tensor(init) for init in nest.flatten(initializer)]
            done = 0
        results = [
            TensorArray(
                init.dtype, size=count, dynamic_size=False, infer_shape=infer_shape,
                element_shape=init.shape if infer_shape else None,
            )
            for init in start
        ]  # fmt: skip
        if initializer is None:
            results = [
                array.write(count - 1 if reverse else 0, value)
                for array, value in zip(results, start, strict=True)
            ]

        def compute(i: Any, state: list[Tensor], arrays: list[TensorArray]) -> Any:
            row = nest.pack_sequence_as(elems, [row.read(i) for row in rows])
            made = fn(nest.pack_sequence_as(like, state), row)
            nest.assert_same_structure(like, made)
            state = nest.flatten(made)
            arrays = _written(arrays, i, state)
            return (i - 1 if reverse else i + 1), state, arrays

        def goes_on(i: Any, *_: Any) -> Any:
            return i >= 0 if reverse else i < count

        first = count - 1 - done if reverse else done
        *_, results = while_loop(
            goes_on, compute, (first, start, results), parallel_iterations=parallel_iterations,
            back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=count,
        )  # fmt: skip
        return nest.pack_sequence_as(like, _stacked(results, flat))


def _folding(kind: str, doc: str, like: Callable[..., Any]) -> Callable[..., Any]:
    @named(kind, doc, like)
    def fold(
        fn: Callable[[Any, Any], Any],
        elems: Any,
        initializer: Any = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: str | None = None,
    ) -> Any:
        options = {"back_prop": back_prop, "swap_memory": swap_memory}
        return _fold(fn, elems, initializer, parallel_iterations, options, name, kind)

    return fold


foldl = _folding(
    "foldl",
    """The last value of an accumulator that ``fn`` takes over the rows of ``elems``, in order.

    Args:
      initializer: the first accumulator, a nesting; default the first row.

    Returns:
      A nesting as the accumulator.

    Raises:
      TypeError: ``fn`` is not callable.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     int(sess.run(tf.foldl(lambda a, x: a * 10 + x, tf.constant([1, 2, 3]))))
      123
    """,
    scan,
)
foldr = _folding(
    "foldr",
    """As ``foldl``, from the last row to the first.

    Args:
      initializer: the first accumulator, a nesting; default the last row.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     int(sess.run(tf.foldr(lambda a, x: a * 10 + x, tf.constant([1, 2, 3]))))
      321
    """,
    foldl,
)


def _fold(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any,
    parallel_iterations: int,
    options: dict[str, Any],
    name: str | None,
    scope: str,
) -> Any:
    _check_callable(fn)
    backwards = scope == "foldr"
    with name_scope(name, scope, [elems]), _caching_reads():
        flat = [convert_to_tensor(elem, name="elem") for elem in nest.flatten(elems)]
        # No rows, known while the graph is built, are counted in the step: as TF does.
        count: Any = dimension_value(flat[0].shape[0]) or element(shape_ops.shape(flat[0]), 0)
        # The arrays are made of what the caller gave, converted once more: as TF does.
        rows = nest.map_structure(lambda elem: _unstacked_one(elem, count), elems)

        def row_at(i: Any) -> Any:
            return nest.map_structure(lambda row: row.read(i), rows)

        i: Any
        if initializer is not None:
            start, i = initializer, count if backwards else constant(0)
        elif backwards:
            i = count - 1
            start = row_at(i)
        else:
            start, i = row_at(0), constant(1)

        def compute(i: Any, state: Any) -> list[Any]:
            if backwards:
                i -= 1
            row = row_at(i)
            state = fn(state, row)
            return [i if backwards else i + 1, state]

        _, state = while_loop(
            lambda i, _: i > 0 if backwards else i < count, compute, [i, start],
            parallel_iterations=parallel_iterations, maximum_iterations=count, **options,
        )  # fmt: skip
        return state


# ---- parts ---------------------------------------------------------------------------------------


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"fn must be callable; found {fn!r}")


@contextmanager
def _caching_reads() -> Iterator[None]:
    """Variables that a loop's function gets are read once, and not in each iteration."""
    scope = get_variable_scope()
    if scope.caching_device is not None:
        yield
        return
    scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        scope.set_caching_device(None)


def _rows_to_map(elems: Sequence[Tensor]) -> Any:
    """The number of rows: an int where it is known (and not 0, as in TF), else a tensor."""
    shape = elems[0].shape
    if shape.ndims is not None and shape.ndims < 1:
        if len(elems) == 1:
            raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar")
        raise ValueError("elements in elems must be 1+ dimensional Tensors, not scalars")
    return dimension_value(shape[0]) or element(shape_ops.shape(elems[0]), 0)


def _unstacked(elems: Sequence[Tensor], count: Any, with_shape: bool = False) -> list[TensorArray]:
    arrays = [
        TensorArray(
            elem.dtype, size=count, dynamic_size=False, infer_shape=True,
            element_shape=elem.shape[1:] if with_shape else None,
        )
        for elem in elems
    ]  # fmt: skip
    return [array.unstack(elem) for array, elem in zip(arrays, elems, strict=True)]


def _unstacked_one(elem: Any, count: Any) -> TensorArray:
    array = TensorArray(elem.dtype, size=count, dynamic_size=False, infer_shape=True)
    return array.unstack(elem)


def _written(arrays: Sequence[TensorArray], i: Any, values: Sequence[Any]) -> list[TensorArray]:
    return [array.write(i, value) for array, value in zip(arrays, values, strict=True)]


def _stacked(arrays: Sequence[TensorArray], elems: Sequence[Tensor]) -> list[Tensor]:
    """The arrays' elements as tensors, with as many rows as ``elems`` where that is known."""
    results = [array.stack() for array in arrays]
    count = elems[0].shape.with_rank_at_least(1)[0]
    for elem in elems[1:]:
        count.merge_with(elem.shape.with_rank_at_least(1)[0])
    for result in results:
        result.set_shape(TensorShape([count]).concatenate(result.shape[1:]))
    return results


control_flow.give_loops(map_fn, foldl)
