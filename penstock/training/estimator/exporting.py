"""Writing an estimator's model as a SavedModel."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from penstock.engine.session.session import Session
from penstock.foundation.base import errors
from penstock.foundation.formats import files, gfile
from penstock.foundation.graph import collecting
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.storage.checkpoint.saver import Saver
from penstock.storage.saved_model import (
    constants,
    signature_constants,
    signature_def_utils,
    supervised,
    tag_constants,
)
from penstock.storage.saved_model.builder import SavedModelBuilder
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.export_outputs import (
    EvalOutput,
    ExportOutput,
    TrainOutput,
    with_default_output,
)
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.estimator.receivers import SINGLE_RECEIVER
from penstock.training.monitored.scaffold import Scaffold

_log = logging.getLogger("penstock")
_TAGS = {
    ModeKeys.PREDICT: [tag_constants.SERVING],
    ModeKeys.TRAIN: [tag_constants.TRAINING],
    ModeKeys.EVAL: [supervised.EVAL],
}
_METHODS = {
    signature_constants.CLASSIFY_METHOD_NAME: "Classify",
    signature_constants.REGRESS_METHOD_NAME: "Regress",
    signature_constants.PREDICT_METHOD_NAME: "Predict",
    supervised.SUPERVISED_TRAIN_METHOD_NAME: "Train",
    supervised.SUPERVISED_EVAL_METHOD_NAME: "Eval",
}
_ATTEMPTS = 10


def export_all(
    receivers: Mapping[str, Callable[[], Any]],
    build: Callable[[Any, str], tuple[Any, EstimatorSpec]],
    checkpoint_path: str,
    export_dir_base: Any,
    session_config: Any,
    assets_extra: Mapping[str, Any] | None,
    as_text: bool,
    strip_default_attrs: bool,
) -> bytes:
    """Writes one SavedModel with a MetaGraph for each mode.

    Args:
      receivers: receiver functions by mode.
      build: calls a receiver function and makes the model in the default graph, for a mode.
      checkpoint_path: where the variables' values are.
      export_dir_base: the folder in which one, named by the time, is made.
      session_config: a ``ConfigProto``.
      assets_extra: files to copy into ``assets.extra``, by their path there.
      as_text: whether ``saved_model.pbtxt`` is written.
      strip_default_attrs: whether attrs with default values are left out.

    Returns:
      The folder, as bytes as in TF.

    Raises:
      ValueError: no mode is one that can be exported, or the checkpoint lacks a variable.
    """
    folder = timestamped(os.fsdecode(export_dir_base))
    unfinished = temporary(folder)
    builder = SavedModelBuilder(unfinished)
    modes = [m for m in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) if receivers.get(m)]
    if not modes:
        raise ValueError(f"No valid modes for exporting found. Got {list(receivers)}.")
    for mode in modes:
        with Graph().as_default():
            _add_mode(
                builder, mode, receivers[mode], build, checkpoint_path, session_config,
                strip_default_attrs, first=mode == modes[0],
            )  # fmt: skip
    builder.save(as_text)
    for relative, source in (assets_extra or {}).items():
        path = os.path.join(unfinished, "assets.extra", relative)
        gfile.MakeDirs(os.path.dirname(path))
        gfile.Copy(source, path)
    gfile.Rename(unfinished, folder)
    return os.fsencode(folder)


def _add_mode(
    builder: SavedModelBuilder,
    mode: str,
    receiver_fn: Callable[[], Any],
    build: Callable[[Any, str], tuple[Any, EstimatorSpec]],
    checkpoint_path: str,
    session_config: Any,
    strip: bool,
    first: bool,
) -> None:
    receiver, spec = build(receiver_fn, mode)
    signatures = _signatures(receiver, spec, mode)
    with Session(config=session_config) as session:
        initializer = spec.scaffold.local_init_op
        if initializer is None:
            initializer = Scaffold.default_local_init_op()
        saver = spec.scaffold.saver or Saver(sharded=True)
        try:
            saver.restore(session, checkpoint_path)
        except errors.NotFoundError as error:
            raise ValueError(
                "Could not load all requested variables from checkpoint. Please make sure your"
                " model_fn does not expect variables that were not saved in the checkpoint. Mode"
                f" {mode!r}, checkpoint {checkpoint_path}: {error}"
            ) from error
        if spec.train_op is not None:
            collecting.add_to_collection(constants.TRAIN_OP_KEY, spec.train_op)
        arguments: dict[str, Any] = {
            "tags": _TAGS[mode],
            "signature_def_map": signatures,
            "assets_collection": collecting.get_collection(GraphKeys.ASSET_FILEPATHS),
            "main_op": initializer,
            "saver": saver,
            "strip_default_attrs": strip,
        }
        if first:
            builder.add_meta_graph_and_variables(session, **arguments)
        else:
            builder.add_meta_graph(**arguments)


def _signatures(receiver: Any, spec: EstimatorSpec, mode: str) -> dict[str, Any]:
    """The signatures of a model for one mode."""
    if mode == ModeKeys.PREDICT:
        outputs: Any = with_default_output(spec.export_outputs, spec.predictions)
    else:
        metrics = spec.eval_metric_ops
        kind = {ModeKeys.TRAIN: TrainOutput, ModeKeys.EVAL: EvalOutput}[mode]
        outputs = {mode: kind(spec.loss, spec.predictions, metrics)}
    others = getattr(receiver, "receiver_tensors_alternatives", None)
    found = signatures_of(receiver.receiver_tensors, others, outputs)
    if mode != ModeKeys.PREDICT:
        return found
    valid = signature_def_utils.is_valid_signature
    return {name: signature for name, signature in found.items() if valid(signature)}


def signatures_of(
    tensors: Any, alternatives: Mapping[Any, Any] | None, outputs: Mapping[Any, ExportOutput]
) -> dict[str, Any]:
    """The signatures of outputs, for the inputs and for alternatives to them.

    Args:
      tensors: the inputs, one or a dict of them.
      alternatives: more inputs, by the name that signatures' keys begin with.
      outputs: outputs by the signature's key.
    """
    if not isinstance(tensors, dict):
        tensors = {SINGLE_RECEIVER: tensors}
    receivers = {"": tensors}
    for name, other in (alternatives or {}).items():
        receivers[f"{name or 'None'}:"] = other
    found, refused = {}, {}
    for prefix, each in receivers.items():
        for key, output in outputs.items():
            name = f"{prefix}{key or 'None'}"
            try:
                found[name] = output.as_signature_def(each)
            except ValueError as error:
                refused[name] = str(error)
    _report(found, refused)
    return found


def _report(found: Mapping[str, Any], refused: Mapping[str, str]) -> None:
    for method, shown in _METHODS.items():
        names = [name for name, each in found.items() if each.method_name == method]
        _log.info("Signatures INCLUDED in export for %s: %s", shown, names or None)
    if refused:
        _log.info("Signatures EXCLUDED from export, which TensorFlow Serving cannot serve:")
        for name, why in refused.items():
            _log.info("'%s' : %s", name, why)
    if not found:
        _log.warning("Export includes no signatures!")
    elif signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in found:
        _log.warning("Export includes no default signature!")


def temporary(folder: str) -> str:
    """Where a model is written before it gets its folder's name."""
    return os.path.join(os.path.dirname(folder), f"temp-{os.path.basename(folder)}")


def timestamped(base: str) -> str:
    """A folder of ``base`` that is not there yet, named by the time in seconds."""
    for attempt in range(_ATTEMPTS):
        folder = os.path.join(base, str(int(time.time())))
        if not files.exists(folder):
            return folder
        time.sleep(1)
        _log.warning(
            "Directory %s already exists; retrying (attempt %d/%d)", folder, attempt + 1, _ATTEMPTS
        )
    raise RuntimeError(
        f"Failed to obtain a unique export directory name after {_ATTEMPTS} attempts."
    )
