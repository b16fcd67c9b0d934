"""Scales of events that are vectors: linear operators made from what constructors are given."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library import linear_operators
from penstock.library.distributions.checks import last_axis
from penstock.ops.array import broadcast_to, shape
from penstock.ops.control import check, control
from penstock.ops.linalg import matrix_diag
from penstock.ops.math import elementwise

# Operators that are their diagonal.
DIAGONAL = (
    linear_operators.LinearOperatorIdentity,
    linear_operators.LinearOperatorScaledIdentity,
    linear_operators.LinearOperatorDiag,
)


def _tensor(value: Any, name: str, dtype: Any = None) -> Any:
    return None if value is None else convert_to_tensor(value, name=name, preferred_dtype=dtype)


def _checked(diag: Any, validate_args: bool, positive: bool) -> Any:
    """``diag`` with the check that it is positive, or has no zero."""
    if not validate_args:
        return diag
    if positive:
        text = "diagonal part must be positive"
        found = check.assert_positive(diag, message=text)
    else:
        text = "diagonal part must be non-zero"
        found = check.assert_positive(elementwise.abs_(diag), message=text)
    return control.with_dependencies([found], diag)


def diagonal(
    loc: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: Any = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> Any:
    """The diagonal operator ``scale_identity_multiplier I + diag(scale_diag)``.

    Args:
      loc: tells the size of an event where ``scale_diag`` does not.
      scale_diag: ``[..., k]`` or None.
      scale_identity_multiplier: ``[...]`` or None; the identity where both are.
      shape_hint: the size of an event, where neither of both others tells.
      validate_args: whether the diagonal is checked in every step.
      assert_positive: whether it must be positive; else no zero may be in it.

    Raises:
      ValueError: the size of an event is not known.
    """
    given = [loc, scale_diag, scale_identity_multiplier]
    with name_scope(name, "make_diag_scale", given):
        loc = _tensor(loc, "loc")
        diag = _tensor(scale_diag, "scale_diag", None if loc is None else loc.dtype)
        like = loc if diag is None else diag
        dtype = None if like is None else like.dtype
        multiplier = _tensor(scale_identity_multiplier, "scale_identity_multiplier", dtype)
        hints: dict[str, Any] = {
            "is_non_singular": True,
            "is_self_adjoint": True,
            "is_positive_definite": assert_positive or None,
        }
        if diag is not None:
            if multiplier is not None:
                diag = diag + last_axis(multiplier)
            diag = _checked(diag, validate_args, assert_positive)
            return linear_operators.LinearOperatorDiag(diag=diag, **hints)
        if shape_hint is None and loc is None:
            raise ValueError(
                "Cannot infer `event_shape` unless `loc` or `shape_hint` is specified."
            )
        size = _last_size(loc) if shape_hint is None else shape_hint
        if multiplier is None:
            return linear_operators.LinearOperatorIdentity(
                num_rows=size,
                dtype=None if loc is None else loc.dtype.base_dtype,
                is_self_adjoint=True,
                is_positive_definite=True,
                assert_proper_shapes=validate_args,
            )
        return linear_operators.LinearOperatorScaledIdentity(
            num_rows=size,
            multiplier=_checked(multiplier, validate_args, assert_positive),
            assert_proper_shapes=validate_args,
            **hints,
        )


def triangular(
    loc: Any = None,
    scale_tril: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: Any = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> Any:
    """The operator of the lower triangle of ``scale_tril`` plus that of ``diagonal``."""
    if scale_tril is None:
        return diagonal(
            loc, scale_diag, scale_identity_multiplier, shape_hint, validate_args, assert_positive
        )
    given = [loc, scale_diag, scale_identity_multiplier]
    with name_scope(name, "make_tril_scale", given):
        loc = _tensor(loc, "loc")
        tril: Any = _tensor(scale_tril, "scale_tril", None if loc is None else loc.dtype)
        diag = _tensor(scale_diag, "scale_diag", tril.dtype)
        multiplier = _tensor(scale_identity_multiplier, "scale_identity_multiplier", tril.dtype)
        tril = matrix_diag.matrix_band_part(tril, -1, 0)
        whole: Any = matrix_diag.matrix_diag_part(tril)
        if diag is not None:
            whole = whole + diag
        if multiplier is not None:
            whole = whole + last_axis(multiplier)
        if diag is not None or multiplier is not None:
            tril = matrix_diag.matrix_set_diag(tril, whole)
        if validate_args:
            found = _checked(whole, True, assert_positive)
            tril = control.with_dependencies([found], tril)
        return linear_operators.LinearOperatorLowerTriangular(
            tril=tril,
            is_non_singular=True,
            is_self_adjoint=False,
            is_positive_definite=assert_positive or None,
        )


def low_rank(base: Any, factor: Any, diag: Any) -> Any:
    """``base`` plus ``factor diag(diag) factor^T``."""
    return linear_operators.LinearOperatorLowRankUpdate(
        base,
        u=factor,
        diag_update=diag,
        is_diag_update_positive=diag is None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
    )


def _last_size(loc: Tensor) -> Any:
    known = None if loc.shape.ndims is None else loc.shape.as_list()[-1]
    dims: Any = shape.shape(loc)
    return dims[-1] if known is None else known


def shapes_of(loc: Any, scale: Any, name: str = "shapes_from_loc_and_scale") -> tuple[Any, Any]:
    """The shapes of a batch and of an event by ``loc`` and ``scale``.

    Args:
      loc: tensor ``[..., k]``, where k may be 1, a scalar, or None.
      scale: a linear operator ``[..., k, k]``.

    Returns:
      Two int32 vectors, or static shapes where they are known.

    Raises:
      ValueError: the last dim of ``loc`` is neither 1 nor k.
    """
    with name_scope(name, values=[loc, *scale.graph_parents]):
        size = scale.range_dimension
        if loc is not None and loc.shape.ndims:
            own = loc.shape[-1]
            if own.value not in (None, 1) and size.value is not None and own != size:
                raise ValueError(
                    f"Event size of 'scale' ({size}) could not be broadcast up to that of 'loc' "
                    f"({own})."
                )
        event: Any = [size.value] if size.value is not None else scale.range_dimension_tensor()
        if size.value is None:
            event = last_axis(event)
        batch = scale.batch_shape
        if loc is None or loc.shape.ndims == 0:
            known = batch
        else:
            own_batch = loc.shape[:-1]
            known = broadcast_to.broadcast_static_shape(batch, own_batch)
        if known.is_fully_defined():
            return known.as_list(), event
        found = scale.batch_shape_tensor()
        if loc is not None and loc.shape.ndims != 0:
            dims: Any = shape.shape(loc)
            found = broadcast_to.broadcast_dynamic_shape(found, dims[:-1])
        return found, event
