"""``tf.nondifferentiable_batch_function``: a function that many steps call as one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    def decorator(fn: Callable[..., Any]) -> Callable[..., list[Tensor]]:
        def decorated(*args: Any) -> list[Tensor]:
            for arg in args:
                if not isinstance(arg, Tensor):
                    raise ValueError(
                        "All arguments to functions decorated with `batch_function` are supposed"
                        f" to be Tensors; found {arg!r}"
                    )

            def computation(*inner: Any) -> Any:
                return fn(*inner)

            names = [str(i) for i in range(len(args))]
            specs = tuple(TensorSpec(x.shape, x.dtype, n) for x, n in zip(args, names, strict=True))
            # Whoever runs a batch calls the body as it is, so handles are not handed to it.
            traced = concrete(
                "computation", requested(computation) if autograph else computation,
                (specs, {}), names, len(args), pass_handles=False,
            )  # fmt: skip
            with name_scope("batch") as name:
                made = make(
                    "BatchFunction", list(args), list(traced.captured_inputs),
                    num_batch_threads=num_batch_threads, max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    allowed_batch_sizes=list(allowed_batch_sizes or ()),
                    max_enqueued_batches=max_enqueued_batches, shared_name=name,
                    f=traced.graph, Tout=[t.dtype for t in traced.outputs],
                )  # fmt: skip
            return list(made)

        return decorated

    return decorator
