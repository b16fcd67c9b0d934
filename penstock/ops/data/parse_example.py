"""``tf.train.Example`` and ``SequenceExample`` messages taken apart: the four Parse ops.

What a feature becomes is a *dense* tensor (a fixed number of values an example, or padded to the
longest) or the three parts of a *sparse* one.  The ops differ in where keys stand (inputs or attrs)
and in whether there is a batch; one kernel serves the two of each kind of message.

``data.features`` has the public functions.

Source: the Parse ops of TensorFlow 1.15 (outputs, defaults, padding, errors).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors
from penstock.foundation.formats import serialized as messages
from penstock.foundation.formats.schema import Example, SequenceExample
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext

_NO_GRADIENT = "its input is a string"
_FIELDS = {torch.float32: "float_list", torch.int64: "int64_list", object: "bytes_list"}
_NAMES = {torch.float32: "float", torch.int64: "int64", object: "string"}
_ALONE = "Can't parse serialized Example. "  # what TensorFlow says of an example without a batch
_KINDS = {"float_list": "float", "int64_list": "int64", "bytes_list": "string"}


def _tensor(values: Sequence[Any], dtype: Any, shape: Sequence[int] | None = None) -> Any:
    if dtype is object:
        made: Any = np.empty(len(values), object)
        made[:] = values
    else:
        made = torch.tensor(values, dtype=dtype)
    return made if shape is None else made.reshape(tuple(shape))


def _indices(rows: Sequence[Any], depth: int) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.int64).reshape(-1, depth)


def _values(feature: Any, dtype: Any, where: str) -> Any:
    """The values of a feature; None where it is not set."""
    kind = feature.WhichOneof("kind") if feature is not None else None
    if kind is None:
        return None
    if kind != _FIELDS[dtype]:
        raise errors.invalid(
            f"{where}.  Data types don't match. Expected type: {_NAMES[dtype]}, Actual"
            f" type: {_KINDS[kind]}"
        )
    return getattr(feature, kind).value


def _message(kind: Any, data: bytes, name: str) -> Any:
    try:
        return messages.parse(kind, data)
    except ValueError:
        what = "example" if kind is Example else "sequence example"
        raise errors.invalid(f"{name}Could not parse {what} input, value: '{data!r}'") from None


def _place(name: str, key: str, number: int) -> str:
    """Where in a batch a feature is, or in an example that is alone, which has no name."""
    return f"{name}Key: {key}, Index: {number}" if name else f"Key: {key}"


def _plain(default: Any) -> list[Any]:
    return default.reshape(-1).tolist()


# ---- one feature of a batch ----------------------------------------------------------------------


def _sparse(rows: list[Any], dtype: Any) -> tuple[Any, Any, Any]:
    """Indices, values and shape of a feature of several examples (None where one lacks it)."""
    indices = [(b, i) for b, row in enumerate(rows) if row for i in range(len(row))]
    values = [v for row in rows if row for v in row]
    longest = max((len(row) for row in rows if row), default=0)
    shape = torch.tensor([len(rows), longest])
    return _indices(indices, 2), _tensor(values, dtype), shape


def _dense(
    key: str, rows: list[Any], dtype: Any, dims: tuple[Any, ...], default: Any, names: list[str]
) -> Any:
    """A feature with a fixed number of values, or with a first dim that is padded."""
    if dims and dims[0] is None:
        return _padded(key, rows, dtype, dims, default, names)
    size = int(np.prod(dims, dtype=np.int64))
    fallback = _plain(default)
    if fallback and tuple(default.shape) != tuple(dims):
        raise errors.invalid(
            f"Key: {key}.  The default has shape {list(default.shape)}, but the feature has"
            f" {list(dims)}"
        )
    flat: list[Any] = []
    for number, (row, name) in enumerate(zip(rows, names)):
        if row is None:
            if not fallback and size:
                raise errors.invalid(
                    f"{name}Feature: {key} (data type: {_NAMES[dtype]}) is required but could not"
                    " be found."
                )
            row = fallback
        elif len(row) != size:
            raise errors.invalid(
                f"{_place(name, key, number)}.  {'' if name else _ALONE}Number of {_NAMES[dtype]}"
                f" values != expected.  Values size: {len(row)} but output shape: {list(dims)}"
            )
        flat.extend(row)
    return _tensor(flat, dtype, (len(rows), *dims))


def _padded(
    key: str, rows: list[Any], dtype: Any, dims: tuple[Any, ...], default: Any, names: list[str]
) -> Any:
    stride = int(np.prod(dims[1:], dtype=np.int64))
    for number, (row, name) in enumerate(zip(rows, names)):
        if row and len(row) % stride:
            raise errors.invalid(
                f"{_place(name, key, number)}.  Number of {_NAMES[dtype]} values is not a multiple"
                f" of stride length. Saw {len(row)} values but output shape is: {[-1, *dims[1:]]}"
            )
    longest = max((len(row) for row in rows if row), default=0)
    filler = (_plain(default) or [b"" if dtype is object else 0])[:1]
    flat = [v for row in rows for v in (*(row or ()), *filler * (longest - len(row or ())))]
    return _tensor(flat, dtype, (len(rows), longest // stride, *dims[1:]))


class _Wanted:
    """Keys, types and shapes of the features of one kind of container."""

    def __init__(
        self,
        sparse: Sequence[Any],
        sparse_types: Sequence[Any],
        dense: Sequence[Any],
        dense_types: Sequence[Any],
        dense_shapes: Sequence[Any],
        defaults: Sequence[Any],
    ) -> None:
        self.sparse = [(_key(k), t) for k, t in zip(sparse, sparse_types)]
        self.dense = list(zip(map(_key, dense), dense_types, dense_shapes, defaults))

    def of(self, containers: list[Any], names: list[str]) -> tuple[list[Any], ...]:
        """Indices, values and shapes of the sparse features, and the dense ones."""
        parts = [_sparse(self._rows(containers, k, t, names), t) for k, t in self.sparse]
        dense = [
            _dense(k, self._rows(containers, k, t, names), t, dims, default, names)
            for k, t, dims, default in self.dense
        ]
        return *([p[i] for p in parts] for i in range(3)), dense

    def require_defaults(self) -> None:
        """Without examples TF knows how many values there are from the default only."""
        for key, _, dims, default in self.dense:
            if not _plain(default) and 0 not in dims:
                raise errors.invalid(f"Key: {key}.  No example and no default has values of it.")

    @staticmethod
    def _rows(containers: list[Any], key: str, dtype: Any, names: list[str]) -> list[Any]:
        return [
            _values(c[key] if key in c else None, dtype, _place(name, key, number))
            for number, (c, name) in enumerate(zip(containers, names))
        ]


def _key(key: Any) -> str:
    found = key.item() if isinstance(key, np.ndarray) else key
    return found if isinstance(found, str) else found.decode()


def _prefixes(names: Any, count: int) -> list[str]:
    given = np.asarray(names, object).ravel()
    if given.size not in (0, count):
        raise errors.invalid(
            f"Expected len(names) == len(serialized), but got: {given.size} vs. {count}"
        )
    if not given.size:
        return ["Name: <unknown>, "] * count
    return [f"Name: {name.decode()}, " for name in given]


def _without_batch(sparse_and_dense: tuple[list[Any], ...]) -> tuple[list[Any], ...]:
    indices, values, shapes, dense = sparse_and_dense
    first = [i[:, 1:].contiguous() for i in indices]
    return first, values, [s[1:].contiguous() for s in shapes], [d[0, ...] for d in dense]


# ---- Example -------------------------------------------------------------------------------------


def _parse_example(
    serialized: Any,
    names: Any,
    sparse_keys: list[Any],
    dense_keys: list[Any],
    dense_defaults: list[Any],
    sparse_types: list[Any],
    Tdense: list[Any],
    dense_shapes: list[Any],
) -> Any:
    prefixes = _prefixes(names, len(serialized))
    wanted = _Wanted(sparse_keys, sparse_types, dense_keys, Tdense, dense_shapes, dense_defaults)
    examples = [_message(Example, d, n) for d, n in zip(serialized, prefixes)]
    return wanted.of([e.features.feature for e in examples], prefixes)


def _parse_single_example(
    serialized: Any,
    dense_defaults: list[Any],
    sparse_keys: list[Any],
    dense_keys: list[Any],
    sparse_types: list[Any],
    Tdense: list[Any],
    dense_shapes: list[Any],
) -> Any:
    wanted = _Wanted(sparse_keys, sparse_types, dense_keys, Tdense, dense_shapes, dense_defaults)
    example = _message(Example, serialized.item(), "")
    return _without_batch(wanted.of([example.features.feature], [""]))


# ---- SequenceExample -----------------------------------------------------------------------------


def _steps(container: Any, key: str, dtype: Any, name: str) -> Any:
    """The values of each step of a feature list; None where there is no such list."""
    if key not in container:
        return None
    return [
        _values(f, dtype, f"{name}Feature list: {key}, Index: {t}") or []
        for t, f in enumerate(container[key].feature)
    ]


def _sparse_lists(lists: list[Any], dtype: Any) -> tuple[Any, Any, Any]:
    rows = [
        (b, t, i, v)
        for b, steps in enumerate(lists)
        for t, step in enumerate(steps or ())
        for i, v in enumerate(step)
    ]
    longest = max((len(steps) for steps in lists if steps), default=0)
    widest = max((len(step) for steps in lists for step in steps or ()), default=0)
    shape = torch.tensor([len(lists), longest, widest])
    return _indices([r[:3] for r in rows], 3), _tensor([r[3] for r in rows], dtype), shape


def _dense_lists(
    key: str, lists: list[Any], dtype: Any, dims: tuple[Any, ...], may_lack: bool, names: list[str]
) -> tuple[Any, Any]:
    size = int(np.prod(dims, dtype=np.int64))
    for steps, name in zip(lists, names):
        if steps is None and not may_lack:
            raise errors.invalid(
                f"{name}Feature list '{key}' is required but could not be found.  Did you mean to"
                " include it in feature_list_dense_missing_assumed_empty or"
                " feature_list_dense_defaults?"
            )
        for t, step in enumerate(steps or ()):
            if len(step) != size:
                raise errors.invalid(
                    f"{name}Key: {key}, Index: {t}.  Number of {_NAMES[dtype]} values != expected."
                    f"  values size: {len(step)} but output shape: {list(dims)}"
                )
    longest = max((len(steps) for steps in lists if steps), default=0)
    filler = [b"" if dtype is object else 0] * size
    flat: list[Any] = []
    for steps in lists:
        for step in steps or ():
            flat.extend(step)
        flat.extend(filler * (longest - len(steps or ())))
    lengths = torch.tensor([len(steps or ()) for steps in lists], dtype=torch.int64)
    return _tensor(flat, dtype, (len(lists), longest, *dims)), lengths


def _sequences(
    data: list[bytes],
    names: list[str],
    context: _Wanted,
    sparse: list[tuple[str, Any]],
    dense: list[tuple[str, Any, Any]],
    may_lack: set[str],
) -> tuple[list[Any], ...]:
    examples = [_message(SequenceExample, d, n) for d, n in zip(data, names)]
    if not examples:
        context.require_defaults()
    found = context.of([e.context.feature for e in examples], names)
    lists = [e.feature_lists.feature_list for e in examples]

    def steps(key: str, dtype: Any) -> list[Any]:
        return [_steps(c, key, dtype, n) for c, n in zip(lists, names)]

    parts = [_sparse_lists(steps(k, t), t) for k, t in sparse]
    whole = [_dense_lists(k, steps(k, t), t, s, k in may_lack, names) for k, t, s in dense]
    return (
        *found,
        *([p[i] for p in parts] for i in range(3)),
        *([w[i] for w in whole] for i in range(2)),
    )


def _parse_sequence_example(
    serialized: Any,
    debug_name: Any,
    context_dense_defaults: list[Any],
    feature_list_dense_missing_assumed_empty: list[Any],
    context_sparse_keys: list[Any],
    context_dense_keys: list[Any],
    feature_list_sparse_keys: list[Any],
    feature_list_dense_keys: list[Any],
    context_sparse_types: list[Any],
    Tcontext_dense: list[Any],
    feature_list_dense_types: list[Any],
    context_dense_shapes: list[Any],
    feature_list_sparse_types: list[Any],
    feature_list_dense_shapes: list[Any],
) -> Any:
    context = _Wanted(
        context_sparse_keys, context_sparse_types, context_dense_keys, Tcontext_dense,
        context_dense_shapes, context_dense_defaults,
    )  # fmt: skip
    return _sequences(
        list(serialized),
        _prefixes(debug_name, len(serialized)),
        context,
        [(_key(k), t) for k, t in zip(feature_list_sparse_keys, feature_list_sparse_types)],
        [
            (_key(k), t, s)
            for k, t, s in zip(
                feature_list_dense_keys, feature_list_dense_types, feature_list_dense_shapes
            )
        ],
        set(map(_key, feature_list_dense_missing_assumed_empty)),
    )


def _parse_single_sequence_example(
    serialized: Any,
    feature_list_dense_missing_assumed_empty: Any,
    context_sparse_keys: list[Any],
    context_dense_keys: list[Any],
    feature_list_sparse_keys: list[Any],
    feature_list_dense_keys: list[Any],
    context_dense_defaults: list[Any],
    debug_name: Any,
    context_sparse_types: list[Any],
    Tcontext_dense: list[Any],
    feature_list_dense_types: list[Any],
    context_dense_shapes: list[Any],
    feature_list_sparse_types: list[Any],
    feature_list_dense_shapes: list[Any],
) -> Any:
    found = _parse_sequence_example(
        [serialized.item()],
        debug_name.reshape(-1),
        context_dense_defaults,
        list(feature_list_dense_missing_assumed_empty),
        context_sparse_keys,
        context_dense_keys,
        feature_list_sparse_keys,
        feature_list_dense_keys,
        context_sparse_types,
        Tcontext_dense,
        feature_list_dense_types,
        context_dense_shapes,
        feature_list_sparse_types,
        feature_list_dense_shapes,
    )
    return *_without_batch(found[:4]), *_without_batch(found[4:8])


# ---- shapes and definitions ----------------------------------------------------------------------


def _sparse_dims(count: int, depth: int) -> list[Dims]:
    return [(None, depth)] * count + [(None,)] * count + [(depth,)] * count


def _shapes_of(ctx: ShapeContext, name: str, front: tuple[int | None, ...]) -> list[Dims]:
    made: list[Dims] = []
    for shape in ctx.attr(name):
        made.append(None if shape.sizes is None else (*front, *shape.sizes))
    return made


def _example_shape(ctx: ShapeContext) -> list[Dims]:
    batch = ctx.rank("serialized", 1)
    dense = _shapes_of(ctx, "dense_shapes", batch)
    return _sparse_dims(len(ctx.attr("sparse_types")), 2) + dense


def _single_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("serialized", 0)
    dense = _shapes_of(ctx, "dense_shapes", ())
    return _sparse_dims(len(ctx.attr("sparse_types")), 1) + dense


def _sequence_rule(single: bool) -> Callable[[ShapeContext], list[Dims]]:
    def rule(ctx: ShapeContext) -> list[Dims]:
        batch = ctx.rank("serialized", 0 if single else 1)
        depth = 1 if single else 2
        lists = _shapes_of(ctx, "feature_list_dense_shapes", (*batch, None))
        made = _sparse_dims(len(ctx.attr("context_sparse_types")), depth)
        made += _shapes_of(ctx, "context_dense_shapes", batch)
        made += _sparse_dims(len(ctx.attr("feature_list_sparse_types")), depth + 1) + lists
        return made if single else made + [batch] * len(lists)

    return rule


def _list_of(name: str, default: str = " = []") -> str:
    return f"{name}: list({{float, int64, string}}){default}"


_COUNTS = [
    f"{name}: int = 0"
    for name in ("Ncontext_sparse", "Ncontext_dense", "Nfeature_list_sparse", "Nfeature_list_dense")
]
_SEQUENCE = [
    *_COUNTS, _list_of("context_sparse_types"), _list_of("Tcontext_dense"),
    _list_of("feature_list_dense_types"), "context_dense_shapes: list(shape) = []",
    _list_of("feature_list_sparse_types"), "feature_list_dense_shapes: list(shape) = []",
]  # fmt: skip
_SEQUENCE_OUTPUTS = (
    "context_sparse_indices: Ncontext_sparse * int64,"
    " context_sparse_values: list(context_sparse_types),"
    " context_sparse_shapes: Ncontext_sparse * int64,"
    " context_dense_values: list(Tcontext_dense),"
    " feature_list_sparse_indices: Nfeature_list_sparse * int64,"
    " feature_list_sparse_values: list(feature_list_sparse_types),"
    " feature_list_sparse_shapes: Nfeature_list_sparse * int64,"
    " feature_list_dense_values: list(feature_list_dense_types)"
)
_EXAMPLE_OUTPUTS = (
    "sparse_indices: {n} * int64, sparse_values: list(sparse_types), sparse_shapes: {n} * int64,"
    " dense_values: list(Tdense)"
)
_EXAMPLE = [
    _list_of("sparse_types", ""), _list_of("Tdense", ""), "dense_shapes: list(shape)",
]  # fmt: skip

define_op(
    "ParseExample",
    "serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense * string,"
    " dense_defaults: list(Tdense) -> " + _EXAMPLE_OUTPUTS.format(n="Nsparse"),
    attrs=["Nsparse: int", "Ndense: int", *_EXAMPLE],
    shape=_example_shape,
    kernel=_parse_example,
    no_gradient=_NO_GRADIENT,
)
define_op(
    "ParseSingleExample",
    "serialized: string, dense_defaults: list(Tdense) -> "
    + _EXAMPLE_OUTPUTS.format(n="num_sparse"),
    attrs=[
        "num_sparse: int", "sparse_keys: list(string)", "dense_keys: list(string)", *_EXAMPLE,
    ],
    shape=_single_shape,
    kernel=_parse_single_example,
    no_gradient=_NO_GRADIENT,
)  # fmt: skip
define_op(
    "ParseSequenceExample",
    "serialized: string, debug_name: string, context_dense_defaults: list(Tcontext_dense) -> "
    + _SEQUENCE_OUTPUTS
    + ", feature_list_dense_lengths: Nfeature_list_dense * int64",
    attrs=[
        "feature_list_dense_missing_assumed_empty: list(string)",
        "context_sparse_keys: list(string)",
        "context_dense_keys: list(string)",
        "feature_list_sparse_keys: list(string)",
        "feature_list_dense_keys: list(string)",
        *_SEQUENCE,
    ],
    shape=_sequence_rule(single=False),
    kernel=_parse_sequence_example,
    no_gradient=_NO_GRADIENT,
)
define_op(
    "ParseSingleSequenceExample",
    "serialized: string, feature_list_dense_missing_assumed_empty: string,"
    " context_sparse_keys: Ncontext_sparse * string, context_dense_keys: Ncontext_dense * string,"
    " feature_list_sparse_keys: Nfeature_list_sparse * string,"
    " feature_list_dense_keys: Nfeature_list_dense * string,"
    " context_dense_defaults: list(Tcontext_dense), debug_name: string -> " + _SEQUENCE_OUTPUTS,
    attrs=_SEQUENCE,
    shape=_sequence_rule(single=True),
    kernel=_parse_single_sequence_example,
    no_gradient=_NO_GRADIENT,
)
