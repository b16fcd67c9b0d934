"""Names and orders of arguments that TensorFlow had before 1.0, and what they are now.

A row is an old name and the public name that it became; where arguments changed as well, a function
stands here. Functions that kept their name and changed the order of arguments take both where types
tell them apart; where only the version tells, as programs of 0.x are asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Integral
from types import ModuleType
from typing import Any

import penstock
from penstock.foundation.base.decorators import decorates
from penstock.tf1 import restoring

# Old name to new name.
RENAMED = {
    "batch_cholesky": "cholesky",
    "batch_cholesky_solve": "cholesky_solve",
    "batch_fft": "fft",
    "batch_fft2d": "fft2d",
    "batch_fft3d": "fft3d",
    "batch_ifft": "ifft",
    "batch_ifft2d": "ifft2d",
    "batch_ifft3d": "ifft3d",
    "batch_matrix_band_part": "matrix_band_part",
    "batch_matrix_determinant": "matrix_determinant",
    "batch_matrix_diag": "matrix_diag",
    "batch_matrix_diag_part": "matrix_diag_part",
    "batch_matrix_inverse": "matrix_inverse",
    "batch_matrix_set_diag": "matrix_set_diag",
    "batch_matrix_solve": "matrix_solve",
    "batch_matrix_solve_ls": "matrix_solve_ls",
    "batch_matrix_transpose": "matrix_transpose",
    "batch_matrix_triangular_solve": "matrix_triangular_solve",
    "complex_abs": "abs",
    "concat_v2": "concat",
    "framework": "contrib.framework",
    "image.per_image_whitening": "image.per_image_standardization",
    "latest_checkpoint": "train.latest_checkpoint",
    "listdiff": "setdiff1d",
    "nn.deconv2d": "nn.conv2d_transpose",
    "nn.seq2seq": "contrib.legacy_seq2seq",
    "pack": "stack",
    "ReplicaDeviceSetter": "train.replica_device_setter",
    "select": "where",
    "unpack": "unstack",
    **{
        name: f"train.{name}"
        for name in (
            "BytesList", "Example", "Feature", "FeatureList", "FeatureLists", "Features",
            "FloatList", "Int64List", "SequenceExample",
        )
    },
    **{
        f"{name}Error": f"errors.{name}Error"
        for name in (
            "Aborted", "AlreadyExists", "Cancelled", "DataLoss", "DeadlineExceeded",
            "FailedPrecondition", "Internal", "InvalidArgument", "NotFound", "OutOfRange",
            "PermissionDenied", "ResourceExhausted", "Unauthenticated", "Unavailable",
            "Unimplemented", "Unknown",
        )
    },
}  # fmt: skip

# What has no successor of the same meaning, and what to write.
GONE = {
    "batch_self_adjoint_eig": "its result was one tensor in some versions, two in others: write"
    " tf.self_adjoint_eig, which returns values and vectors",
    "LegacySyncReplicasOptimizer": "write tf.train.SyncReplicasOptimizer",
}


# ---- names whose arguments changed ---------------------------------------------------------------


def _batch_matmul(
    x: Any, y: Any, adj_x: bool = False, adj_y: bool = False, name: str | None = None
) -> Any:
    return penstock.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y, name=name)


def _batch_svd(
    tensor: Any, compute_uv: bool = True, full_matrices: bool = False, name: str | None = None
) -> Any:
    return penstock.svd(tensor, full_matrices=full_matrices, compute_uv=compute_uv, name=name)


def _split_v(value: Any, size_splits: Any, split_dim: int = 0, name: str | None = None) -> Any:
    return penstock.split(value, size_splits, split_dim, name=name or "split")


class _RegisterShape:
    """A decorator that leaves the function as it is: shapes come with the op's definition."""

    def __init__(self, op_type: str) -> None:
        self._op_type = op_type

    def __call__(self, f: Any) -> Any:
        return f


WRITTEN: dict[str, Any] = {
    "batch_matmul": _batch_matmul,
    "batch_svd": _batch_svd,
    "RegisterShape": _RegisterShape,
    "split_v": _split_v,
}


# ---- functions whose arguments changed places ----------------------------------------------------


def _is_axis(value: Any) -> bool:
    """Whether a value can be an axis, and cannot be a list of tensors or a tensor to be split."""
    if isinstance(value, penstock.Tensor):
        return value.dtype.is_integer and value.shape.rank == 0
    return isinstance(value, Integral) and not isinstance(value, bool)


def _concat(args: list[Any], kwargs: dict[str, Any]) -> bool:
    if "concat_dim" in kwargs:
        kwargs["axis"] = kwargs.pop("concat_dim")
        if args:
            kwargs["values"] = args.pop(0)
        return True
    if len(args) >= 2 and _is_axis(args[0]) and isinstance(args[1], list | tuple):
        args[:2] = args[1], args[0]
        return True
    if len(args) == 1 and _is_axis(args[0]) and "values" in kwargs:
        args[:] = [kwargs.pop("values"), args[0]]
        return True
    return False


def _split(args: list[Any], kwargs: dict[str, Any]) -> bool:
    old = {"split_dim": "axis", "num_split": "num_or_size_splits"}
    if any(name in kwargs for name in old):
        for name, value in zip(("split_dim", "num_split", "value"), args):
            kwargs[name] = value
        args.clear()
        for name, new in old.items():
            if name in kwargs:
                kwargs[new] = kwargs.pop(name)
        return True
    given = [*args, kwargs["value"]] if "value" in kwargs else args
    if len(given) >= 3 and _is_axis(given[0]) and _is_axis(given[1]) and not _is_axis(given[2]):
        kwargs.pop("value", None)
        args[:] = [given[2], given[1], given[0]]
        kwargs.update({"name": given[3]} if len(given) > 3 else {})
        return True
    return False


def _sampled(args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Labels are integers and inputs are not; inputs came first."""
    if len(args) < 4:
        return False
    third, fourth = (penstock.convert_to_tensor(x).dtype for x in args[2:4])
    if third.is_floating and fourth.is_integer:
        args[2:4] = args[3], args[2]
        return True
    return False


def _entropy(args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Logits came first, then labels, which the sigmoid called targets."""
    if "targets" not in kwargs and not args:
        return False
    kwargs.update(zip(("logits", "targets", "dim" if len(args) > 3 else "name"), args))
    args.clear()
    if "targets" in kwargs:
        kwargs["labels"] = kwargs.pop("targets")
    return True


def _reverse(args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether to reverse was said of each axis, and is now said by their numbers."""
    dims = kwargs.pop("dims", args[1] if len(args) > 1 else None)
    plain = getattr(dims, "tolist", lambda: dims)()  # of an array
    if not isinstance(plain, list | tuple) or not all(isinstance(each, bool) for each in plain):
        kwargs.update({"axis": dims} if len(args) < 2 and dims is not None else {})
        return False
    axes = [axis for axis, yes in enumerate(plain) if yes]
    del args[1:2]
    args.insert(1, axes)
    return True


# Each changes its arguments into today's, and says whether it did.
Order = Callable[[list[Any], dict[str, Any]], bool]
BY_TYPES: dict[str, Order] = {
    "concat": _concat,
    "split": _split,
    "nn.nce_loss": _sampled,
    "nn.sampled_softmax_loss": _sampled,
}
BEFORE_1: dict[str, Order] = {
    "nn.sigmoid_cross_entropy_with_logits": _entropy,
    "nn.softmax_cross_entropy_with_logits": _entropy,
    "nn.sparse_softmax_cross_entropy_with_logits": _entropy,
    "reverse": _reverse,
}


def _value_or_initializer(name: str) -> Callable[..., Any]:
    """``zeros_initializer`` and such were functions of a shape, and are classes now."""
    initializer, value = public(f"{name}_initializer"), public(name)

    @functools.wraps(initializer, updated=())
    def called(*args: Any, **kwargs: Any) -> Any:
        shape = args[0] if args else kwargs.get("shape")
        if not isinstance(shape, list | tuple | penstock.TensorShape | penstock.Tensor):
            return initializer(*args, **kwargs)
        restoring.note(f"tf.{name}_initializer(shape)")
        return value(*args, **kwargs)

    return called


# Of which a value was made by the initializer itself.
VALUES_BEFORE_1 = ("ones", "zeros")


def _in_both_orders(name: str, function: Callable[..., Any], order: Order) -> Callable[..., Any]:
    @decorates(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        changed = list(args)
        if order(changed, kwargs):
            restoring.note(f"tf.{name}(...) in its old order")
        return function(*changed, **kwargs)

    return called


# ---- looking them up -----------------------------------------------------------------------------


def public(name: str) -> Any:
    """The public name with dots."""
    return functools.reduce(getattr, name.split("."), penstock)


@functools.cache
def top() -> frozenset[str]:
    """The old names, and those in an old order, that stand directly below ``tf``."""
    values = (f"{name}_initializer" for name in VALUES_BEFORE_1)
    known = {*RENAMED, *WRITTEN, *BY_TYPES, *BEFORE_1, *values}
    return frozenset(name for name in known if "." not in name)


def find(name: str, version: str) -> Any:
    """What a name of ``top`` is now.

    Args:
      name: the name.
      version: the version that the program is for.
    """
    if name not in RENAMED and name not in WRITTEN:
        return orders("", version).get(name) or public(name)
    restoring.note(f"tf.{name}")
    return WRITTEN[name] if name in WRITTEN else public(RENAMED[name])


def within(namespace: str) -> dict[str, restoring.Value]:
    """The old names of a namespace such as ``nn``, without it."""
    prefix = f"{namespace}."
    return {
        name.removeprefix(prefix): functools.partial(public, new)
        for name, new in RENAMED.items()
        if name.startswith(prefix)
    }


def orders(namespace: str, version: str) -> dict[str, Callable[..., Any]]:
    """The functions of a namespace that take an old order as well; of ``''`` those of ``tf``."""
    early = version.startswith("0.")
    known = BY_TYPES | (BEFORE_1 if early else {})
    values = VALUES_BEFORE_1 if early and not namespace else ()
    return {f"{name}_initializer": _value_or_initializer(name) for name in values} | {
        name.rpartition(".")[2]: _in_both_orders(name, public(name), order)
        for name, order in known.items()
        if name.rpartition(".")[0] == namespace
    }


def add_to(namespace: str, module: ModuleType, version: str) -> None:
    """Gives a namespace, in this process, its old names and orders."""
    names = within(namespace)
    if names:
        restoring.put_back(module, names)
    for name, function in orders(namespace, version).items():
        setattr(module, name, function)
