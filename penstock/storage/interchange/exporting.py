"""``penstock.export``: a model, from wherever it is, as a file that needs no Penstock."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.graphdef import import_graph_def
from penstock.storage.interchange import model as models
from penstock.storage.interchange.model import Model, Shapes
from penstock.storage.interchange.pt2_file import write_pt2
from penstock.storage.interchange.python_program import write_python
from penstock.storage.saved_model import loader

TARGETS = {".py": "python", ".onnx": "onnx", ".pt2": "pt2"}
_HERE = __name__.rpartition(".")[0]
_ROOMS = {"file": "onnx_file", "compressing": "compressing", "importing": "importing"}


def model_of(
    source: Any,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    *,
    signature: str | None = None,
    tags: Iterable[str] = ("serve",),
    shapes: Shapes | None = None,
) -> Model:
    """The model in a SavedModel, a session or a graph.

    Args:
      source: the folder of a SavedModel; a session; or a GraphDef without variables.
      inputs, outputs: tensors by the names that they get; for a session or a GraphDef.
      signature: of the SavedModel; None: ``serving_default``, or the only one there is.
      tags: of the SavedModel's graph.
      shapes: of inputs, where they are to be narrower than the graph says.

    Raises:
      ValueError: inputs and outputs are missing, or given for a SavedModel.
    """
    if isinstance(source, str | os.PathLike):
        if inputs is not None or outputs is not None:
            raise ValueError("the inputs and outputs of a SavedModel are those of its signature")
        path = os.fsdecode(source)
        if not loader.maybe_saved_model_directory(path):
            raise ValueError(f"{path} is no SavedModel")
        return models.of_saved_model(path, tags, signature, shapes)
    if inputs is None or outputs is None:
        raise ValueError("a session or graph is exported from named inputs to named outputs")
    if hasattr(source, "run"):
        return models.of_session(source, inputs, outputs, shapes)
    graph = Graph()
    with graph.as_default():
        import_graph_def(source, name="")
    taken, given = (
        {name: _tensor(graph, t) for name, t in side.items()} for side in (inputs, outputs)
    )
    return models.of_graph(graph, taken, given, shapes)


def _tensor(graph: Graph, wanted: Any) -> Any:
    name = getattr(wanted, "name", wanted)
    return graph.get_tensor_by_name(name if ":" in name else f"{name}:0")


def export(
    source: Any,
    path: str | os.PathLike[str],
    to: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    *,
    signature: str | None = None,
    tags: Iterable[str] = ("serve",),
    shapes: Shapes | None = None,
) -> list[str]:
    """Writes a model as a file that runs without Penstock.

    Args:
      source: the folder of a SavedModel; a session; or a GraphDef without variables.
      path: the file to write.
      to: ``"python"``: a program of torch alone and, beside it, a safetensors file; ``"onnx"``;
        ``"pt2"``: what ``torch.export`` makes of the former; None: as the path ends (``.py``,
        ``.onnx``, ``.pt2``).
      inputs, outputs: tensors (or names) by the names that they get in the file; for a session or
        a GraphDef.
      signature: of the SavedModel; None: ``serving_default``, or the only one there is.
      tags: of the SavedModel's graph.
      shapes: dims of inputs by name, where they are to be narrower than the graph says.

    Returns:
      The files written.

    Raises:
      Unportable: a node has no form there; the message names it, and says why.
      ValueError: the format is not known, or the arguments do not fit together.
    """
    path = os.fsdecode(path)
    to = TARGETS.get(os.path.splitext(path)[1]) if to is None else to
    if to not in TARGETS.values():
        raise ValueError(f"a model is exported to python, onnx or pt2; found {to!r} for {path}")
    made = model_of(source, inputs, outputs, signature=signature, tags=tags, shapes=shapes)
    if to == "python":
        return write_python(made, path)
    if to == "pt2":
        return write_pt2(made, path)
    return list(onnx_rooms().file.write_onnx(made, path))


def onnx_rooms() -> Any:
    """The modules about ONNX: ``file``, ``compressing``, ``importing``.

    They are loaded here and not above, so that all else goes without the package ``onnx``.

    Raises:
      ImportError: it is not installed.
    """
    try:
        return SimpleNamespace(
            **{name: import_module(f"{_HERE}.{module}") for name, module in _ROOMS.items()}
        )
    except ModuleNotFoundError as error:
        if error.name != "onnx":
            raise
        raise ImportError("ONNX needs the package onnx: pip install penstock[onnx]") from error


def import_onnx(
    model: Any, inputs: Mapping[str, Any] | None = None, name: str | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Adds an ONNX model to the default graph.

    Args:
      model: a path, or a ``ModelProto``.
      inputs: tensors for its inputs, by name; the others become placeholders.
      name: scope of the nodes.

    Returns:
      Its inputs and its outputs, tensors by name.

    Raises:
      Unportable: an operator has no rule; the message names it and its node.
      ValueError: ``inputs`` names what the model has not.
    """
    found: tuple[dict[str, Any], dict[str, Any]] = onnx_rooms().importing.import_onnx(
        model, inputs, name
    )
    return found
