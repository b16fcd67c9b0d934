"""Optimizers outside of the graph: a function of one vector, its gradient, and constraints.

The variables lie one after another in the vector.  Source for the calls: SciPy's ``minimize``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from penstock.foundation.graph.scopes import get_default_session
from penstock.library.autodiff import gradients as gradients_ops
from penstock.library.ragged_tensors.dispatched import concat
from penstock.library.variables.listing import trainable_variables
from penstock.ops.array.constant import placeholder
from penstock.ops.array.fill import zeros
from penstock.ops.array.reshape import reshape

_LOG = logging.getLogger("penstock")


class ExternalOptimizerInterface:
    """Base of optimizers that are not part of the graph.

    Args:
      loss: a scalar to minimize.
      var_list: the variables; default all trainable ones.
      equalities: scalars that must be 0.
      inequalities: scalars that must not be below 0.
      var_to_bounds: from variables to (least, greatest) values, numbers or arrays.
      **optimizer_kwargs: arguments of the optimizer.
    """

    def __init__(
        self, loss: Any, var_list: Sequence[Any] | None = None,
        equalities: Sequence[Any] | None = None, inequalities: Sequence[Any] | None = None,
        var_to_bounds: Mapping[Any, tuple[Any, Any]] | None = None, **optimizer_kwargs: Any,
    ) -> None:  # fmt: skip
        self._loss = loss
        self._equalities, self._inequalities = list(equalities or []), list(inequalities or [])
        self._vars = list(trainable_variables() if var_list is None else var_list)
        self._packed_bounds = None if var_to_bounds is None else self._bounds(var_to_bounds)
        self._update_placeholders = [
            placeholder(var.dtype.base_dtype, var.get_shape()) for var in self._vars
        ]
        self._var_updates = [
            var.assign(reshape(fed, [d.value for d in var.get_shape().dims]))
            for var, fed in zip(self._vars, self._update_placeholders, strict=True)
        ]
        self._loss_grads = self._gradients(loss)
        self._equality_grads = [self._gradients(e) for e in self._equalities]
        self._inequality_grads = [self._gradients(e) for e in self._inequalities]
        self.optimizer_kwargs = optimizer_kwargs

    def _sizes(self) -> list[int]:
        return [int(np.prod(var.get_shape().as_list())) for var in self._vars]

    def _bounds(self, given: Mapping[Any, tuple[Any, Any]]) -> list[tuple[float, float]]:
        packed = []
        for var in self._vars:
            dims = var.get_shape().as_list()
            low, high = given.get(var, (-np.inf, np.inf))
            lows, highs = np.broadcast_to(low, dims), np.broadcast_to(high, dims)
            packed += list(zip(lows.ravel().tolist(), highs.ravel().tolist(), strict=True))
        return packed

    def _gradients(self, value: Any) -> Any:
        """The gradient of a scalar, as one vector."""
        grads = gradients_ops.gradients(value, self._vars)
        flat = [
            zeros([size], var.dtype.base_dtype) if g is None else reshape(g, [-1])
            for g, var, size in zip(grads, self._vars, self._sizes(), strict=True)
        ]
        return flat[0] if len(flat) == 1 else concat(flat, 0)

    def _split(self, vector: np.ndarray) -> list[np.ndarray]:
        ends = np.cumsum(self._sizes())
        return [
            part.reshape(var.get_shape().as_list())
            for part, var in zip(np.split(vector, ends[:-1]), self._vars, strict=True)
        ]

    def minimize(
        self, session: Any = None, feed_dict: Any = None, fetches: Sequence[Any] | None = None,
        step_callback: Callable[[np.ndarray], Any] | None = None,
        loss_callback: Callable[..., Any] | None = None, **run_kwargs: Any,
    ) -> None:  # fmt: skip
        """Minimizes the loss; the variables then have the values found.

        Args:
          session: a session; default the default session.
          feed_dict: what the steps are fed.
          fetches: tensors whose values ``loss_callback`` gets at each evaluation.
          step_callback: called with the vector at each step.
          loss_callback: called with the values of ``fetches``.
          **run_kwargs: arguments of ``Session.run``.
        """
        session = session or get_default_session()
        feed = dict(feed_dict or {})
        fetches = list(fetches or [])
        callback = loss_callback or (lambda *values: None)
        start = np.concatenate([np.ravel(v) for v in session.run(self._vars, feed)])

        def evaluator(tensors: list[Any], extra: list[Any], call: Any) -> Any:
            def evaluate(vector: np.ndarray) -> list[Any]:
                values = dict(zip(self._vars, self._split(vector), strict=True))
                found = session.run(tensors + extra, {**feed, **values}, **run_kwargs)
                call(*found[len(tensors) :])
                return list(found[: len(tensors)])

            return evaluate

        def silent(*_: Any) -> None: ...

        result = self._minimize(
            initial_val=start,
            loss_grad_func=evaluator([self._loss, self._loss_grads], fetches, callback),
            equality_funcs=[evaluator([e], [], silent) for e in self._equalities],
            equality_grad_funcs=[evaluator([g], [], silent) for g in self._equality_grads],
            inequality_funcs=[evaluator([e], [], silent) for e in self._inequalities],
            inequality_grad_funcs=[evaluator([g], [], silent) for g in self._inequality_grads],
            packed_bounds=self._packed_bounds,
            step_callback=step_callback,
            optimizer_kwargs=self.optimizer_kwargs,
        )
        fed = dict(zip(self._update_placeholders, self._split(result), strict=True))
        session.run(self._var_updates, feed_dict=fed, **run_kwargs)

    def _minimize(self, *args: Any, **given: Any) -> np.ndarray:
        raise NotImplementedError("To use ExternalOptimizerInterface, override _minimize.")


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Optimizers of ``scipy.optimize.minimize``; arguments as the base class.

    ``method`` among the arguments names one: ``"L-BFGS-B"``, or with constraints ``"SLSQP"``, is
    the default.

    Raises:
      ImportError: when it runs, where SciPy is not installed.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self, *, initial_val: np.ndarray, loss_grad_func: Any, equality_funcs: Sequence[Any],
        equality_grad_funcs: Sequence[Any], inequality_funcs: Sequence[Any],
        inequality_grad_funcs: Sequence[Any], packed_bounds: Any, step_callback: Any,
        optimizer_kwargs: Mapping[str, Any], **_: Any,
    ) -> np.ndarray:  # fmt: skip
        from scipy import optimize  # optional: not a dependency

        def wide(evaluate: Any) -> Callable[[np.ndarray], Any]:
            return lambda x: np.atleast_1d(np.asarray(evaluate(x)[0], np.float64))

        def loss_and_gradient(x: np.ndarray) -> tuple[float, np.ndarray]:
            loss, gradient = loss_grad_func(x)
            return float(np.squeeze(loss)), np.asarray(gradient, np.float64)

        kinds = (
            ("eq", equality_funcs, equality_grad_funcs),
            ("ineq", inequality_funcs, inequality_grad_funcs),
        )
        constraints = [
            {"type": kind, "fun": wide(function), "jac": wide(gradient)}
            for kind, functions, gradients in kinds
            for function, gradient in zip(functions, gradients, strict=True)
        ]
        kwargs = dict(optimizer_kwargs)
        method = kwargs.pop("method", "SLSQP" if constraints else self._DEFAULT_METHOD)
        if constraints:
            kwargs["constraints"] = constraints
        if packed_bounds is not None:
            kwargs["bounds"] = packed_bounds
        result = optimize.minimize(
            loss_and_gradient, initial_val.astype(np.float64), jac=True, method=method,
            callback=step_callback,
            **kwargs,
        )  # fmt: skip
        _LOG.info("Optimization terminated: %s; loss %s", result.message, result.fun)
        found: np.ndarray = np.asarray(result.x)
        return found
