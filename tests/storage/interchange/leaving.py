"""Models that leave, run where they arrive: a Python file, and onnxruntime."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from penstock.storage.interchange import onnx_file, pt2_file, python_program
from penstock.storage.interchange.model import Model

_count = itertools.count()


def loaded(path: Path) -> Any:
    """A Python file as a module of its own."""
    spec = importlib.util.spec_from_file_location(f"exported_{next(_count)}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def by_python(model: Model, folder: Path, feeds: Mapping[str, Any]) -> list[np.ndarray]:
    """What the exported Python file gives."""
    # A name of its own: Python's cache of compiled files goes by times in whole seconds.
    path = folder / f"exported_{next(_count)}.py"
    python_program.write_python(model, str(path))
    given = [torch.from_numpy(np.array(feeds[name])) for name in model.inputs]
    return [value.numpy() for value in loaded(path).run(*given)]


def by_onnx(model: Model, folder: Path, feeds: Mapping[str, Any]) -> list[np.ndarray]:
    """What onnxruntime gives for the exported file, on one thread."""
    import onnxruntime

    path = folder / "exported.onnx"
    onnx_file.write_onnx(model, str(path))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options)
    taken = {each.name for each in session.get_inputs()}
    return list(session.run(None, {k: np.asarray(v) for k, v in feeds.items() if k in taken}))


def by_pt2(model: Model, folder: Path, feeds: Mapping[str, Any]) -> list[np.ndarray]:
    """What torch gives for the exported program."""
    path = folder / "exported.pt2"
    pt2_file.write_pt2(model, str(path))
    given = [torch.from_numpy(np.array(feeds[name])) for name in model.inputs]
    return [value.numpy() for value in torch.export.load(path).module()(*given)]


WAYS = {"python": by_python, "onnx": by_onnx}
