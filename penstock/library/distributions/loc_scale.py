"""What families of a standard distribution, stretched and moved, share."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.library.distributions.scalars import Elementwise
from penstock.ops.control import check, control
from penstock.ops.math import elementwise


class LocScale(Elementwise):
    """``loc + scale * z``, where z is of a standard distribution.

    Args:
      loc: where the middle is.
      scale: how far it is stretched, above 0; both broadcast.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: the parameters are not of one floating dtype.
    """

    _elementwise = ("loc", "scale")

    def __init__(
        self, loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool, name: str,
        parameters: dict[str, Any],
    ) -> None:  # fmt: skip
        with name_scope(name, values=[loc, scale]) as name:
            with control_dependencies([check.assert_positive(scale)] if validate_args else []):
                self._loc: Tensor = control.identity(loc, name="loc")
                self._scale: Tensor = control.identity(scale, name="scale")
                check.assert_same_float_dtype([self._loc, self._scale])
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._loc, self._scale],
            name=name,
        )

    @property
    def loc(self) -> Tensor:
        """Where the middle is."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """How far the standard distribution is stretched."""
        return self._scale

    def _mode(self) -> Any:
        return self.loc * elementwise.ones_like(self.scale)

    def _z(self, x: Tensor) -> Any:
        """What ``x`` is of the standard distribution."""
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale
