"""The sinh-arcsinh transformation of a distribution of scalars."""

from __future__ import annotations

from functools import reduce
from typing import Any

from penstock.contrib.distributions.bijectors import AffineScalar, Chain
from penstock.contrib.distributions.transformed import TransformedDistribution
from penstock.contrib.distributions.vectors import at_two, bent_and_plain
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.distributions import Normal
from penstock.ops.array import broadcast_to, fill, shape


class SinhArcsinh(TransformedDistribution):
    """``loc + scale F(z) 2 / F0(2)``, where F makes the tails of z and its sides other.

    F is ``bijectors.SinhArcsinh(skewness, tailweight)``, and F0 that of ``skewness`` 0, so that
    ``scale`` means as much whatever the tails are.

    Args:
      loc: what is added.
      scale: what is multiplied by.
      skewness: to which side values lean; 0 by default.
      tailweight: how heavy the tails are, above 0; 1 by default. All four broadcast.
      distribution: the distribution of z, of one scalar; the standard normal one by default.
      validate_args: whether arguments are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: ``distribution`` is a batch.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.SinhArcsinh(1., 2., tailweight=1.5)
      >>> tf.Session().run(made.cdf(1.)).item()
      0.5

    Source: Jones, M. C. and Pewsey, A. "Sinh-arcsinh distributions". Biometrika 96 (2009).
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            loc_: Any = convert_to_tensor(loc, name="loc")
            kind = loc_.dtype
            scale_: Any = convert_to_tensor(scale, name="scale", dtype=kind)
            heavy: Any = convert_to_tensor(
                1.0 if tailweight is None else tailweight, name="tailweight", dtype=kind
            )
            lean: Any = convert_to_tensor(
                0.0 if skewness is None else skewness, name="skewness", dtype=kind
            )
            batch = _broadcast([loc_, scale_, heavy, lean])
            base = distribution
            if base is None:
                base = Normal(
                    loc=fill.zeros([], dtype=kind),
                    scale=fill.ones([], dtype=kind),
                    allow_nan_stats=allow_nan_stats,
                )
            elif base.batch_shape.ndims not in (None, 0):
                raise ValueError(
                    "distribution must be scalar; distribution.is_scalar_batch=False is not True"
                )
            bent, plain = bent_and_plain(lean, heavy, skewness is None)
            affine = AffineScalar(
                shift=loc_, scale=scale_ * at_two(plain, kind), validate_args=validate_args
            )
            self._given = (loc_, scale_, heavy, lean)
            super().__init__(
                distribution=base,
                bijector=Chain([affine, bent]),
                batch_shape=batch,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters

    @property
    def loc(self) -> Any:
        """What is added."""
        return self._given[0]

    @property
    def scale(self) -> Any:
        """What is multiplied by."""
        return self._given[1]

    @property
    def tailweight(self) -> Any:
        """How heavy the tails are."""
        return self._given[2]

    @property
    def skewness(self) -> Any:
        """To which side values lean."""
        return self._given[3]


def _broadcast(parts: list[Any]) -> Any:
    """The shape that the tensors broadcast to; a list where it is known."""
    known = reduce(broadcast_to.broadcast_static_shape, [part.shape for part in parts])
    if known.is_fully_defined():
        return known.as_list()
    return reduce(broadcast_to.broadcast_dynamic_shape, [shape.shape(part) for part in parts])
