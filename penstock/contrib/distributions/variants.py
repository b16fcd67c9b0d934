"""Families of which a parameter is made positive first, so that any number can be given."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.scopes import name_scope
from penstock.library.distributions import Beta, Exponential, Gamma, Laplace, Normal, StudentT
from penstock.ops.math import elementwise
from penstock.ops.nn.activation import softplus


class BetaWithSoftplusConcentration(Beta):
    """``Beta`` of the softplus of both concentrations.

    Args:
      concentration1, concentration0: any numbers, which broadcast.
      validate_args, allow_nan_stats: as of ``Beta``.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.BetaWithSoftplusConcentration(-1., -1.)
      >>> tf.Session().run(made.mean()).item()
      0.5
    """

    def __init__(
        self,
        concentration1: Any,
        concentration0: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BetaWithSoftplusConcentration",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            super().__init__(
                softplus(concentration1, name="softplus_concentration1"),
                softplus(concentration0, name="softplus_concentration0"),
                validate_args,
                allow_nan_stats,
                name,
            )
        self._parameters = parameters


class ExponentialWithSoftplusRate(Exponential):
    """``Exponential`` of the softplus of ``rate``.

    Args:
      rate: any numbers.
      validate_args, allow_nan_stats: as of ``Exponential``.

    Example:
      >>> import penstock as tf
      >>> tf.contrib.distributions.ExponentialWithSoftplusRate([-1., 1.]).batch_shape
      TensorShape([Dimension(2)])
    """

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExponentialWithSoftplusRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            positive = softplus(rate, name="softplus_rate")
            super().__init__(positive, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class GammaWithSoftplusConcentrationRate(Gamma):
    """``Gamma`` of the softplus of both parameters.

    Args:
      concentration, rate: any numbers, which broadcast.
      validate_args, allow_nan_stats: as of ``Gamma``.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.GammaWithSoftplusConcentrationRate(-1., -1.)
      >>> tf.Session().run(made.mean()).item()
      1.0
    """

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "GammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            super().__init__(
                softplus(concentration, name="softplus_concentration"),
                softplus(rate, name="softplus_rate"),
                validate_args,
                allow_nan_stats,
                name,
            )
        self._parameters = parameters


class LaplaceWithSoftplusScale(Laplace):
    """``Laplace`` of the softplus of ``scale``.

    Args:
      loc: means.
      scale: any numbers; both broadcast.
      validate_args, allow_nan_stats: as of ``Laplace``.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.LaplaceWithSoftplusScale(2., -1.)
      >>> tf.Session().run(made.mean()).item()
      2.0
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            positive = softplus(scale, name="softplus_scale")
            super().__init__(loc, positive, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class NormalWithSoftplusScale(Normal):
    """``Normal`` of the softplus of ``scale``.

    Args:
      loc: means.
      scale: any numbers; both broadcast.
      validate_args, allow_nan_stats: as of ``Normal``.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.NormalWithSoftplusScale(2., -1.)
      >>> tf.Session().run(made.mean()).item()
      2.0
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NormalWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            positive = softplus(scale, name="softplus_scale")
            super().__init__(loc, positive, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class StudentTWithAbsDfSoftplusScale(StudentT):
    """``StudentT`` of ``floor(abs(df))`` degrees of freedom and the softplus of ``scale``.

    Args:
      df: any numbers of an absolute value of 1 or more.
      loc: centers.
      scale: any numbers; all three broadcast.
      validate_args, allow_nan_stats: as of ``StudentT``.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.StudentTWithAbsDfSoftplusScale(-3.5, 2., -1.)
      >>> tf.Session().run(made.df).item()
      3.0
    """

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentTWithAbsDfSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, scale]) as name:
            super().__init__(
                elementwise.floor(elementwise.abs_(df)),
                loc,
                softplus(scale, name="softplus_scale"),
                validate_args,
                allow_nan_stats,
                name,
            )
        self._parameters = parameters
