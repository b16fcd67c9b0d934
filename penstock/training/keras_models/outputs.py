"""What ``compile`` makes for each output: its target, weights, loss and metrics."""

from __future__ import annotations

import inspect
from typing import Any

from penstock.foundation.graph import scopes
from penstock.library.layer_base import settings, tensors
from penstock.ops.array import constant, fill
from penstock.training.keras_models import losses, metric_names, metrics
from penstock.training.keras_models.weighting import Reduction, masked

_SPARSE = (losses.sparse_categorical_crossentropy,)


class Output:
    """One output in training.

    Args:
      name: its name.
      tensor: the output.
      loss: name, function, object or None: no loss.
      weight: how much the loss counts.
      several: whether the model has other outputs.
      target: a tensor that stands in the place of what is fed, or None.
      weighted_by: "temporal": a weight for each step of a sample; None: one for each sample.
    """

    def __init__(
        self, name: str, tensor: Any, loss: Any, weight: float, several: bool, target: Any = None,
        weighted_by: str | None = None,
    ) -> None:  # fmt: skip
        self.name, self.tensor, self.weight, self.several = name, tensor, weight, several
        self.loss = _loss_object(loss)
        self.weighted_by = weighted_by
        # A metric, its name, and whether weights of samples count in it.
        self.metrics: list[tuple[str, Any, bool]] = []
        self.target: Any = target
        self.fed = target is None
        self.sample_weight: Any = None
        if self.loss is not None:
            self._place()

    @property
    def trained(self) -> bool:
        """Whether the output has a loss."""
        return self.loss is not None

    @property
    def is_sparse(self) -> bool:
        """Whether targets are numbers of classes."""
        return getattr(self.loss, "function", None) in _SPARSE

    def _place(self) -> None:
        if scopes.get_default_graph().executes:
            return
        rank = self.tensor.shape.ndims
        kind = self.tensor.dtype if not self.is_sparse else settings.floatx()
        shape = None if rank is None else [None] * rank
        if self.fed:
            self.target = constant.placeholder(kind, shape, name=f"{self.name}_target")
        # Without weights there is a single one, for all samples.
        dims = 2 if self.weighted_by == "temporal" else 1
        self.sample_weight = constant.placeholder_with_default(
            fill.ones([1] * dims, settings.floatx()), [None] * dims,
            name=f"{self.name}_sample_weights",
        )  # fmt: skip

    def weighted_loss(self) -> Any:
        """The loss's tensor."""
        with scopes.name_scope(f"{self.name}_loss"):
            return self.loss_of(self.target, self.tensor, self.sample_weight)

    def loss_of(self, target: Any, made: Any, weights: Any) -> Any:
        """The loss of what the output was for a batch; what is masked counts as zero."""
        mask = tensors.mask_of(made)
        return self.loss(target, made, sample_weight=masked(weights, mask, made.dtype))

    def update(self, number: int, target: Any, made: Any, weights: Any) -> Any:
        """Takes a batch into the metric of that number; what is masked does not count."""
        _, metric, is_weighted = self.metrics[number]
        found = masked(weights if is_weighted else None, tensors.mask_of(made), made.dtype)
        given = {} if found is None else {"sample_weight": found}
        return metric.update_state(target, made, **given)

    def add_metrics(self, asked: list[Any], weighted: bool = False) -> None:
        """Takes metrics in, each a name, a function or an object; ``weighted``: by samples."""
        for one in asked:
            name, metric = self._metric(one)
            name = f"weighted_{name}" if weighted else name
            name = f"{self.name}_{name}" if self.several else name
            self.metrics.append((name, metric, weighted))

    def _metric(self, asked: Any) -> tuple[str, Any]:
        if isinstance(asked, metrics.Metric):
            return asked.name, asked
        kind = {"accuracy": "acc", "acc": "acc", "crossentropy": "ce", "ce": "ce"}.get(asked) if (
            isinstance(asked, str)
        ) else None  # fmt: skip
        function = metric_names.get(asked) if kind is None else self._by_shape(kind)
        if isinstance(function, metrics.Metric):
            return function.name, function
        name = kind or getattr(function, "__name__", None) or type(function).__name__.lower()
        return name, metrics.MeanMetricWrapper(function, name=name)

    def _by_shape(self, kind: str) -> Any:
        """The accuracy or cross entropy that fits the output and the loss."""
        number = 2
        one = self.tensor.shape.ndims and self.tensor.shape.as_list()[-1] == 1
        if one or getattr(self.loss, "function", None) is losses.binary_crossentropy:
            number = 0
        elif self.is_sparse:
            number = 1
        table = {
            "acc": (metrics.binary_accuracy, metrics.sparse_categorical_accuracy,
                    metrics.categorical_accuracy),
            "ce": (losses.binary_crossentropy, losses.sparse_categorical_crossentropy,
                   losses.categorical_crossentropy),
        }  # fmt: skip
        return table[kind][number]


def _loss_object(loss: Any) -> Any:
    found = losses.get(loss)
    if found is None or isinstance(found, losses.Loss):
        return found
    if inspect.isclass(found):
        return found()
    return losses.FunctionLoss(found, Reduction.SUM_OVER_BATCH_SIZE)


def by_output(given: Any, names: list[str], what: str, lacking: Any = None) -> list[Any]:
    """What was given for each output: one for all, a list, or a dict by name.

    Raises:
      ValueError: a dict has other names, or a list another length.
    """
    if isinstance(given, dict):
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise ValueError(
                f"Unknown entries in {what} dictionary: {unknown}. Only expected following keys:"
                f" {names}"
            )
        return [given.get(name, lacking) for name in names]
    if isinstance(given, list | tuple):
        if len(given) != len(names):
            raise ValueError(
                f"When passing a list as {what}, it should have one entry per model outputs."
                f" The model has {len(names)} outputs, but you passed {what}={given}"
            )
        return list(given)
    return [given] * len(names)


def metrics_by_output(given: Any, names: list[str]) -> list[list[Any]]:
    """The metrics of each output, from a list for all, a list of lists or a dict."""
    if not given:
        return [[] for _ in names]
    if not isinstance(given, dict | list | tuple):
        raise TypeError(
            "Type of `metrics` argument not understood. Expected a list or dictionary, found:"
            f" {given!r}"
        )
    if isinstance(given, dict):
        found = by_output(given, names, "metrics", [])
        return [list(x) if isinstance(x, list | tuple) else [x] for x in found]
    if any(isinstance(one, list | tuple) for one in given):
        return [list(x) if isinstance(x, list | tuple) else [x] for x in given]
    return [list(given) for _ in names]


def weighting_modes(given: Any, names: list[str]) -> list[str | None]:
    """For each output whether samples or their steps have weights.

    Raises:
      ValueError: it is neither None, "samplewise" nor "temporal".
    """
    found = by_output(given, names, "sample_weight_mode")
    for one in found:
        if one not in (None, "samplewise", "temporal"):
            raise ValueError(
                f"sample_weight_mode should be None, 'samplewise' or 'temporal'; found {one!r}"
            )
    return found
