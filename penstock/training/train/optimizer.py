"""The optimizers' base class: gradients of a loss, slots, and one update node a variable.

``minimize`` is ``compute_gradients`` and then ``apply_gradients``, which lays out, for variables
``W`` and ``b`` and the optimizer's name ``Adam``::

    Adam/learning_rate ...     _prepare: hyper-parameters as tensors
    Adam/update_W/ApplyAdam    one scope a variable: _apply_dense, _apply_sparse, ...
    Adam/update_b/ApplyAdam
    Adam                       _finish: a group of the updates

With a global step the group is ``Adam/update`` and ``Adam`` is the node that counts the step.

State of an optimizer: slots by slot name and variable, other variables by name and graph.
Subclasses override ``_create_slots``, ``_prepare``, the four ``_apply`` methods and ``_finish``;
their names and arguments are TF 1.15's, so optimizers written for it work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.decorators import contextmanager
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import init_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff import gradients
from penstock.library.variables import tracked
from penstock.library.variables.resource_variable import ResourceVariable
from penstock.library.variables.variable import Variable
from penstock.ops.array import cast as casting, indexed_slices, shape as shape_ops, slicing
from penstock.ops.control import control
from penstock.ops.state.state_update import assign_add
from penstock.training.distribute import modes
from penstock.training.train.distributed_update import apply_distributed
from penstock.training.train.slots import Slots

_TRAINABLE_TYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


def cast(value: Any, dtype: dtypes.DType, name: str | None = None) -> Any:
    """``tf.cast`` to the base type of ``dtype``; makes no node for a tensor that has it already."""
    if isinstance(value, Tensor) and value.dtype.base_dtype is dtype.base_dtype:
        return value
    return casting.cast(value, dtype.base_dtype, name=name)


def _deduplicate_indexed_slices(values: Any, indices: Any) -> tuple[Tensor, Tensor]:
    """Sums the rows of equal indices.

    Args:
      values: rows, [n, ...].
      indices: [n], may repeat.

    Returns:
      The summed rows and the distinct indices, in order of first occurrence.
    """
    unique, positions = make("Unique", indices)
    size = slicing.getitem(shape_ops.shape(unique), 0)
    summed = make("UnsortedSegmentSum", values, positions, size)
    return summed, unique


# ---- what can be optimized: both styles of variables; of tensors, gradients only -----------------


def _constrained(var: Any, update_op: Any) -> Any:
    if var.constraint is None:
        return update_op
    with scopes.control_dependencies([update_op]):
        return var.assign(var.constraint(var))


def _no_constraint(var: Any) -> None:
    if var.constraint is not None:
        raise RuntimeError(
            f"variable {var.name!r} has a constraint and a sparse gradient; constraints work with"
            " dense gradients only"
        )


class _RefVariableProcessor:
    def __init__(self, var: Any) -> None:
        self._v = var

    def target(self) -> Any:
        return self._v._ref()

    def update_op(self, optimizer: Optimizer, grad: Any) -> Any:
        if isinstance(grad, Tensor):
            return _constrained(self._v, optimizer._apply_dense(grad, self._v))
        _no_constraint(self._v)
        return optimizer._apply_sparse_duplicate_indices(grad, self._v)


class _DenseResourceVariableProcessor:
    def __init__(self, var: Any) -> None:
        self._v = var

    def target(self) -> Any:
        return self._v

    def update_op(self, optimizer: Optimizer, grad: Any) -> Any:
        if isinstance(grad, Tensor):
            return _constrained(self._v, optimizer._resource_apply_dense(grad, self._v))
        _no_constraint(self._v)
        return optimizer._resource_apply_sparse_duplicate_indices(
            grad.values, self._v, grad.indices
        )


class _TensorProcessor:
    """Gradients with respect to a tensor may be computed, but there is nothing to update."""

    def __init__(self, tensor: Tensor) -> None:
        self._v = tensor

    def target(self) -> Any:
        return self._v

    def update_op(self, optimizer: Optimizer, grad: Any) -> Any:
        raise NotImplementedError(f"a Tensor cannot be updated, only a Variable: {self._v}")


def _get_processor(var: Any) -> Any:
    if isinstance(var, ResourceVariable):
        return _DenseResourceVariableProcessor(var)
    if isinstance(var, Variable):
        return _RefVariableProcessor(var)
    if isinstance(var, Tensor):
        return _TensorProcessor(var)
    raise NotImplementedError(
        f"only a Variable can be optimized; found {var!r} of type {type(var).__name__}"
    )


def _flat_variables(var_list: Any) -> list[Any]:
    """The variables in nested sequences, partitioned ones as their slices."""
    if isinstance(var_list, dict):
        var_list = [var_list[key] for key in sorted(var_list)]
    if isinstance(var_list, list | tuple | set):
        return [leaf for item in var_list for leaf in _flat_variables(item)]
    if hasattr(var_list, "_get_variable_list"):
        return list(var_list._get_variable_list())
    return [var_list]


class Optimizer(Slots):
    """Base class of optimizers.

    Use a subclass, for instance ``GradientDescentOptimizer``.

    Args:
      use_locking: whether updates take the variable's lock, so that none is lost.
      name: name of the training op, and of the slots.

    Raises:
      ValueError: an empty name.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError(f"Must specify the optimizer name; found {name!r}")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slot_dict: dict[Any, Any] = {}

    def get_name(self) -> str:
        """The optimizer's name."""
        return self._name

    # ---- the public methods ------------------------------------------------------------------

    def minimize(
        self, loss: Any, global_step: Any = None, var_list: Any = None,
        gate_gradients: int = GATE_OP, aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: Any = None,
    ) -> Any:  # fmt: skip
        """Adds the nodes that compute gradients of ``loss`` and apply them.

        Args:
          loss: tensor to minimize.
          global_step: variable to count up after the updates.
          var_list: variables to update; default those in ``GraphKeys.TRAINABLE_VARIABLES``.
          gate_gradients: ``GATE_NONE``, ``GATE_OP`` (the gradients of an op are all computed before
            any is used) or ``GATE_GRAPH`` (all gradients are).
          aggregation_method: one of ``tf.AggregationMethod``.
          colocate_gradients_with_ops: put each gradient where its forward node is.
          grad_loss: gradient of what follows with respect to ``loss``.

        Returns:
          The op that does one training step.

        Raises:
          ValueError: no variable has a gradient, or an argument is not allowed.

        Example:
          >>> import penstock as tf
          >>> with tf.Graph().as_default(), tf.Session() as sess:
          ...     w = tf.Variable(3.0)
          ...     step = tf.train.GradientDescentOptimizer(0.25).minimize(w * w)
          ...     sess.run(tf.global_variables_initializer())
          ...     sess.run(step)
          ...     float(sess.run(w))
          1.5
        """
        # By name, since subclasses of users take them so.
        grads_and_vars = self.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss,
        )  # fmt: skip
        if all(grad is None for grad, _ in grads_and_vars):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not"
                f" support gradients: {loss} depends on none of"
                f" {[str(v) for _, v in grads_and_vars]}, or only by such ops"
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(
        self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP,
        aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:  # fmt: skip
        """Adds the nodes that compute the gradients of ``loss``; arguments as ``minimize``.

        Returns:
          A list of (gradient, variable); a gradient is a Tensor, an IndexedSlices, or None.

        Raises:
          ValueError: no variables, or an argument that is not allowed.
          NotImplementedError: an element of ``var_list`` that is no variable.
        """
        graph = scopes.get_default_graph()
        if graph.executes:
            if not callable(loss):
                raise RuntimeError(
                    "`loss` passed to Optimizer.compute_gradients should be a function when eager"
                    " execution is enabled."
                )
            wanted = None if var_list is None else _flat_variables(var_list)
            found, made = graph.loss_gradients(loss, wanted, grad_loss)
            pairs = list(zip(found, made, strict=True))
            self._assert_valid_dtypes([v for g, v in pairs if g is not None])
            return pairs
        if callable(loss):
            loss = loss()
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP,"
                f" Optimizer.GATE_GRAPH (0, 1, 2); found {gate_gradients!r}"
            )
        if isinstance(loss, list | tuple):
            raise AttributeError(
                f"{type(loss).__name__!r} object has no attribute 'dtype': the loss is one tensor;"
                f" found {len(loss)} in a {type(loss).__name__}. To minimize their sum, give"
                " tf.add_n(losses)"
            )
        self._assert_valid_dtypes([loss] if grad_loss is None else [loss, grad_loss])
        if var_list is None:
            graph = scopes.get_default_graph()
            variables = [
                *graph.get_collection(GraphKeys.TRAINABLE_VARIABLES),
                *graph.get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES),
            ]
        else:
            variables = _flat_variables(var_list)
        if not variables:
            raise ValueError(
                "No variables to optimize: var_list is empty"
                if var_list is not None
                else "No variables to optimize: the graph has no trainable variables"
            )
        grads = gradients.gradients(
            loss, [_get_processor(v).target() for v in variables], grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )  # fmt: skip
        if gate_gradients == self.GATE_GRAPH:
            grads = control.tuple_(grads)
        pairs = list(zip(grads, variables, strict=True))
        self._assert_valid_dtypes(
            [v for g, v in pairs if g is not None and v.dtype is not dtypes.resource]
        )
        return pairs

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Any]], global_step: Any = None,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Adds the nodes that update variables by gradients.

        Args:
          grads_and_vars: (gradient, variable) pairs; a gradient is a Tensor, an IndexedSlices or
            None (that variable is left alone).
          global_step: variable to count up after the updates.
          name: name of the returned op; default the optimizer's.

        Returns:
          The op that does the updates (and counts the step).

        Raises:
          TypeError: a gradient that cannot become a tensor.
          ValueError: no pairs, or no gradient at all.
        """
        pairs = [(_as_gradient(g), v, _get_processor(v)) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided: grads_and_vars is empty")
        var_list = [v for g, v, _ in pairs if g is not None]
        if not var_list:
            raise ValueError(
                f"No gradients provided for any variable: {[str(v) for _, v, _ in pairs]}"
            )
        if modes.standing.modes and modes.has_strategy():
            return self._apply_in_replica(pairs, global_step, name)
        if scopes.get_default_graph().executes:  # in no function, and nothing is ordered
            self._create_slots(var_list)
            tracked.attached()
        else:
            with init_scope():
                self._create_slots(var_list)
        with scopes.name_scope(name, self._name) as scope:
            self._prepare()
            update_ops = []
            for grad, var, processor in pairs:
                if grad is None:
                    continue
                with _around_update(var):
                    update_ops.append(processor.update_op(self, grad))
            if global_step is None:
                train_op = self._finish(update_ops, scope)
            else:
                train_op = self._count_after(self._finish(update_ops, "update"), global_step, scope)
        if scopes.get_default_graph().executes:
            return None  # it has run
        if isinstance(train_op, Tensor):
            train_op = train_op.op
        collected = scopes.get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
        if train_op not in collected:
            collected.append(train_op)
        return train_op

    def _apply_in_replica(self, pairs: Sequence[Any], global_step: Any, name: str | None) -> Any:
        """As ``apply_gradients``, with those of the other replicas of a ``tf.distribute`` scope."""
        replica = modes.replica()
        if replica is None:
            raise RuntimeError(
                "apply_gradients and minimize are for replicas: in the scope of a strategy, call"
                " them in a function that strategy.experimental_run_v2 runs"
            )

        def merged(strategy: Any, grads_and_vars: Any) -> Any:
            return apply_distributed(
                strategy, self, grads_and_vars, _get_processor, global_step, name
            )

        return replica.merge_call(merged, ([(g, v) for g, v, _ in pairs if g is not None],))

    @staticmethod
    def _count_after(updates: Any, global_step: Any, name: str) -> Any:
        with scopes.control_dependencies([updates]), scopes.colocate_with(global_step):
            if isinstance(global_step, ResourceVariable):
                one = convert_to_tensor(1, global_step.dtype)
                return make("AssignAddVariableOp", global_step.handle, one, name=name)
            return assign_add(global_step, 1, name=name)

    # ---- what subclasses override ------------------------------------------------------------

    def _valid_dtypes(self) -> set[Any]:
        """Types that losses and variables may have."""
        return set(_TRAINABLE_TYPES)

    def _assert_valid_dtypes(self, tensors: Sequence[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                allowed = sorted(d.name for d in valid)
                raise ValueError(f"Invalid type {dtype.name} for {tensor.name}; allowed: {allowed}")

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Makes the slots that the variables need."""

    def _prepare(self) -> None:
        """Makes tensors of hyper-parameters; called in the optimizer's name scope."""

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        """Adds the update of a reference variable by a dense gradient; returns the op."""
        raise NotImplementedError(f"{type(self).__name__} has no dense update (_apply_dense)")

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        """Adds the update of the resource variable ``handle`` by a dense gradient."""
        raise NotImplementedError(
            f"{type(self).__name__} has no dense update of resource variables"
            " (_resource_apply_dense)"
        )

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        """The sparse update of a reference variable, indices maybe repeated: sums those first."""
        summed, unique = _deduplicate_indexed_slices(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(summed, unique, grad.dense_shape), var)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        """Adds the update of the rows ``grad.indices`` (all different) of a reference variable."""
        raise NotImplementedError(f"{type(self).__name__} has no sparse update (_apply_sparse)")

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Any, indices: Tensor
    ) -> Any:
        """The sparse update of a resource variable, indices maybe repeated: sums those first."""
        summed, unique = _deduplicate_indexed_slices(grad, indices)
        return self._resource_apply_sparse(summed, handle, unique)

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        """Adds the update of the rows ``indices`` (all different) of a resource variable."""
        raise NotImplementedError(
            f"{type(self).__name__} has no sparse update of resource variables"
            " (_resource_apply_sparse)"
        )

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """Adds what follows the updates; returns the op, called ``name_scope``, that has it all."""
        return control.group(*update_ops, name=name_scope)

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param


@contextmanager
def _in_scope_of(var: Any) -> Iterator[None]:
    with scopes.name_scope(f"update_{var.op.name}"), scopes.colocate_with(var):
        yield


def _around_update(var: Any) -> Any:
    """The scope of an update; where operations run as they are called it is a name alone."""
    graph = scopes.get_default_graph()
    if graph.executes:
        return graph.name_scope(f"update_{var.op.name}")
    return _in_scope_of(var)


def _as_gradient(grad: Any) -> Any:
    if grad is None or isinstance(grad, Tensor):
        return grad
    try:
        return indexed_slices.convert_to_tensor_or_indexed_slices(grad)
    except TypeError as error:
        raise TypeError(
            f"a gradient must be a Tensor, an IndexedSlices or None; found {grad!r}"
        ) from error


def as_operation(update: Any) -> Operation:
    """The op of an update: reference updates give a tensor, resource updates the op itself."""
    return update.op if isinstance(update, Tensor) else update
