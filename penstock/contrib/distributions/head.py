"""A head of ``tf.contrib.learn`` that fits a distribution of labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.contrib.learn.heads import Head, RegressionHead
from penstock.contrib.learn.model_fn import PredictionKey
from penstock.foundation.graph.scopes import name_scope
from penstock.ops.array import join, reshape, squeeze


class DistributionRegressionHead(RegressionHead):
    """A head whose loss is how unlikely labels are in the distribution made of logits."""

    loss_name = "distribution_loss"

    def __init__(
        self,
        make_distribution_fn: Callable[[Any], Any],
        logits_dimension: int,
        label_name: str | None,
        weight_column_name: str | None,
        name: str,
    ) -> None:
        super().__init__(logits_dimension, label_name, weight_column_name, name)
        self._make_distribution_fn = make_distribution_fn
        self._distributions: dict[Any, Any] = {}

    @property
    def distributions(self) -> dict[Any, Any]:
        """The distributions that were made, by their logits."""
        return self._distributions

    def distribution(self, logits: Any, name: str | None = None) -> Any:
        """The distribution of logits; the same one at each call for the same logits."""
        with name_scope(name, "distribution", [logits]):
            made = self._distributions.get(logits)
            if made is None:
                made = self._make_distribution_fn(logits)
                self._distributions[logits] = made
            return made

    def _predictions(self, logits: Any) -> dict[str, Any]:
        if self.logits_dimension == 1:
            logits = squeeze.squeeze(logits, axis=[1], name="scores")
        return {PredictionKey.SCORES: self.distribution(logits).mean()}

    def _losses(self, logits: Any, labels: Any, name: str) -> Any:
        made = self.distribution(logits)
        # TensorFlow's: events in one dim; of scalars [n], beside logits [n, 1], all pairs count.
        dims = join.concat([[-1], made.event_shape_tensor()], 0)
        labels = reshape.reshape(labels, dims)
        return -made.log_prob(labels, name=name)


def estimator_head_distribution_regression(
    make_distribution_fn: Callable[[Any], Any],
    label_dimension: int = 1,
    logits_dimension: int | None = None,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """A head of ``tf.contrib.learn`` that fits a distribution of labels.

    The loss is the mean of ``-log_prob(labels)``; the predictions are means.

    Args:
      make_distribution_fn: from logits ``[batch, logits_dimension]`` to a distribution of labels.
      label_dimension: how many numbers a label has.
      logits_dimension: how many logits an example has; as many as a label has by default.
      label_name: which of several labels.
      weight_column_name: the feature that weights examples.
      enable_centered_bias: refused: there is none.
      head_name: its scope.

    Returns:
      A head.

    Raises:
      NotImplementedError: ``enable_centered_bias``.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> head = ds.estimator_head_distribution_regression(lambda logits: ds.Normal(logits, 1.))
      >>> head.logits_dimension
      1
    """
    if enable_centered_bias:
        raise NotImplementedError(
            "estimator_head_distribution_regression: enable_centered_bias is not there"
        )
    return DistributionRegressionHead(
        make_distribution_fn,
        label_dimension if logits_dimension is None else logits_dimension,
        label_name,
        weight_column_name,
        head_name or "regression_head",
    )
