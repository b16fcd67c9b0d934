"""Bijectors that move and stretch: ``Affine``, ``AffineScalar``, ``AffineLinearOperator``."""

from __future__ import annotations

from typing import Any

from penstock.contrib.distributions import scales
from penstock.contrib.distributions.bijectors.bijector import Bijector
from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.distributions.checks import last_axis
from penstock.ops.array import cast, constant, shape
from penstock.ops.control import check, control
from penstock.ops.math import elementwise


class AffineScalar(Bijector):
    """``y = scale x + shift`` of single numbers.

    Args:
      shift: what is added; nothing by default.
      scale: what is multiplied by, not 0; nothing by default.
      validate_args: whether the scale is checked in every step.

    Example:
      >>> import penstock as tf
      >>> affine = tf.contrib.distributions.bijectors.AffineScalar(shift=1.0, scale=2.0)
      >>> tf.Session().run(affine.inverse(7.0)).item()
      3.0
    """

    def __init__(
        self,
        shift: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        name: str = "affine_scalar",
    ) -> None:
        with name_scope(name, values=[scale, shift]):
            self._shift: Any = None
            self._scale: Any = None
            if shift is not None:
                self._shift = convert_to_tensor(shift, name="shift")
            if scale is not None:
                self._scale = convert_to_tensor(scale, name="scale")
                if validate_args:
                    zero = constant.constant(0, dtype=self._scale.dtype.base_dtype)
                    found = check.assert_none_equal(self._scale, zero)
                    self._scale = control.with_dependencies([found], self._scale)
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name,
        )

    @property
    def shift(self) -> Any:
        """What is added, or None."""
        return self._shift

    @property
    def scale(self) -> Any:
        """What is multiplied by, or None."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        y = x if self.scale is None else x * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.scale is None:
            return constant.constant(0.0, dtype=x.dtype.base_dtype)
        return elementwise.log(elementwise.abs_(self.scale))


class _Shifting(Bijector):
    """A bijector of vectors that adds something, or nothing."""

    _shift: Any

    @property
    def shift(self) -> Any:
        """What is added, or None."""
        return self._shift


class Affine(_Shifting):
    """``y = scale x + shift`` of vectors, where ``scale`` is a matrix given by its parts.

    ``scale`` is ``scale_identity_multiplier I + diag(scale_diag) + scale_tril +
    scale_perturb_factor diag(scale_perturb_diag) scale_perturb_factor^T``, of what is given, and
    the identity where nothing is.

    Args:
      shift: what is added, ``[..., k]``.
      scale_identity_multiplier: ``[...]``.
      scale_diag: ``[..., k]``.
      scale_tril: ``[..., k, k]``, of which the lower triangle is used.
      scale_perturb_factor: ``[..., k, r]``.
      scale_perturb_diag: ``[..., r]``; ones by default.
      validate_args: whether arguments are checked in every step.

    Raises:
      ValueError: ``scale_perturb_diag`` without ``scale_perturb_factor``.

    Example:
      >>> import penstock as tf
      >>> affine = tf.contrib.distributions.bijectors.Affine(shift=[1., 0.], scale_diag=[2., 3.])
      >>> tf.Session().run(affine.forward([1., 1.])).tolist()
      [3.0, 3.0]
    """

    def __init__(
        self,
        shift: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        name: str = "affine",
    ) -> None:
        parts = [scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_factor]
        self._is_multiple = all(part is None for part in parts[1:])
        with name_scope(name), name_scope("init", values=[shift, *parts, scale_perturb_diag]):
            found = [p for p in [shift, *parts] if p is not None]
            kind = convert_to_tensor(found[0]).dtype.base_dtype if found else dtypes.float32
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
            if self._is_multiple:
                one = 1.0 if scale_identity_multiplier is None else scale_identity_multiplier
                self._scale: Any = convert_to_tensor(one, dtype=kind, name="scale")
                if validate_args:
                    nonzero = check.assert_none_equal(self._scale, constant.constant(0, dtype=kind))
                    self._scale = control.with_dependencies([nonzero], self._scale)
            else:
                self._scale = _operator(
                    scale_identity_multiplier,
                    scale_diag,
                    scale_tril,
                    scale_perturb_factor,
                    scale_perturb_diag,
                    self._shift,
                    validate_args,
                )
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError(
                "When scale_perturb_diag is specified, scale_perturb_factor must be specified."
            )
        parents = [self._scale] if self._is_multiple else list(self._scale.graph_parents)
        super().__init__(
            graph_parents=parents if self._shift is None else [*parents, self._shift],
            forward_min_event_ndims=1,
            is_constant_jacobian=True,
            dtype=kind,
            validate_args=validate_args,
            name=name,
        )

    @property
    def scale(self) -> Any:
        """The linear operator; a tensor where only a multiple of the identity is given."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        if self._is_multiple:
            y = x * last_axis(self._scale) if self._scale.shape.ndims else x * self._scale
        else:
            y = self._scale.matvec(x)
        return y if self._shift is None else y + self._shift

    def _inverse(self, y: Any) -> Any:
        x = y if self._shift is None else y - self._shift
        if self._is_multiple:
            return x / last_axis(self._scale) if self._scale.shape.ndims else x / self._scale
        return self._scale.solvevec(x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._is_multiple:
            dims: Any = shape.shape(x)
            size = cast.cast(dims[-1], x.dtype)
            return elementwise.log(elementwise.abs_(self._scale)) * size
        return self._scale.log_abs_determinant()


def _operator(
    multiplier: Any,
    diag: Any,
    tril: Any,
    factor: Any,
    perturb_diag: Any,
    shift: Any,
    validate_args: bool,
) -> Any:
    """The operator of the parts of an ``Affine``."""
    if factor is None:
        return scales.triangular(shift, tril, diag, multiplier, None, validate_args)
    factor = convert_to_tensor(factor, name="scale_perturb_factor")
    if perturb_diag is not None:
        perturb_diag = convert_to_tensor(perturb_diag, name="scale_perturb_diag")
    dims: Any = shape.shape(factor)
    known = None if factor.shape.ndims is None else factor.shape.as_list()[-2]
    size = dims[-2] if known is None else known
    like = shift if shift is not None else factor[..., 0]
    base = scales.triangular(like, tril, diag, multiplier, size, validate_args, True)
    return scales.low_rank(base, factor, perturb_diag)


class AffineLinearOperator(_Shifting):
    """``y = scale x + shift`` of vectors, where ``scale`` is a linear operator.

    Args:
      shift: what is added, ``[..., k]``.
      scale: a ``LinearOperator`` ``[..., k, k]`` that is known to be non-singular.
      validate_args: whether arguments are checked in every step.

    Raises:
      TypeError: ``scale`` is no linear operator, or of another dtype than ``shift``.
      ValueError: ``scale`` is not known to be non-singular (``validate_args``).

    Example:
      >>> import penstock as tf
      >>> scale = tf.linalg.LinearOperatorDiag([2., 3.], is_non_singular=True)
      >>> affine = tf.contrib.distributions.bijectors.AffineLinearOperator(scale=scale)
      >>> tf.Session().run(affine.forward([1., 1.])).tolist()
      [2.0, 3.0]
    """

    def __init__(
        self,
        shift: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        name: str = "affine_linear_operator",
    ) -> None:
        parents = []
        with name_scope(name), name_scope("init", values=[shift]):
            kind = dtypes.float32
            self._shift = None
            if shift is not None:
                self._shift = convert_to_tensor(shift, name="shift")
                parents.append(self._shift)
                kind = self._shift.dtype.base_dtype
            if scale is not None:
                if self._shift is not None and kind != scale.dtype:
                    raise TypeError(
                        f"shift.dtype({kind}) is incompatible with scale.dtype({scale.dtype})."
                    )
                if not hasattr(scale, "matvec"):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                parents += scale.graph_parents
                kind = scale.dtype.base_dtype
            self._scale = scale
        super().__init__(
            forward_min_event_ndims=1,
            graph_parents=parents,
            is_constant_jacobian=True,
            dtype=kind,
            validate_args=validate_args,
            name=name,
        )

    @property
    def scale(self) -> Any:
        """The linear operator, or None."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        y = x if self.scale is None else self.scale.matvec(self._checked(x))
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else self.scale.solvevec(self._checked(x))

    def _checked(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        return control.with_dependencies([self.scale.assert_non_singular()], x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.scale is None:
            return constant.constant(0, dtype=x.dtype.base_dtype)
        return self._checked(self.scale.log_abs_determinant())
