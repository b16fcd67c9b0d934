"""``saved_model.model_utils``: what estimators export in each mode, and into which folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.storage.saved_model import (
    signature_constants,
    signature_def_utils,
    supervised,
    tag_constants,
)
from penstock.training.estimator import exporting
from penstock.training.estimator.export_outputs import (
    ClassificationOutput as ClassificationOutput,
    EvalOutput as EvalOutput,
    ExportOutput as ExportOutput,
    PredictOutput as PredictOutput,
    RegressionOutput as RegressionOutput,
    SupervisedOutput as SupervisedOutput,
    TrainOutput as TrainOutput,
    with_default_output,
)
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.estimator.receivers import (
    SINGLE_FEATURE as SINGLE_FEATURE_DEFAULT_NAME,
    SINGLE_LABEL as SINGLE_LABEL_DEFAULT_NAME,
    SINGLE_RECEIVER as SINGLE_RECEIVER_DEFAULT_NAME,
)

__all__ = [
    "SINGLE_FEATURE_DEFAULT_NAME", "SINGLE_LABEL_DEFAULT_NAME", "SINGLE_RECEIVER_DEFAULT_NAME",
]  # fmt: skip


class KerasModeKeys:
    """The names of modes in Keras."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


def is_predict(mode: Any) -> bool:
    """Whether a mode's name is that of prediction."""
    return mode in (KerasModeKeys.PREDICT, ModeKeys.PREDICT)


def is_eval(mode: Any) -> bool:
    """Whether a mode's name is that of evaluation."""
    return mode in (KerasModeKeys.TEST, ModeKeys.EVAL)


def is_train(mode: Any) -> bool:
    """Whether a mode's name is that of training."""
    return mode in (KerasModeKeys.TRAIN, ModeKeys.TRAIN)


class ModeKeyMap(Mapping[str, Any]):
    """Values by mode, whichever of its names is asked.

    Args:
      **kwargs: values by a name of the mode.

    Raises:
      ValueError: no such mode, or one twice.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._values: dict[str, Any] = {}
        for name, value in kwargs.items():
            key = self._key(name)
            if key in self._values:
                raise ValueError(f"Multiple keys/values found for mode {name}")
            self._values[key] = value

    @staticmethod
    def _key(mode: Any) -> str:
        kinds = (is_train, KerasModeKeys.TRAIN), (is_eval, KerasModeKeys.TEST), (
            is_predict, KerasModeKeys.PREDICT,
        )  # fmt: skip
        for kind, key in kinds:
            if kind(mode):
                return key
        raise ValueError(f"Invalid mode: {mode}")

    def __getitem__(self, mode: str) -> Any:
        return self._values[self._key(mode)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


EXPORT_TAG_MAP = ModeKeyMap(
    predict=[tag_constants.SERVING], train=[tag_constants.TRAINING], test=[supervised.EVAL]
)
SIGNATURE_KEY_MAP = ModeKeyMap(
    predict=signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY, train="train", test="eval"
)


def build_all_signature_defs(
    receiver_tensors: Any, export_outputs: Mapping[Any, ExportOutput],
    receiver_tensors_alternatives: Mapping[Any, Any] | None = None, serving_only: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """The signatures of a model.

    Args:
      receiver_tensors: the inputs, one or a dict of them.
      export_outputs: outputs by the signature's key.
      receiver_tensors_alternatives: more inputs, by the name that signatures' keys begin with.
      serving_only: whether signatures that no server takes are left out.

    Raises:
      ValueError: the outputs are no dict.
    """
    if not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict, but received {type(export_outputs)}.")
    others = receiver_tensors_alternatives
    found = exporting.signatures_of(receiver_tensors, others, export_outputs)
    if not serving_only:
        return found
    valid = signature_def_utils.is_valid_signature
    return {name: signature for name, signature in found.items() if valid(signature)}


def get_export_outputs(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """The outputs of a prediction, one of them under the default key.

    Args:
      export_outputs: what the model says, a dict; None stands for its predictions.
      predictions: a tensor or a dict of them.

    Raises:
      TypeError: ``export_outputs`` is no dict of ``ExportOutput``.
      ValueError: there are several and none is the default.
    """
    return with_default_output(export_outputs, predictions)


def export_outputs_for_mode(
    mode: Any, serving_export_outputs: Any = None, predictions: Any = None, loss: Any = None,
    metrics: Any = None,
) -> dict[str, ExportOutput]:  # fmt: skip
    """The outputs that a model has in a mode.

    Args:
      mode: a name of the mode.
      serving_export_outputs: what the model says of predictions, or None.
      predictions, loss, metrics: the model's.

    Raises:
      ValueError: there is no such mode.
    """
    if mode not in SIGNATURE_KEY_MAP:
        raise ValueError(f"Export output type not found for mode: {mode}")
    key = SIGNATURE_KEY_MAP[mode]
    if is_predict(mode):
        return get_export_outputs(serving_export_outputs, predictions)
    kind = TrainOutput if is_train(mode) else EvalOutput
    return {key: kind(loss=loss, predictions=predictions, metrics=metrics)}


def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """A folder that is not there yet, named by the time in seconds, as bytes.

    Args:
      export_dir_base: the folder in which it is to be.

    Raises:
      RuntimeError: ten of them were there.
    """
    return os.fsencode(exporting.timestamped(os.fsdecode(export_dir_base)))


def get_temp_export_dir(timestamped_export_dir: Any) -> bytes:
    """The folder in which a model is written before it gets its name.

    Args:
      timestamped_export_dir: the folder that it is to be.
    """
    return os.fsencode(exporting.temporary(os.fsdecode(timestamped_export_dir)))
