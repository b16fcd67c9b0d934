"""ONNX models made smaller: weights of fewer bits, of fewer numbers, of lower rank.

Each function takes a ``ModelProto`` and gives another that computes nearly the same with operators
of ONNX alone.  What widens a weight again is made of constants, so that a runtime does it once,
when it loads the model.  Products of 8-bit integers, which need to know how large the values in
between become, are made by ``onnxruntime.quantization``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from penstock.storage.interchange.model import Unportable

try:
    import onnxruntime.quantization
except ModuleNotFoundError:  # an extra of its own: all the rest goes without
    onnxruntime = None

# Constants of fewer numbers stay as they are.
_LEAST = 256
# The operators whose second input is a weight, and its dim of outputs; the first of a Gather.
_OUTPUTS = {"Conv": 0, "ConvTranspose": 1, "MatMul": -1, "Gemm": -1}
_MOST = 127
Samples = Iterable[Mapping[str, np.ndarray]]


class _Weights:
    """The weights of a model, and the nodes that stand for those that are replaced."""

    def __init__(self, model: Any) -> None:
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        self.graph = self.model.graph
        self._axes = dict(_axes_of_outputs(self.graph))
        self._by_name = {each.name: each for each in self.graph.initializer}
        self._dropped: set[str] = set()
        self._made: list[Any] = []
        self._count = 0

    def __iter__(self) -> Iterator[tuple[str, np.ndarray, int]]:
        """Name, numbers and dim of outputs of each weight of floats."""
        for each in list(self._by_name.values()):
            if each.name in self._axes and each.data_type == onnx.TensorProto.FLOAT:
                array = numpy_helper.to_array(each)
                if array.size >= _LEAST:
                    yield each.name, array, self._axes[each.name] % max(array.ndim, 1)

    def constant(self, array: np.ndarray, hint: str) -> str:
        """Another constant."""
        name = self.new(hint)
        self.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def new(self, hint: str) -> str:
        """A name that no value has."""
        self._count += 1
        return f"{hint}/compressed_{self._count}"

    def node(self, kind: str, *inputs: str, hint: str, output: str = "", **attrs: Any) -> str:
        """A node before all others."""
        output = output or self.new(hint)
        self._made.append(helper.make_node(kind, list(inputs), [output], name=output, **attrs))
        return output

    def replace(self, name: str, array: np.ndarray) -> None:
        """Gives a constant other numbers."""
        self._by_name[name].CopyFrom(numpy_helper.from_array(array, name))

    def drop(self, name: str) -> None:
        """Takes a constant out, in whose place a node stands."""
        self._dropped.add(name)

    def finish(self) -> Any:
        """The model with the new nodes in front."""
        constants = [each for each in self.graph.initializer if each.name not in self._dropped]
        del self.graph.initializer[:]
        self.graph.initializer.extend(constants)
        old = list(self.graph.node)
        del self.graph.node[:]
        self.graph.node.extend([*self._made, *old])
        return self.model


def _axes_of_outputs(graph: Any) -> Iterator[tuple[str, int]]:
    for node in graph.node:
        if node.op_type in _OUTPUTS and len(node.input) > 1:
            turned = any(a.name == "transB" and a.i for a in node.attribute)
            yield node.input[1], 0 if turned else _OUTPUTS[node.op_type]
        elif node.op_type == "Gather":
            yield node.input[0], 0
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _axes_of_outputs(attribute.g)


# ---- fewer bits ----------------------------------------------------------------------------------


def half_weights(model: Any) -> Any:
    """Weights as float16, widened when the model is loaded: half the size."""
    weights = _Weights(model)
    for name, array, _ in weights:
        if np.abs(array).max() < np.finfo(np.float16).max:
            weights.drop(name)
            narrow = weights.constant(array.astype(np.float16), name)
            weights.node("Cast", narrow, hint=name, output=name, to=onnx.TensorProto.FLOAT)
    return weights.finish()


def int8_weights(model: Any) -> Any:
    """Weights as 8-bit integers with a scale for each output: a quarter of the size.

    Where many weights are zero, as pruning makes them, those that are not are kept beside a bit for
    each: 1/8 byte for a weight, and a byte for each that is not zero.
    """
    weights = _Weights(model)
    for name, array, axis in weights:
        others = tuple(i for i in range(array.ndim) if i != axis)
        scale = np.abs(array).max(axis=others, keepdims=True) / np.float32(_MOST)
        scale[scale == 0] = 1
        integers = np.round(array / scale).astype(np.int8)
        weights.drop(name)
        if np.count_nonzero(integers) + array.size / 8 < 0.9 * array.size:
            wide = _unpacked(weights, integers, name)
        else:
            narrow = weights.constant(integers, name)
            wide = weights.node("Cast", narrow, hint=name, to=onnx.TensorProto.FLOAT)
        factor = weights.constant(scale.astype(np.float32), name)
        weights.node("Mul", wide, factor, hint=name, output=name)
    return weights.finish()


def _unpacked(w: _Weights, integers: np.ndarray, hint: str) -> str:
    """Integers of which most are zero, as floats, from a bit for each and those that are not."""
    flat = integers.reshape(-1)
    bits = w.constant(np.packbits(flat != 0, bitorder="little").reshape(-1, 1), hint)
    shifts = w.constant(np.arange(8, dtype=np.uint8).reshape(1, -1), hint)
    moved = w.node("BitShift", bits, shifts, hint=hint, direction="RIGHT")
    ones = w.node("BitwiseAnd", moved, w.constant(np.array(1, np.uint8), hint), hint=hint)
    row = w.node("Reshape", ones, w.constant(np.array([-1]), hint), hint=hint)
    ends = [w.constant(np.array([end]), hint) for end in (0, flat.size)]
    row = w.node("Slice", row, *ends, hint=hint)
    # How many are kept up to an element: runtimes compute that of constants, but no places.
    counted = w.node("Cast", row, hint=hint, to=onnx.TensorProto.INT32)
    count = w.node("CumSum", counted, w.constant(np.array(0, np.int64), hint), hint=hint)
    kept = np.concatenate([np.zeros(1, np.int8), flat[flat != 0]])
    values = w.node("Gather", w.constant(kept, hint), count, hint=hint, axis=0)
    both = [w.node("Cast", n, hint=hint, to=onnx.TensorProto.FLOAT) for n in (values, row)]
    whole = w.node("Mul", *both, hint=hint)
    dims = w.constant(np.array(integers.shape, np.int64), hint)
    return w.node("Reshape", whole, dims, hint=hint)


# ---- fewer numbers -------------------------------------------------------------------------------


def pruned(model: Any, share: float) -> Any:
    """A share of each weight's numbers, the smallest, as zeros.

    A model that ``tf.contrib.model_pruning`` has trained has them already, and loses less.
    """
    if not 0 <= share < 1:
        raise ValueError(f"the share of weights that are pruned is in [0, 1); found {share}")
    weights = _Weights(model)
    for name, array, _ in weights:
        size = np.abs(array)
        bound = np.quantile(size, share)
        made = np.where(size > bound, array, np.float32(0)) if share else array
        weights.replace(name, made.astype(np.float32))
    return weights.finish()


def low_rank(model: Any, energy: float = 0.99) -> Any:
    """Matrices of products and embeddings as products of two narrower ones, where that is smaller.

    Args:
      model: the model.
      energy: the share of a matrix's sum of squares that stays, in (0, 1].
    """
    if not 0 < energy <= 1:
        raise ValueError(f"the share of a matrix that stays is in (0, 1]; found {energy}")
    weights = _Weights(model)
    parts: dict[str, tuple[str, str]] = {}
    for name, array, _ in weights:
        if array.ndim == 2 and (pair := _factors(array, energy)) is not None:
            left, right = (weights.constant(part, name) for part in pair)
            parts[name] = left, right
    _factor_nodes(weights.graph, parts, weights.new)
    used = {name for node in _all_nodes(weights.graph) for name in node.input}
    for name in [n for n in parts if n not in used]:
        weights.drop(name)
    return weights.finish()


def _factors(array: np.ndarray, energy: float) -> tuple[np.ndarray, np.ndarray] | None:
    left, sizes, right = np.linalg.svd(array, full_matrices=False)
    kept = np.cumsum(sizes**2) / np.sum(sizes**2)
    rank = int(np.searchsorted(kept, energy - 1e-9)) + 1
    if rank * sum(array.shape) >= 0.9 * array.size:
        return None
    root = np.sqrt(sizes[:rank])
    return (left[:, :rank] * root).astype(np.float32), (root[:, None] * right[:rank]).astype(
        np.float32
    )


def _all_nodes(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _all_nodes(attribute.g)


def _factor_nodes(graph: Any, parts: dict[str, tuple[str, str]], new: Callable[[str], str]) -> None:
    """Lets products and look-ups take both factors, in a graph and those within."""
    made = []
    for node in graph.node:
        made.append(node)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                _factor_nodes(attribute.g, parts, new)
        position = {"MatMul": 1, "Gather": 0}.get(node.op_type)
        if position is None or node.input[position] not in parts:
            continue
        if node.op_type == "Gather" and any(a.name == "axis" and a.i for a in node.attribute):
            continue
        left, right = parts[node.input[position]]
        between = new(node.name)
        second = helper.make_node("MatMul", [between, right], list(node.output), name=between)
        node.input[position], node.output[0] = left, between
        made.append(second)
    kept = [type(node).FromString(node.SerializeToString()) for node in made]
    del graph.node[:]
    graph.node.extend(kept)


# ---- products of integers ------------------------------------------------------------------------
# Weights are of 7 bits: processors with AVX2 and without VNNI add two products of 8 bits up in 16,
# which are too few, and say nothing.


def _quantization() -> Any:
    if onnxruntime is None:
        raise Unportable("quantized products need the package onnxruntime")
    return onnxruntime.quantization


def dynamic(model: Any) -> Any:
    """Products with 8-bit weights; the other operand is quantized as it comes.

    Raises:
      Unportable: onnxruntime is not installed.
    """
    quantization = _quantization()

    def work(source: Path, target: Path) -> None:
        quantization.quantize_dynamic(
            source, target, weight_type=quantization.QuantType.QInt8, per_channel=True,
            reduce_range=True, op_types_to_quantize=["MatMul", "Gemm", "Gather"],
        )  # fmt: skip

    return _through_files(model, work)


def static(model: Any, samples: Samples) -> Any:
    """Convolutions and products of 8-bit integers, by ranges that samples show.

    Args:
      model: the model.
      samples: what is fed, by name, some tens or hundreds of times.

    Raises:
      Unportable: onnxruntime is not installed.
    """
    quantization = _quantization()

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self._rest = iter(samples)

        def get_next(self) -> Any:
            found = next(self._rest, None)
            return None if found is None else dict(found)

    def work(source: Path, target: Path) -> None:
        folded = source.with_suffix(".folded.onnx")
        _fold(source, folded)
        quantization.quantize_static(
            folded, target, Reader(), quant_format=quantization.QuantFormat.QDQ,
            per_channel=True, reduce_range=True, weight_type=quantization.QuantType.QInt8,
            activation_type=quantization.QuantType.QUInt8,
        )  # fmt: skip

    return _through_files(model, work)


def _fold(source: Path, target: Path) -> None:
    """Normalizations become weights, or each of them would be computed in floats between layers."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(target)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def _through_files(model: Any, work: Callable[[Path, Path], None]) -> Any:
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "source.onnx"), Path(folder, "target.onnx")
        onnx.save_model(model, source)
        work(source, target)
        return onnx.load_model(target)
