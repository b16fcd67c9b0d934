"""The chi-squared distribution: the gamma distribution of half its degrees of freedom."""

from __future__ import annotations

from typing import Any, ClassVar

from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import Gamma
from penstock.ops.array import constant
from penstock.ops.control import check, control
from penstock.ops.math import elementwise


class Chi2(Gamma):
    """The chi-squared distribution: the sum of ``df`` squares of standard normal numbers.

    Args:
      df: degrees of freedom, above 0.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: ``df`` is not floating.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.Chi2(3.).mean()).item()
      3.0
    """

    _elementwise: ClassVar[tuple[str, ...]] = ("df",)

    def __init__(
        self,
        df: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            with control_dependencies([check.assert_positive(df)] if validate_args else []):
                self._df: Tensor = control.identity(df, name="df")
            half = 0.5 * self._df
            rate = constant.constant(0.5, dtype=self._df.dtype)
            super().__init__(half, rate, validate_args, allow_nan_stats, name)
        self._parameters = parameters

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df


class Chi2WithAbsDf(Chi2):
    """``Chi2`` of ``floor(abs(df))`` degrees of freedom.

    Args:
      df: any numbers of an absolute value of 1 or more.
      validate_args, allow_nan_stats: as of ``Chi2``.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.Chi2WithAbsDf(-3.5).mean()).item()
      3.0
    """

    def __init__(
        self,
        df: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2WithAbsDf",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            whole = elementwise.floor(elementwise.abs_(df, name="abs_df"), name="floor_abs_df")
            super().__init__(whole, validate_args, allow_nan_stats, name)
        self._parameters = parameters
