"""Formulas in the place of a library's functions, against these in float64."""

from __future__ import annotations

import math
from typing import Any

import torch

from penstock.engine.native import compiling
from penstock.engine.native.formulas import tanh


def test_tanh() -> None:
    ends = torch.tensor([math.inf, -math.inf, 0.0, -0.0, 1e-40, 3e38, 9.0, -9.5])
    small = torch.logspace(-38, 1, 100_001)
    x = torch.cat([torch.linspace(-12, 12, 1_000_001), small, -small, ends])
    found, known = tanh(x), torch.tanh(x.double())
    ulp = torch.nextafter(known.float().abs(), torch.tensor(2.0)) - known.float().abs()
    assert ((found - known).abs() / ulp).max() < 6
    assert found.abs().max() == 1.0 and (found[x.abs() > 9.1].abs() == 1.0).all()
    assert tanh(torch.tensor([math.nan])).isnan().all()
    assert (torch.signbit(found) == torch.signbit(x)).all()


def _functions(text: str, dtype: str) -> set[str]:
    values: dict[str, Any] = {"f0": [[7], [1], dtype]}
    graph, *_ = compiling.traced(text, ["f0"], [], [], ["v1"], values, {})
    return {str(node.target) for node in graph.graph.nodes if node.op == "call_function"}


def test_traced_graphs_have_the_formula() -> None:
    for text in ("v1 = torch.tanh(f0)", "v0 = f0.mul(2)\nv1 = v0.tanh_()"):
        assert "aten.div.Tensor" in _functions(text, "float32")
        assert not {"aten.tanh.default", "aten.tanh_.default"} & _functions(text, "float32")
        assert {"aten.tanh.default", "aten.tanh_.default"} & _functions(text, "float64")
