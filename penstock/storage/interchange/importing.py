"""Foreign models: as nodes of the default graph, or as SavedModels."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from penstock.engine.session.session import Session
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.scopes import name_scope
from penstock.storage.interchange.onnx_operators import RULES
from penstock.storage.interchange.onnx_reader import read_model
from penstock.storage.saved_model.simple_save import simple_save


def import_onnx(
    model: Any, inputs: Mapping[str, Any] | None = None, name: str | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Adds an ONNX model to the default graph; see ``exporting.import_onnx``."""
    source = os.fsdecode(model) if isinstance(model, str | os.PathLike) else model
    with name_scope(name or "onnx"):
        return read_model(source, RULES, inputs)


def onnx_to_saved_model(path: str, folder: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Writes an ONNX model as a SavedModel whose signature has its inputs and outputs.

    Args:
      path: the ONNX file.
      folder: the SavedModel; it must not be there.

    Returns:
      Inputs and outputs by name.
    """
    with Graph().as_default() as graph, Session(graph=graph) as session:
        inputs, outputs = import_onnx(path)
        simple_save(session, folder, inputs, outputs)
    return inputs, outputs
