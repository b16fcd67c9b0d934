"""The calls that compute a product: all give the same values, where they should lie."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from penstock.ops.linalg import product_forms
from penstock.ops.linalg.product_forms import Form

FLAGS = [
    flags
    for flags in itertools.product([False, True], repeat=6)
    if not (flags[5] and (flags[3] or flags[4]))  # nothing is added to a product that is added
]


def operand(rows: int, columns: int, turned: bool, seed: int) -> torch.Tensor:
    values = torch.from_numpy(np.random.RandomState(seed).randn(rows, columns))
    return values.t().contiguous().t() if turned else values.clone()


@pytest.mark.parametrize("sizes", [(5, 7, 3), (1, 4, 6), (4, 1, 1)])
@pytest.mark.parametrize("flags", FLAGS)
def test_every_kernel_gives_the_product(
    sizes: tuple[int, int, int], flags: tuple[bool, ...]
) -> None:
    form = Form(*sizes, *flags)
    rows, inner, columns = sizes
    a = operand(rows, inner, form.a_turned, 1).float()
    b = operand(inner, columns, form.b_turned, 2).float()
    bias = torch.linspace(-1, 1, columns) if form.bias else None
    expected = a.double() @ b.double()
    if bias is not None:
        expected = expected + bias
    if form.relu:
        expected = expected.relu()
    for kernel in product_forms.kernels(form):
        into = operand(rows, columns, form.result_turned, 3).float() if form.into else None
        wanted = expected if into is None else into.double() + expected
        found = product_forms.function(form, kernel)(a, b, bias, into)
        found = found if into is None else into
        torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-6)
        if not form.into and not form.result_turned:
            assert found.is_contiguous(), kernel


def test_the_kernels_of_forms() -> None:
    every = product_forms.kernels(Form(2, 3, 4))
    assert every[:2] == ["mm", "turned"]
    if product_forms.linear is not None:
        assert every[2:] == ["linear", "linear_turned"]
        assert product_forms.kernels(Form(2, 3, 4, bias=True))[2:] == ["linear"]
    assert product_forms.kernels(Form(2, 3, 4, into=True)) == ["mm", "turned", "added_turned"]


def test_source_is_short_where_operands_are_views() -> None:
    text = product_forms.source(Form(2, 3, 4), "turned", "x.t()", "y")
    assert text == "torch.mm(y.t(), x).t().contiguous()"
    text = product_forms.source(Form(2, 3, 4), "linear", "x", "y.t()")
    assert text == 'linear(x, y, None, "none", [], "")'
    text = product_forms.source(Form(2, 3, 4, into=True), "mm", "x", "y", into="v", alpha="-0.5")
    assert text == "v.addmm_(x, y, alpha=-0.5)"
    form = Form(2, 3, 4, into=True)
    text = product_forms.source(form, "added_turned", "x.t()", "y", into="v", alpha="-0.5")
    assert text == "v.t().add_(torch.mm(y.t(), x), alpha=-0.5)"
