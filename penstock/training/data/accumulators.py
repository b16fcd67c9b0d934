"""Conditional accumulators as users see them: classes that make a node and the nodes that use it.

They hold the handle and what is static about the gradients; the sums are state of a session
(``engine/resources/accumulator.py``).

Source: the conditional accumulators of TensorFlow 1.15 (names of nodes, checks).
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import cast


class ConditionalAccumulatorBase:
    """What all accumulators share; use one of its subclasses.

    Args:
      dtype: type of the gradients.
      shape: their static shape; None where nothing is declared.
      accumulator_ref: the handle of the accumulator.
    """

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Tensor) -> None:
        self._dtype = dtypes.as_dtype(dtype)
        self._shape = shapes.TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    # The older ops take the reference of a string; see SparseConditionalAccumulator.
    _prefix = "Resource"

    @property
    def accumulator_ref(self) -> Tensor:
        """The handle of the accumulator."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the accumulator's node, without its scope."""
        return self._name

    @property
    def dtype(self) -> dtypes.DType:
        """Type of the gradients."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Any:
        """An int32 scalar: the number of gradients added since the last take."""
        return make(
            f"{self._prefix}AccumulatorNumAccumulated",
            self._accumulator_ref,
            name=name or f"{self._name}_NumAccumulated",
        )

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Any:
        """An operation that sets the accumulator's step; going backwards logs a warning.

        Args:
          new_global_step: an integer scalar.
        """
        return make(
            f"{self._prefix}AccumulatorSetGlobalStep",
            self._accumulator_ref,
            _int64(new_global_step),
            name=name,
        )


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds gradients of several workers, dropping those that were computed too long ago.

    Args:
      dtype: type of the gradients.
      shape: their static shape.
      shared_name: sessions that share state share the accumulator under this name.
      reduction_type: "MEAN" or "SUM".

    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
    ...     session.run([accumulator.apply_grad(1.0), accumulator.apply_grad(2.0)])
    ...     float(session.run(accumulator.take_grad(2)))
    [None, None]
    1.5
    """

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = _accumulator(
            "ResourceConditionalAccumulator", dtype, shape, shared_name, name, reduction_type
        )
        super().__init__(dtype, shape, handle)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Any:
        """An operation that adds a gradient, or silently drops it when it is stale.

        Args:
          grad: the gradient.
          local_step: the step at which it was computed; before the accumulator's it is stale.

        Raises:
          ValueError: the shape of the gradient does not fit.
        """
        grad = convert_to_tensor(grad, self._dtype)
        grad.get_shape().assert_is_compatible_with(self._shape)
        return make(
            "ResourceAccumulatorApplyGradient",
            self._accumulator_ref,
            _int64(local_step),
            grad,
            name=name,
        )

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """The mean (or sum) of the gradients, once there are enough; waits for them.

        Taking begins anew at zero and moves the accumulator's step by one.

        Args:
          num_required: how many gradients are enough; an int32 scalar, positive when it runs.
        """
        taken = make(
            "ResourceAccumulatorTakeGradient",
            self._accumulator_ref,
            num_required,
            name=name,
            dtype=self._dtype,
        )
        taken.set_shape(self._shape)
        return taken


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """A ``ConditionalAccumulator`` of sparse gradients: rows by index.

    The mean of a row is over the gradients that had that row.

    Args:
      dtype, shape, shared_name, name, reduction_type: as for ``ConditionalAccumulator``; the shape
        is that of the dense gradient.
    """

    _prefix = ""

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = _accumulator(
            "SparseConditionalAccumulator", dtype, shape, shared_name, name, reduction_type
        )
        super().__init__(dtype, shape, handle)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None
    ) -> Any:
        """As ``apply_grad``, of an ``IndexedSlices``."""
        return self.apply_grad(
            grad_indices=grad.indices,
            grad_values=grad.values,
            grad_shape=grad.dense_shape,
            local_step=local_step,
            name=name,
        )

    def apply_grad(
        self,
        grad_indices: Any,
        grad_values: Any,
        grad_shape: Any = None,
        local_step: Any = 0,
        name: str | None = None,
    ) -> Any:
        """An operation that adds a gradient, or silently drops it when it is stale.

        Args:
          grad_indices: integer vector [n]: which rows.
          grad_values: [n, ...]: the rows.
          grad_shape: of the dense gradient; None where it is not known.
          local_step: the step at which it was computed.
        """
        step = _int64(local_step)
        indices = cast.cast(grad_indices, dtypes.int64)
        shape = cast.cast([] if grad_shape is None else grad_shape, dtypes.int64)
        return make(
            "SparseAccumulatorApplyGradient",
            self._accumulator_ref,
            step,
            indices,
            grad_values,
            shape,
            name=name,
            has_known_shape=grad_shape is not None,
        )

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """The rows' mean (or sum), once there are enough gradients; waits for them.

        Args:
          num_required: how many gradients are enough.

        Returns:
          A namedtuple of indices [n], values [n, ...] and the dense shape, -1 where unknown.
        """
        return make(
            "SparseAccumulatorTakeGradient",
            self._accumulator_ref,
            num_required,
            name=name,
            dtype=self._dtype,
        )

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        """As ``take_grad``; returns an ``IndexedSlices``."""
        taken = self.take_grad(num_required, name)
        return IndexedSlices(taken.values, taken.indices, taken.shape)


def _accumulator(
    op_type: str, dtype: Any, shape: Any, shared_name: str | None, name: str, reduction_type: str
) -> Any:
    return make(
        op_type,
        dtype=dtypes.as_dtype(dtype),
        shape=shapes.TensorShape(shape),
        shared_name=shared_name or "",
        name=name,
        reduction_type=reduction_type,
    )


def _int64(step: Any) -> Tensor:
    made: Tensor = cast.cast(convert_to_tensor(step), dtypes.int64)
    return made
