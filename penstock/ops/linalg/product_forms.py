"""A product of two matrices, as far as its speed goes, and the calls that compute it.

ATen's ``mm`` goes to MKL, ``linear`` to oneDNN; and either can compute the transpose of the result
from the transposes of the operands, which are views and free.  A product that is added to a matrix
can be computed first and added then.  Which of them is fastest is for ``product_choice`` to find
out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch


class Form(NamedTuple):
    """A product of ``a`` [rows, inner] by ``b`` [inner, columns].

    Attributes:
      rows, inner, columns: the sizes.
      a_turned, b_turned: whether the operand lies column by column in memory.
      result_turned: whether the result should lie so.
      bias: whether a bias of ``columns`` is added.
      relu: whether a relu follows.
      into: whether the product is added to a matrix in its place.
    """

    rows: int
    inner: int
    columns: int
    a_turned: bool = False
    b_turned: bool = False
    result_turned: bool = False
    bias: bool = False
    relu: bool = False
    into: bool = False

    @property
    def work(self) -> int:
        """How many multiplications it takes."""
        return self.rows * self.inner * self.columns

    @property
    def key(self) -> str:
        """The form as one word.

        >>> Form(100, 784, 10, b_turned=True, bias=True).key
        '100x784x10-b_turned-bias'
        """
        flags = [name for name, value in zip(self._fields[3:], self[3:], strict=True) if value]
        return "-".join([f"{self.rows}x{self.inner}x{self.columns}", *flags])


@functools.cache
def onednn_runs() -> bool:
    """Whether programs of this process can call oneDNN's primitives directly."""
    return torch.backends.mkldnn.is_available() and not torch.cuda.is_available()


# oneDNN's ``x @ w.T + bias``, then an activation by name; None where torch lacks it.
linear: Any = torch.ops.mkldnn._linear_pointwise.default if onednn_runs() else None


def kernels(form: Form) -> list[str]:
    """The kernels that can compute a form; the plainest first."""
    found = ["mm", "turned"]
    if form.into:
        found.append("added_turned")
    elif linear is not None:
        found.append("linear")
        if not (form.bias or form.relu):  # its bias and activation would be of the transpose
            found.append("linear_turned")
    return found


def turned(matrix: str) -> str:
    """Source of a matrix's transpose."""
    return matrix.removesuffix(".t()") if matrix.endswith(".t()") else f"{matrix}.t()"


def source(
    form: Form, kernel: str, a: str, b: str, *, bias: str = "None", into: str = "", alpha: str = "1"
) -> str:
    """Source of a product.

    Args:
      form: what is asked for.
      kernel: one of ``kernels(form)``.
      a, b: source of the operands [rows, inner] and [inner, columns], views included.
      bias: source of the bias.
      into: source of the matrix that ``alpha`` times the product is added to.
      alpha: source of that number.
    """
    if form.into:
        if kernel != "mm":
            into, a, b = f"{into}.t()", turned(b), turned(a)
        if kernel == "added_turned":
            return f"{into}.add_({_plain(a, b, '')}, alpha={alpha})"
        return f"{into}.addmm_({a}, {b}, alpha={alpha})"
    if kernel == "linear":
        relu = "relu" if form.relu else "none"
        return f'linear({a}, {turned(b)}, {bias}, "{relu}", [], "")'
    if kernel == "linear_turned":
        text = f'linear({turned(b)}, {a}, None, "none", [], "").t()'
    elif kernel == "turned":
        text = _plain(turned(b), turned(a), f"{bias}.unsqueeze(1)" if form.bias else "") + ".t()"
    else:
        text = _plain(a, b, bias if form.bias else "")
    # Its readers are written for a result that lies row by row.
    if kernel != "mm" and not form.result_turned:
        text += ".contiguous()"
    return f"{text}.relu_()" if form.relu else text


@functools.cache
def function(form: Form, kernel: str, alpha: str = "1") -> Callable[..., torch.Tensor]:
    """The call that ``source`` writes, as a function of ``a``, ``b``, ``bias`` and ``into``."""
    text = source(form, kernel, "a", "b", bias="bias", into="into", alpha=alpha)
    scope = {"torch": torch, "linear": linear}
    return eval(f"lambda a, b, bias=None, into=None: {text}", scope)


def _plain(a: str, b: str, bias: str) -> str:
    return f"torch.addmm({bias}, {a}, {b})" if bias else f"torch.mm({a}, {b})"
