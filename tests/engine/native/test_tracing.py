"""Lines whose kernels take numbers, traced with tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from penstock.engine.native import tracing
from penstock.engine.native.tracing import Held, refused, with_tensors
from penstock.ops.state import state
from penstock.ops.state.multi_training import multi_adam, multi_momentum

FUNCTIONS = {"multi_adam": multi_adam, "multi_momentum": multi_momentum, "assign": state._assign}
RESOURCES = ["r_a", "r_b", "r_a_m", "r_b_m", "r_a_v", "r_b_v"]
ADAM = (
    "multi_adam([r_a, r_b], [r_a_m, r_b_m], [r_a_v, r_b_v], v0.tolist(), v1.tolist(), v2.item(),"
    " 0.9, 0.999, 1e-08, [v3, v4])"
)
MOMENTUM = "multi_momentum([r_a, r_b], [r_a_m, r_b_m], v2.tolist(), [v3, v4], 0.9, {})"


def scope(dtype: torch.dtype) -> dict[str, Any]:
    torch.manual_seed(0)
    made: dict[str, Any] = {"v0": 0.9**3, "v1": 0.999**3, "v2": 0.01}
    made = {name: torch.tensor(value, dtype=dtype) for name, value in made.items()}
    made |= {"v3": torch.randn(4, 5, dtype=dtype), "v4": torch.randn(7, dtype=dtype)}
    for name in RESOURCES:
        made[name] = torch.rand((4, 5) if name.startswith("r_a") else (7,), dtype=dtype)
    return made


def run(text: str, functions: dict[str, Any], dtype: torch.dtype) -> list[Any]:
    values = scope(dtype)
    for name in RESOURCES:
        values[name] = Held(values[name])
    exec(text, {**functions, **values})
    return [values[name].value for name in RESOURCES]


@pytest.mark.parametrize("text", [ADAM, MOMENTUM.format(False), MOMENTUM.format(True)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_updates_of_many_variables_are_those_of_the_kernel(text: str, dtype: torch.dtype) -> None:
    traced, functions = with_tensors(text, FUNCTIONS)
    assert ".tolist()" not in traced and ".item()" not in traced
    started = list(scope(dtype).values())[5:]
    for one, other, old in zip(
        run(traced, functions, dtype), run(text, FUNCTIONS, dtype), started, strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-7)
        assert not torch.equal(one, old) or "momentum" in text
    values = {
        name: [list(x.shape), list(x.stride()), str(dtype)[6:]] for name, x in scope(dtype).items()
    }
    assert refused([(1, text, ())], values, RESOURCES, FUNCTIONS) == {}


def test_numbers_of_other_functions_stay() -> None:
    text, functions = with_tensors("v1 = other(v0.tolist())\nv2 = v1", {"other": max})
    assert text == "v1 = other(v0.tolist())\nv2 = v1" and functions == {"other": max}
    values = {"v0": [[], [], "float32"], "v1": [[], [], "float32"]}
    assert 1 in refused([(1, "v1 = other(v0.tolist(), 2)", ("v1",))], values, [], {"other": max})


def test_what_is_assigned_may_lie_in_the_variable() -> None:
    held = Held(torch.arange(4.0))
    functions = with_tensors("", FUNCTIONS)[1]
    functions["assign"](held, held.value.as_strided((4,), (0,)) + held.value.flip(0), True, False)
    assert held.value.tolist() == [3.0, 2.0, 1.0, 0.0]
    functions["assign"](held, held.value.as_strided((4,), (0,), 3), True, False)
    assert held.value.tolist() == [0.0] * 4
    with pytest.raises(tracing.Refused, match="another shape"):
        functions["assign"](held, torch.ones(3), True, False)


@pytest.mark.parametrize(
    "text",
    ["torch.remainder(v0, v0)", "torch.fmod(v0, v0)", "v0.clone().remainder_(v0)",
     "torch.div(v0, v0, rounding_mode='floor')"],
)  # fmt: skip
def test_remainders_stay_lines(text: str) -> None:
    """0 % inf is 0, and 1 % 0.1 is 0.1: fused code says NaN and 0."""
    values = {name: [[4], [1], "float64"] for name in ("v0", "v1")}
    found = refused([(1, f"v1 = {text}", ("v1",))], values, [], {})
    assert "exact in its line alone" in found[1]
    assert refused([(1, "v1 = torch.div(v0, v0)", ("v1",))], values, [], {}) == {}
