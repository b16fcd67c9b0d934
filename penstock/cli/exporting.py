"""``penstock export``, ``transform`` and ``import``: models that leave and come in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.cli.graph_files import read_graph_file
from penstock.cli.output import Failure, Output, size
from penstock.foundation.formats import files
from penstock.storage.export.graph_file import write_graph
from penstock.storage.interchange.exporting import TARGETS, model_of, onnx_rooms
from penstock.storage.interchange.graph_transforms import transform_graph
from penstock.storage.interchange.pt2_file import write_pt2
from penstock.storage.interchange.python_program import write_python


@dataclass(frozen=True)
class Smaller:
    """How a model is made smaller: of ``export``'s options."""

    weights: str | None = None
    prune: float | None = None
    low_rank: float | None = None
    quantize: str | None = None
    samples: str | None = None

    @property
    def asked(self) -> bool:
        """Whether anything is to be done."""
        return any(each is not None for each in (self.weights, self.prune, self.low_rank,
                                                 self.quantize))  # fmt: skip


def export_model(
    output: Output,
    source: str,
    dest: str,
    to: str | None,
    signature: str | None,
    tags: str,
    shapes: list[str],
    ends: tuple[list[str], list[str]],
    smaller: Smaller,
) -> None:
    """Writes a model as a file that runs without Penstock.

    Args:
      output: where to say what was done.
      source: a SavedModel; or, with ``ends``, a GraphDef without variables.
      dest: the file.
      to: the format; None: by the ending of ``dest``.
      signature, tags: of the SavedModel.
      shapes: NAME=DIMS for inputs.
      ends: names of inputs and outputs, ``NAME`` or ``NAME=TENSOR``.
      smaller: how it is made smaller, for ONNX.

    Raises:
      Failure: the model cannot leave, or the options do not fit together.
    """
    to = to or TARGETS.get(f".{dest.rpartition('.')[2]}")
    if to is None:
        raise Failure(f"{dest}: --to says whether this becomes python, onnx or pt2", 2)
    if smaller.asked and to != "onnx":
        raise Failure("only ONNX models are made smaller here", 2)
    given: Any = source
    inputs = outputs = None
    if any(ends):
        given = read_graph_file(source).graph
        inputs, outputs = (_named(side) for side in ends)
    model = model_of(
        given, inputs, outputs, signature=signature, tags=tags.split(","),
        shapes=dict(map(_shape, shapes)) or None,
    )  # fmt: skip
    if to == "python":
        written = write_python(model, dest)
    elif to == "pt2":
        written = write_pt2(model, dest)
    else:
        written = _onnx(model, dest, smaller)
    for path in written:
        output.line(f"{path}: {size(files.stat(path).length)}")


def _onnx(model: Any, dest: str, smaller: Smaller) -> list[str]:
    rooms = onnx_rooms()
    if not smaller.asked:
        return list(rooms.file.write_onnx(model, dest))
    made, kinds = rooms.file.onnx_model(model), rooms.compressing
    if smaller.low_rank is not None:
        made = kinds.low_rank(made, smaller.low_rank)
    if smaller.prune is not None:
        made = kinds.pruned(made, smaller.prune)
    if smaller.quantize == "dynamic":
        made = kinds.dynamic(made)
    elif smaller.quantize == "static":
        if smaller.samples is None:
            raise Failure("--quantize static needs --samples FILE.npz: what the model is fed", 2)
        made = kinds.static(made, _samples(smaller.samples))
    if smaller.weights is not None:
        made = {"float16": kinds.half_weights, "int8": kinds.int8_weights}[smaller.weights](made)
    return list(rooms.file.save_onnx(made, dest))


def _named(names: list[str]) -> dict[str, str]:
    """Tensors by the names that they get; a name alone is a node's."""
    pairs = [(name, tensor or name) for name, _, tensor in (n.partition("=") for n in names)]
    return dict(pairs)


def _shape(text: str) -> tuple[str, list[int | None]]:
    name, _, dims = text.partition("=")
    try:
        found = [None if d.strip() in ("", "?") else int(d) for d in dims.split(",")]
    except ValueError:
        raise Failure(
            f"--shape is NAME=DIMS, such as images=1,224,224,3; found {text!r}", 2
        ) from None
    return name, found


def _samples(path: str) -> Iterator[Mapping[str, np.ndarray]]:
    """Row by row, what a file of arrays holds by the names of the inputs."""
    with files.open_file(path) as file, np.load(file, allow_pickle=False) as arrays:
        held = {name: arrays[name] for name in arrays.files}
    count = min(len(array) for array in held.values())
    for row in range(count):
        yield {name: array[row : row + 1] for name, array in held.items()}


def transform(
    output: Output, source: str, dest: str, inputs: str, outputs: str, transforms: str
) -> None:
    """Applies graph transforms to a GraphDef.

    Args:
      output: where to say what was done.
      source: a graph, or a SavedModel.
      dest: the GraphDef to write; text when it ends in ``.pbtxt``.
      inputs, outputs: names of nodes, separated by commas.
      transforms: as ``transform_graph`` takes them.
    """
    graph = read_graph_file(source).graph
    fed, wanted = ([n.strip() for n in side.split(",") if n.strip()] for side in (inputs, outputs))
    have = {node.name for node in graph.node}
    missing = [n for n in (*fed, *wanted) if n.partition(":")[0] not in have]
    if missing:
        raise Failure(f"{source} has no node {', '.join(map(repr, missing))}")
    made = transform_graph(graph, fed, wanted, transforms)
    folder, _, name = dest.rpartition("/")
    write_graph(made, folder or ".", name, as_text=dest.endswith(".pbtxt"))
    output.line(
        f"{dest}: {len(made.node)} nodes of {len(graph.node)}, {size(files.stat(dest).length)}"
    )


def import_model(output: Output, source: str, dest: str) -> None:
    """Writes an ONNX model as a SavedModel.

    Args:
      output: where to say what was done.
      source: the ONNX file.
      dest: the folder of the SavedModel.
    """
    if not files.exists(source):
        raise Failure(f"{source}: there is no such file")
    inputs, outputs = onnx_rooms().importing.onnx_to_saved_model(source, dest)
    output.line(f"{dest}: SavedModel")
    for side, tensors in (("input", inputs), ("output", outputs)):
        for name, tensor in tensors.items():
            output.line(f"  {side} {name}: {tensor.dtype.name} {tensor.shape}")
