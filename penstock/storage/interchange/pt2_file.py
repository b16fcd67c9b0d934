"""A model as torch's own file of an exported program, ``.pt2``.

The Python program of ``python_program`` is traced by ``torch.export`` on zeros; open dims stay
open. Nothing of it is kept but ATen's operators: the file is loaded by ``torch.export.load``, and
is where torch's tools for phones begin.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
import traceback
from types import ModuleType
from typing import Any

import torch

from penstock.storage.interchange.model import Model, Unportable, refuse
from penstock.storage.interchange.python_program import write_python

_TARGET = "pt2"
_STEM = "penstock_exported"
# The size of open dims while they are traced: more than filters are wide, and an odd one.
_OPEN_SIZE = 17


class _Traced(torch.nn.Module):
    """A model's program with its constants as buffers.

    Single integers are none: they are axes and sizes, which are to be known when it is traced.  Nor
    is what has no elements, which torch cannot write as part of a file.
    """

    def __init__(self, program: ModuleType) -> None:
        super().__init__()
        self._program = program.model
        self._known: dict[str, tuple[Any, torch.dtype]] = {}
        self._empty: dict[str, tuple[torch.Size, torch.dtype]] = {}
        for name, value in program.load_constants().items():
            if value.numel() == 1 and not value.dtype.is_floating_point:
                self._known[name] = value.tolist(), value.dtype
            elif not value.numel():
                self._empty[name] = value.shape, value.dtype
            else:
                self.register_buffer(name, value)

    def forward(self, *inputs: Any) -> Any:
        known = {name: torch.tensor(v, dtype=kind) for name, (v, kind) in self._known.items()}
        for name, (shape, kind) in self._empty.items():
            known[name] = torch.zeros(shape, dtype=kind)
        return self._program(*inputs, **dict(self.named_buffers()), **known)


def write_pt2(model: Model, path: str) -> list[str]:
    """Writes a model as a ``.pt2`` file.

    Args:
      model: the model.
      path: the file.

    Returns:
      The files written.

    Raises:
      Unportable: a node has no form in torch alone, or one whose course depends on values; or a dim
        that is open cannot stay so.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, f"{_STEM}.py")
        write_python(model, file)
        exported = _exported(model, _loaded(file), file)
        _save(exported, os.path.join(folder, "program.pt2"), path)
    return [path]


def _save(exported: torch.export.ExportedProgram, draft: str, path: str) -> None:
    """Writes a file that torch can read: not all that it follows is of that kind."""
    torch.export.save(exported, draft)
    try:
        torch.export.load(draft)
    except Exception as error:  # of which torch has many kinds
        raise Unportable(
            f"the model does not export to {_TARGET}: what torch.export makes of it cannot be"
            f" loaded again, perhaps since sizes in it depend on values ({_first_line(error)})"
        ) from error
    shutil.move(draft, path)


def _first_line(error: Exception) -> str:
    return f"{error}".strip().partition("\n")[0]


def _loaded(file: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(_STEM, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_STEM] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[_STEM]
    return module


def _exported(model: Model, program: ModuleType, file: str) -> torch.export.ExportedProgram:
    examples, dims = [], []
    for name, kind, sizes in program.INPUTS:
        if sizes is None:
            raise Unportable(
                f"input {name!r} has any number of dims, and a .pt2 has one: give"
                f" shapes={{{name!r}: [...]}}"
            )
        examples.append(torch.zeros([_OPEN_SIZE if d is None else d for d in sizes], dtype=kind))
        dims.append({n: torch.export.Dim.AUTO for n, d in enumerate(sizes) if d is None})
    shapes = (tuple(dims),) if dims else None  # of a model without inputs there are none
    try:
        with torch.no_grad():
            made = torch.export.export(
                _Traced(program), tuple(examples), dynamic_shapes=shapes, strict=False
            )
    except Exception as error:  # of which torch has many kinds
        raise _blamed(model, error, file) from error
    _check_open(model, made, program.INPUTS)
    return made


def _blamed(model: Model, error: Exception, file: str) -> Unportable:
    """The error for the node whose line torch could not follow."""
    why = f"torch.export does not follow it: {_first_line(error)}"
    named = {op.name: op for op in model.step.every_operation()}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == file and frame.name == "model" and frame.line:
            found = named.get(frame.line.rpartition("  # ")[2].split(" ")[0])
            if found is not None:
                return refuse(found, why, _TARGET)
    return Unportable(f"the model does not export to {_TARGET}: {why}")


def _check_open(
    model: Model, made: torch.export.ExportedProgram, inputs: list[tuple[str, Any, Any]]
) -> None:
    """Refuses a program that takes fewer shapes than the model."""
    values = {
        node.name: node.meta["val"] for node in made.graph.nodes if node.op == "placeholder"
    }  # fmt: skip
    for (name, _, sizes), placed in zip(inputs, made.graph_signature.user_inputs, strict=True):
        value = values.get(str(placed))
        for number, size in enumerate(sizes):
            if size is None and isinstance(getattr(value, "shape", (0,) * 99)[number], int):
                raise Unportable(
                    f"dim {number} of input {name!r} is open, and torch.export gives it one size:"
                    f" give shapes={{{name!r}: [...]}} to choose it"
                )
