"""``tf.contrib.learn.Experiment``: an estimator with what it is trained and evaluated on."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from penstock.contrib.learn.monitors import ValidationMonitor
from penstock.storage.checkpoint.management import latest_checkpoint
from penstock.training.estimator import estimator as core

_log = logging.getLogger("penstock")


class ExportStrategy(NamedTuple):
    """How an estimator is exported after an evaluation."""

    name: str
    export_fn: Callable[..., Any]
    strip_default_attrs: bool | None = None

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: Any = None, eval_result: Any = None
    ) -> Any:
        """Calls ``export_fn``.

        Args:
          estimator: what is exported.
          export_path: where to.
          checkpoint_path: the checkpoint; default the latest.
          eval_result: what the evaluation found.
        """
        return self.export_fn(estimator, export_path, checkpoint_path=checkpoint_path)


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """A strategy that writes a SavedModel.

    Args:
      serving_input_fn: returns ``InputFnOps``, for an estimator of ``tf.estimator`` a
        ``ServingInputReceiver``.
      default_output_alternative_key: which of the model's alternatives is served by default.
      assets_extra: files to copy into ``assets.extra``, by their path there.
      as_text: whether ``saved_model.pbtxt`` is written.
      exports_to_keep: accepted for TensorFlow's sake: older exports stay.
      strip_default_attrs: accepted for TensorFlow's sake.
    """

    def export_fn(estimator: Any, base: str, checkpoint_path: Any = None) -> Any:
        given = {"assets_extra": assets_extra, "as_text": as_text}
        if not isinstance(estimator, core.Estimator):
            given["default_output_alternative_key"] = default_output_alternative_key
        return estimator.export_savedmodel(
            base, serving_input_fn, checkpoint_path=checkpoint_path, **given
        )

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


class Experiment:
    """Trains and evaluates an estimator, by the role of this process.

    Args:
      estimator: one of ``tf.contrib.learn`` or of ``tf.estimator``.
      train_input_fn, eval_input_fn: inputs.
      eval_metrics: ``MetricSpec`` by name; for estimators of ``tf.contrib.learn``.
      train_steps: the global step to train up to; None until the input ends.
      eval_steps: how many batches an evaluation has; None until the input ends.
      train_monitors: monitors and hooks of training.
      eval_hooks: hooks of evaluations.
      min_eval_frequency: after how many steps ``train_and_evaluate`` evaluates as it trains; None
        and 0 leave it to the end.
      eval_delay_secs: how long ``evaluate`` waits before it begins.
      continuous_eval_throttle_secs: the least time between two evaluations.
      export_strategies: what is exported after the last evaluation.
      local_eval_frequency, delay_workers_by_global_step, train_steps_per_iteration,
        checkpoint_and_export, saving_listeners, check_interval_secs: accepted for TensorFlow's
        sake.

    Raises:
      ValueError: metrics for an estimator of ``tf.estimator``.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Callable[[], Any],
        eval_input_fn: Callable[[], Any],
        eval_metrics: Any = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Sequence[Any] | None = None,
        eval_hooks: Sequence[Any] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Any = None,
        check_interval_secs: float = 5,
    ) -> None:
        self._is_core = isinstance(estimator, core.Estimator)
        if self._is_core and eval_metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`.")
        self.estimator, self.train_steps, self.eval_steps = estimator, train_steps, eval_steps
        self.eval_metrics = eval_metrics
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._monitors, self._eval_hooks = list(train_monitors or []), list(eval_hooks or [])
        self._delay, self._throttle = eval_delay_secs, continuous_eval_throttle_secs
        self._frequency = min_eval_frequency
        self._strategies = export_strategies or []

    def extend_train_hooks(self, additional_hooks: Sequence[Any]) -> None:
        """Adds hooks to those of training.

        Args:
          additional_hooks: hooks.
        """
        self._monitors.extend(additional_hooks)

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains up to ``train_steps``.

        Args:
          delay_secs: how long to wait first; None for 5 s for each worker before this one.

        Returns:
          The estimator.
        """
        if delay_secs is None:
            delay_secs = min(60, self.estimator.config.task_id * 5)
        time.sleep(delay_secs)
        return self._fit(self._monitors)

    def _fit(self, monitors: list[Any]) -> Any:
        if self._is_core:
            return self.estimator.train(
                self._train_input_fn, hooks=monitors, max_steps=self.train_steps
            )
        return self.estimator.fit(
            input_fn=self._train_input_fn, max_steps=self.train_steps, monitors=monitors
        )

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates the latest checkpoint.

        Args:
          delay_secs: how long to wait first; None for ``eval_delay_secs``.
          name: of the evaluation.

        Returns:
          The metrics by name.
        """
        time.sleep(self._delay if delay_secs is None else delay_secs)
        return self._evaluated(self._eval_input_fn, name)

    def _evaluated(self, input_fn: Any, name: str | None) -> Any:
        more = {} if self._is_core else {"metrics": self.eval_metrics}
        return self.estimator.evaluate(
            input_fn=input_fn, steps=self.eval_steps, hooks=self._eval_hooks, name=name, **more
        )

    def train_and_evaluate(self) -> tuple[Any, list[Any]]:
        """Trains to the end, evaluating on the way if wanted, and then evaluates and exports.

        Returns:
          The metrics by name, and what each export strategy returned.
        """
        monitors = list(self._monitors)
        if self._frequency and not self._is_core:
            monitors.append(
                ValidationMonitor(
                    input_fn=self._eval_input_fn, eval_steps=self.eval_steps,
                    metrics=self.eval_metrics, every_n_steps=self._frequency,
                    hooks=self._eval_hooks, name="one_pass",
                )
            )  # fmt: skip
        self._fit(monitors)
        found = self._evaluated(self._eval_input_fn, "one_pass")
        return found, self._exported(found)

    def _exported(self, found: Any) -> list[Any]:
        given = self._strategies() if callable(self._strategies) else self._strategies
        listed = [given] if isinstance(given, ExportStrategy) else list(given)
        base = os.path.join(self.estimator.model_dir, "export")
        return [
            each.export(self.estimator, os.path.join(base, each.name), eval_result=found)
            for each in listed
        ]

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Callable[[Any], bool] | None = None,
        name: str = "continuous",
    ) -> Any:
        """Evaluates each new checkpoint until training has ended.

        Args:
          delay_secs: how long to wait first; None for ``eval_delay_secs``.
          throttle_delay_secs: the least time between two evaluations.
          evaluate_checkpoint_only_once: whether a checkpoint is evaluated once.
          continuous_eval_predicate_fn: of the last metrics; false ends it.
          name: of the evaluation.

        Returns:
          The last metrics.
        """
        time.sleep(self._delay if delay_secs is None else delay_secs)
        pause = self._throttle if throttle_delay_secs is None else throttle_delay_secs
        seen, found = None, None
        while continuous_eval_predicate_fn is None or continuous_eval_predicate_fn(found):
            began = time.monotonic()
            path = latest_checkpoint(self.estimator.model_dir)
            if path is not None and not (evaluate_checkpoint_only_once and path == seen):
                seen, found = path, self._evaluated(self._eval_input_fn, name)
                if self.train_steps and found["global_step"] >= self.train_steps:
                    break
            time.sleep(max(0.0, pause - (time.monotonic() - began)))
        return found

    def test(self) -> Any:
        """Trains for a step and evaluates: whether everything fits.

        Returns:
          The metrics by name.
        """
        if self._is_core:
            self.estimator.train(self._train_input_fn, hooks=self._monitors, steps=1)
        else:
            self.estimator.fit(input_fn=self._train_input_fn, steps=1, monitors=self._monitors)
        return self._evaluated(self._eval_input_fn, "one_pass")
