"""Normal distributions of vectors, by what their covariance is given as."""

from __future__ import annotations

from typing import Any

from penstock.contrib.distributions import scales
from penstock.contrib.distributions.vectors import VectorLinearOperator
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.distributions import Normal, RegisterKL
from penstock.library.linear_operators import LinearOperatorLowerTriangular
from penstock.ops.array import cast, fill
from penstock.ops.control import check, control
from penstock.ops.linalg import linalg
from penstock.ops.math import elementwise, reduction
from penstock.ops.nn import activation


def _standard_normal(dtype: Any) -> Any:
    return Normal(loc=fill.zeros([], dtype=dtype), scale=fill.ones([], dtype=dtype))


class MultivariateNormalLinearOperator(VectorLinearOperator):
    """The normal distribution of vectors of the covariance ``scale scale^T``.

    Args:
      loc: means, ``[..., k]``; zeros by default.
      scale: a linear operator ``[..., k, k]``.
      validate_args: whether arguments are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      TypeError: ``scale`` is not floating.
      ValueError: there is no ``scale``.
    """

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        parameters = dict(locals())
        super().__init__(
            _standard_normal, (0.0, 1.0), loc, scale, validate_args, allow_nan_stats, name,
            parameters,
        )  # fmt: skip


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """The normal distribution of vectors the numbers of which do not depend on one another.

    Args:
      loc: means, ``[..., k]``; zeros by default.
      scale_diag: standard deviations, ``[..., k]``.
      scale_identity_multiplier: what is added to all of them, ``[...]``; both ones by default.
      validate_args: whether they are checked to be without zeros.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: neither ``loc`` nor ``scale_diag`` is given.

    Example:
      >>> import penstock as tf
      >>> normal = tf.contrib.distributions.MultivariateNormalDiag([0., 1.], scale_diag=[1., 2.])
      >>> tf.Session().run(normal.covariance()).tolist()
      [[1.0, 0.0], [0.0, 4.0]]
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            with name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
                # That the diagonal has no zero is checked where it is used.
                scale = scales.diagonal(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """``MultivariateNormalDiag`` of the softplus of ``scale_diag``.

    Args:
      loc: means, ``[..., k]``.
      scale_diag: any numbers, ``[..., k]``.
      validate_args, allow_nan_stats: as of ``MultivariateNormalDiag``.

    Example:
      >>> import penstock as tf
      >>> normal = tf.contrib.distributions.MultivariateNormalDiagWithSoftplusScale([2.], [-1.])
      >>> tf.Session().run(normal.mean()).tolist()
      [2.0]
    """

    def __init__(
        self,
        loc: Any,
        scale_diag: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale_diag]) as name:
            super().__init__(
                loc=loc,
                scale_diag=activation.softplus(scale_diag),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """The normal distribution of vectors of a diagonal ``scale`` with an update of low rank.

    ``scale = diag(scale_diag) + scale_identity_multiplier I +
    scale_perturb_factor diag(scale_perturb_diag) scale_perturb_factor^T``.

    Args:
      loc: means, ``[..., k]``; zeros by default.
      scale_diag: ``[..., k]``, above 0.
      scale_identity_multiplier: ``[...]``, above 0; the identity where neither is given.
      scale_perturb_factor: ``[..., k, r]``; no update where None.
      scale_perturb_diag: ``[..., r]``; ones by default.
      validate_args: whether arguments are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: neither ``loc``, ``scale_diag`` nor ``scale_perturb_factor`` is given.

    Example:
      >>> import penstock as tf
      >>> normal = tf.contrib.distributions.MultivariateNormalDiagPlusLowRank(
      ...     [0., 0.], scale_diag=[1., 1.], scale_perturb_factor=[[1.], [0.]])
      >>> tf.Session().run(normal.stddev()).tolist()
      [2.0, 1.0]
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ) -> None:
        parameters = dict(locals())
        values = [
            loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag,
        ]  # fmt: skip
        with name_scope(name) as name:
            with name_scope("init", values=values):
                has_factor = scale_perturb_factor is not None
                like = convert_to_tensor(scale_perturb_factor)[..., 0] if has_factor else None
                scale = scales.diagonal(
                    like if loc is None else loc,
                    scale_diag,
                    scale_identity_multiplier,
                    assert_positive=True,
                )
                if has_factor:
                    factor = convert_to_tensor(scale_perturb_factor, name="scale_perturb_factor")
                    diag = scale_perturb_diag
                    if diag is not None:
                        diag = convert_to_tensor(diag, name="scale_perturb_diag")
                    scale = scales.low_rank(scale, factor, diag)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The normal distribution of vectors of a lower triangular ``scale``.

    Args:
      loc: means, ``[..., k]``; zeros by default.
      scale_tril: ``[..., k, k]``, of which the lower triangle is used; the identity by default.
      validate_args: whether the diagonal is checked to be without zeros.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: neither is given.

    Example:
      >>> import penstock as tf
      >>> normal = tf.contrib.distributions.MultivariateNormalTriL(
      ...     [0., 1.], scale_tril=[[1., 0.], [2., 1.]])
      >>> tf.Session().run(normal.covariance()).tolist()
      [[1.0, 2.0], [2.0, 5.0]]
    """

    def __init__(
        self,
        loc: Any = None,
        scale_tril: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ) -> None:
        parameters = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name) as name:
            with name_scope("init", values=[loc, scale_tril]):
                loc = None if loc is None else convert_to_tensor(loc, name="loc")
                if scale_tril is None:
                    scale = scales.diagonal(loc)
                else:
                    scale = LinearOperatorLowerTriangular(
                        convert_to_tensor(scale_tril, name="scale_tril"),
                        is_non_singular=True,
                        is_self_adjoint=False,
                        is_positive_definite=False,
                    )
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution of vectors of a covariance matrix.

    Args:
      loc: means, ``[..., k]``; zeros by default.
      covariance_matrix: ``[..., k, k]``, symmetric and positive definite; the identity by default.
      validate_args: whether it is checked to be symmetric.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: neither is given.

    Example:
      >>> import penstock as tf
      >>> normal = tf.contrib.distributions.MultivariateNormalFullCovariance(
      ...     [0., 1.], covariance_matrix=[[4., 0.], [0., 9.]])
      >>> tf.Session().run(normal.stddev()).tolist()
      [2.0, 3.0]
    """

    def __init__(
        self,
        loc: Any = None,
        covariance_matrix: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            with name_scope("init", values=[loc, covariance_matrix]):
                tril = None
                if covariance_matrix is not None:
                    matrix: Any = convert_to_tensor(covariance_matrix, name="covariance_matrix")
                    if validate_args:
                        text = "Matrix was not symmetric"
                        turned = linalg.matrix_transpose(matrix)
                        found = check.assert_equal(matrix, turned, message=text)
                        matrix = control.with_dependencies([found], matrix)
                    tril = linalg.cholesky(matrix)
                super().__init__(loc, tril, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _kl_of_normals(
    a: MultivariateNormalLinearOperator,
    b: MultivariateNormalLinearOperator,
    name: str | None = None,
) -> Any:
    """``(log det B - log det A - k + |B^-1 A|^2 + |B^-1 (m_b - m_a)|^2) / 2`` of square roots."""
    values = [a.loc, b.loc, *a.scale.graph_parents, *b.scale.graph_parents]
    with name_scope(name, "kl_mvn", values):
        size = cast.cast(a.scale.domain_dimension_tensor(), a.dtype)
        if isinstance(a.scale, scales.DIAGONAL) and isinstance(b.scale, scales.DIAGONAL):
            ratio: Any = a.scale.diag_part() / b.scale.diag_part()
            traces = reduction.reduce_sum(elementwise.square(ratio), axis=-1)
        else:
            ratio = b.scale.solve(a.scale.to_dense())
            traces = reduction.reduce_sum(elementwise.square(ratio), axis=[-2, -1])
        apart = b.scale.solvevec(b.mean() - a.mean())
        distance: Any = reduction.reduce_sum(elementwise.square(apart), axis=-1)
        return (
            b.scale.log_abs_determinant()
            - a.scale.log_abs_determinant()
            + 0.5 * (traces + distance - size)
        )
