"""``tf.nondifferentiable_batch_function``: a function that many steps call as one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TensorSpec
from penstock.library.autograph.operators import requested
from penstock.library.eager.concrete import concrete


def nondifferentiable_batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., list[Tensor]]]:
    """Decorates a function of tensors so that steps that run at the same time compute it once.

    The arguments of such steps are joined along their first dim, the function runs on them, and
    each step gets its rows of the results.  There is no gradient through it.

    Args:
      num_batch_threads: how many batches may run at once.
      max_batch_size: the most rows of a batch; a step that gives more fails.
      batch_timeout_micros: how long a batch that is not full waits for further steps.
      allowed_batch_sizes: numbers of rows, ascending to ``max_batch_size``; a batch is padded to
        the next of them, and the rows added are dropped from the results.
      max_enqueued_batches: the most batches that wait; what would begin another fails with
        ``tf.errors.UnavailableError``.
      autograph: whether the function's Python control flow is converted.

    Returns:
      A decorator. What it makes takes tensors and returns a list of the results, whose shapes are
      not known.

    Raises:
      ValueError: an argument of the decorated function is no tensor, or it returns none.

    Example:
      >>> import penstock as tf
      >>> @tf.nondifferentiable_batch_function(1, 8, 1000, allowed_batch_sizes=[4, 8])
      ... def doubled(x):
      ...     return 2 * x
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(doubled(tf.constant([1, 2])))
      [array([2, 4], dtype=int32)]

    Source: ``tf.nondifferentiable_batch_function`` of TensorFlow 1.15.
    """

    batching = {
        "num_batch_threads": num_batch_threads, "max_batch_size": max_batch_size,
        "batch_timeout_micros": batch_timeout_micros,
        "allowed_batch_sizes": list(allowed_batch_sizes or ()),
        "max_enqueued_batches": max_enqueued_batches,
    }  # fmt: skip

    def batched(function: Callable[..., Any]) -> Callable[..., list[Tensor]]:
        @wraps(function)
        def one_call(*tensors: Any) -> list[Tensor]:
            _check_tensors(tensors)
            return _node(_body(function, tensors, autograph), tensors, batching)

        return one_call

    return batched


def _check_tensors(given: Sequence[Any]) -> None:
    for one in given:
        if not isinstance(one, Tensor):
            raise ValueError(
                "All arguments to functions decorated with `batch_function` are supposed to be"
                f" Tensors; found {one!r}"
            )


def _body(function: Callable[..., Any], tensors: Sequence[Tensor], autograph: bool) -> Any:
    """The function as a graph of its own; its node is called ``computation``, as TensorFlow's."""

    def computation(*rows: Any) -> Any:
        return function(*rows)

    names = list(map(str, range(len(tensors))))
    specs = tuple(map(TensorSpec, [t.shape for t in tensors], [t.dtype for t in tensors], names))
    converted = requested(computation) if autograph else computation
    # Whoever runs a batch calls the body as it is, so handles are not handed to it.
    return concrete(
        "computation", converted, (specs, {}), names, len(tensors), pass_handles=False
    )  # fmt: skip


def _node(body: Any, tensors: Sequence[Tensor], batching: dict[str, Any]) -> list[Tensor]:
    with name_scope("batch") as scope:
        rows = make(
            "BatchFunction", list(tensors), list(body.captured_inputs), f=body.graph,
            Tout=[result.dtype for result in body.outputs], shared_name=scope, **batching,
        )  # fmt: skip
    return list(rows)
