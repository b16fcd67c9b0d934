"""How programs multiply matrices: the call for one product, and how its weight lies in memory.

``product_choice`` says which kernel is fastest here for a product of known sizes; one of unknown
sizes, or of another dtype than float32, is ATen's ``mm``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from penstock.foundation.base import dtypes
from penstock.ops.linalg import product_choice, product_forms
from penstock.ops.linalg.product_forms import Form

# Column by column in memory.
_TURNED = (1, 0)
# Products at run time whose inner sides differ by less than this are of one form.
_STEP = 256


class Product:
    """One matrix product being written: its operands' source and sizes.

    ``call`` has inputs ``a`` and ``b`` and attrs ``transpose_a`` and ``transpose_b``.

    Args:
      call: the node's.
      bias: source of what is added to each row; "None" for none.
      relu: whether a relu follows.
    """

    def __init__(self, call: Any, bias: str = "None", relu: bool = False) -> None:
        self._call, self._bias, self._relu = call, bias, relu
        self._flips = {"a": call.attr("transpose_a"), "b": call.attr("transpose_b")}

    def _operand(self, name: str) -> str:
        """Source of an operand as it is multiplied; views are free."""
        source: str = self._call.arg[name]
        return product_forms.turned(source) if self._flips[name] else source

    def _form(self, result_turned: bool, into: bool = False) -> Form | None:
        """What is multiplied; None where that is not known, or for ``mm`` in any case."""
        call = self._call
        a, b = call.dims("a"), call.dims("b")
        if a is None or b is None or None in a or None in b:
            return None
        if call.dtype("a") is not dtypes.float32:
            return None
        rows, inner = a[::-1] if self._flips["a"] else a
        columns = b[0] if self._flips["b"] else b[1]
        lies = {name: call.lies(name) == _TURNED for name in ("a", "b")}
        return Form(
            rows, inner, columns,
            a_turned=lies["a"] != self._flips["a"], b_turned=lies["b"] != self._flips["b"],
            result_turned=result_turned, bias=self._bias != "None", relu=self._relu, into=into,
        )  # fmt: skip

    def source(self) -> str:
        """Source of the product."""
        form = self._form(self._call.result_layout == _TURNED)
        if form is None:
            return self._written(None, Form(0, 0, 0, bias=self._bias != "None", relu=self._relu))
        if self._prefers_turned(form):
            self._call.prefer_layout("b", _TURNED)
            form = form._replace(b_turned=True)
        return self._written(form, form)

    def _prefers_turned(self, form: Form) -> bool:
        """Whether a weight should lie column by column: nobody has asked otherwise, and it pays."""
        free = not self._flips["b"] and self._call.is_free_to_lie("b")
        return free and product_choice.prefers_turned(form)

    def added(self, target: str, target_layout: Any, alpha: str) -> str:
        """Source that adds ``alpha`` times the product to a matrix in its place."""
        form = self._form(target_layout == _TURNED, into=True)
        return self._written(form, form or Form(0, 0, 0, into=True), into=target, alpha=alpha)

    def _written(self, known: Form | None, form: Form, **into: str) -> str:
        kernel = "mm" if known is None else product_choice.best(known)
        text = product_forms.source(
            form, kernel, self._operand("a"), self._operand("b"), bias=self._bias, **into
        )
        if kernel.startswith("linear"):
            name = self._call.function(product_forms.linear, "linear")
            text = name + text.removeprefix("linear")
        return text


def inline_product(call: Any) -> str:
    """Source of a matrix product."""
    return Product(call).source()


def adder(a: torch.Tensor, b: torch.Tensor) -> Callable[..., torch.Tensor]:
    """What adds a product of such matrices, met at run time, in place: f(a, b, into=matrix)."""
    inner = a.shape[1]
    form = Form(
        a.shape[0], max(inner - inner % _STEP, 1), b.shape[1],
        a_turned=a.stride(0) == 1, b_turned=b.stride(0) == 1, into=True,
    )  # fmt: skip
    kernel = product_choice.best(form) if a.dtype is torch.float32 else "mm"
    return product_forms.function(form, kernel)
