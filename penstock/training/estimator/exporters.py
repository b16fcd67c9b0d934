"""``tf.estimator.Exporter`` and kin: which checkpoints of ``train_and_evaluate`` are exported."""

from __future__ import annotations

import abc
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from penstock.foundation.base import errors
from penstock.foundation.formats import files, gfile
from penstock.storage.summary.iterator import summary_iterator
from penstock.training.estimator.calling import arguments_of
from penstock.training.estimator.estimator_spec import LOSS_METRIC_KEY

_log = logging.getLogger("penstock")
_COMPARED = {"best_eval_result", "current_eval_result"}


class Exporter(abc.ABC):
    """Exports a model after an evaluation."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the folder below ``export`` of the model's directory."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports a checkpoint, or does not.

        Args:
          estimator: the estimator.
          export_path: the folder for exports.
          checkpoint_path: the checkpoint that was evaluated.
          eval_result: its metrics by name.
          is_the_final_export: whether training is done.

        Returns:
          The folder that was made, or None.
        """


class _SavedModelExporter(Exporter):
    """What the exporters share: the arguments of ``export_saved_model``, and dropping old ones."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, Any] | None,
        as_text: bool,
        exports_to_keep: int | None,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}"
            )
        self._name, self._receiver_fn = name, serving_input_receiver_fn
        self._assets_extra, self._as_text = assets_extra, as_text
        self._exports_to_keep = exports_to_keep

    @property
    def name(self) -> str:
        """The name of the folder below ``export`` of the model's directory."""
        return self._name

    def _export(self, estimator: Any, export_path: str, checkpoint_path: str) -> Any:
        made = estimator.export_saved_model(
            export_path, self._receiver_fn, self._assets_extra, self._as_text, checkpoint_path
        )
        if self._exports_to_keep is not None:
            _drop_old(export_path, self._exports_to_keep)
        return made


class FinalExporter(_SavedModelExporter):
    """Exports the model once, when training is done.

    Args:
      name: the name of the folder below ``export`` of the model's directory.
      serving_input_receiver_fn: returns a ``ServingInputReceiver``.
      assets_extra: files to copy into ``assets.extra``, by their path there.
      as_text: whether ``saved_model.pbtxt`` is written.

    Example:
      ``tf.estimator.FinalExporter("final", receive)`` in the ``exporters`` of an ``EvalSpec``
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, None)

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports where training is done; arguments and result are those of ``Exporter``."""
        if not is_the_final_export:
            return None
        _log.info("Performing the final export in the end of training.")
        return self._export(estimator, export_path, checkpoint_path)


class LatestExporter(_SavedModelExporter):
    """Exports the model after each evaluation, and keeps the last exports.

    Args:
      name, serving_input_receiver_fn, assets_extra, as_text: as of ``FinalExporter``.
      exports_to_keep: how many are kept; None keeps all.

    Raises:
      ValueError: ``exports_to_keep`` is not above 0.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports; arguments and result are those of ``Exporter``."""
        return self._export(estimator, export_path, checkpoint_path)


def loss_smaller(best_eval_result: Any, current_eval_result: Any) -> bool:
    """Whether an evaluation's loss is below the best one's.

    Args:
      best_eval_result, current_eval_result: metrics by name.

    Raises:
      ValueError: one has no loss.
    """
    for what, result in (
        ("best_eval_result", best_eval_result),
        ("current_eval_result", current_eval_result),
    ):
        if not result or LOSS_METRIC_KEY not in result:
            raise ValueError(f"{what} cannot be empty or no loss is found in it. Found {result}")
    return bool(best_eval_result[LOSS_METRIC_KEY] > current_eval_result[LOSS_METRIC_KEY])


class BestExporter(_SavedModelExporter):
    """Exports the model where it is better than any before.

    Args:
      name, serving_input_receiver_fn, assets_extra, as_text: as of ``FinalExporter``.
      event_file_pattern: event files, below the model's directory, in which evaluations of
        earlier runs are; None forgets them.
      compare_fn: ``f(best_eval_result, current_eval_result)``, whether the second one is better.
      exports_to_keep: how many are kept; None keeps all.

    Raises:
      ValueError: ``compare_fn`` is None or takes other arguments, or ``exports_to_keep`` is not
        above 0.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = loss_smaller,
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        found = set(arguments_of(compare_fn))
        for needed in sorted(_COMPARED - found):
            raise ValueError(f"compare_fn ({compare_fn}) must include {needed} argument.")
        if found - _COMPARED:
            raise ValueError(
                f"compare_fn ({compare_fn}) has following not expected args:"
                f" {sorted(found - _COMPARED)}"
            )
        self._compare_fn, self._event_file_pattern = compare_fn, event_file_pattern
        self._model_dir: str | None = None
        self._best: Any = None

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports the best; arguments and result are those of ``Exporter``."""
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            _log.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            pattern = os.path.join(estimator.model_dir, self._event_file_pattern)
            self._best = self._best_of_events(pattern)
        if self._best is not None and not self._compare_fn(
            best_eval_result=self._best, current_eval_result=eval_result
        ):
            return None
        _log.info("Performing best model export.")
        self._best = eval_result
        return self._export(estimator, export_path, checkpoint_path)

    def _best_of_events(self, pattern: str) -> Any:
        best = None
        for path in files.glob(pattern):
            for event in summary_iterator(path):
                values = event.summary.value
                found = {v.tag: v.simple_value for v in values if v.HasField("simple_value")}
                if found and (best is None or self._compare_fn(best, found)):
                    best = found
        return best


def _drop_old(folder: str, keep: int) -> None:
    """Deletes all exports but the newest; they are called by ten digits."""
    if not files.exists(folder):
        return
    names = [n.rstrip("/") for n in files.listdir(folder)]
    versions = sorted(n for n in names if len(n) == 10 and n.isdigit())
    for name in versions[:-keep]:
        path = os.path.join(folder, name)
        try:
            gfile.DeleteRecursively(path)
        except errors.NotFoundError as error:
            _log.warning("Can not delete %s recursively: %s", path, error)
