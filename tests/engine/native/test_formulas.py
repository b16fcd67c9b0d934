"""Formulas in the place of a library's functions, against these in float64."""

from __future__ import annotations

import math
from typing import Any

import torch

from penstock.engine.native import compiling
from penstock.engine.native.formulas import sigmoid, tanh


def _units(found: Any, known: Any) -> float:
    """How many units in the last place a float32 is off, at most."""
    size = known.float().abs()
    ulp = torch.nextafter(size, torch.tensor(2.0)) - size
    return float(((found - known).abs() / ulp).max())


def _numbers(to: float) -> Any:
    ends = torch.tensor([math.inf, -math.inf, 0.0, -0.0, 1e-40, 3e38, 9.0, -9.5])
    small = torch.logspace(-38, 1, 100_001)
    return torch.cat([torch.linspace(-to, to, 1_000_001), small, -small, ends])


def test_tanh() -> None:
    x = _numbers(12)
    found = tanh(x)
    assert _units(found, torch.tanh(x.double())) < 6
    assert found.abs().max() == 1.0 and (found[x.abs() > 9.1].abs() == 1.0).all()
    assert tanh(torch.tensor([math.nan])).isnan().all()
    assert (torch.signbit(found) == torch.signbit(x)).all()


def test_sigmoid() -> None:
    x = _numbers(87)
    assert _units(sigmoid(x), torch.sigmoid(x.double())) < 6
    ends = torch.tensor([-math.inf, -3e38, -120.0, 40.0, 3e38, math.inf, math.nan])
    assert sigmoid(ends)[:-1].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    assert sigmoid(ends)[-1].isnan()


def _functions(text: str, dtype: str) -> set[str]:
    values: dict[str, Any] = {"f0": [[7], [1], dtype]}
    graph, *_ = compiling.traced(text, ["f0"], [], [], ["v1"], values, {})
    return {str(node.target) for node in graph.graph.nodes if node.op == "call_function"}


def test_traced_graphs_have_the_formula() -> None:
    for name in ("tanh", "sigmoid"):
        plain = {f"aten.{name}.default", f"aten.{name}_.default"}
        for text in (f"v1 = torch.{name}(f0)", f"v0 = f0.mul(2)\nv1 = v0.{name}_()"):
            assert "aten.clamp.default" in _functions(text, "float32")
            assert not plain & _functions(text, "float32")
            assert plain & _functions(text, "float64")
