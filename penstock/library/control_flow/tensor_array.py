"""``tf.TensorArray``: an array of tensors, by index, for loops.

An object stands for one state of an array: its handle, and a *flow* that whatever reads it must
come after.  Each write gives a new object with the flow of that write; all objects of one array
share what is known of its elements' shape.  The array itself exists in a running step only
(``penstock.ops.control.tensor_array``).

In functions (those that datasets call, and of ``tf.function``) an array is a list
(``array_nodes``), whose flow is the elements: it may be written anew, returned, and handed from one
call to the next.  Where operations run at once it is a list of Python's (``eager_array``).

State of an object: its nodes, flow, dtype, whether the size is dynamic and shapes are inferred;
``_shared`` holds the element shape, and the tensor that was written first (all that is written
is colocated with it), for all objects of the array.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.shapes import TensorShape, as_shape
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import (
    TensorSpec,
    TypeSpec,
    register_type_spec_from_value_converter,
)  # fmt: skip
from penstock.foundation.opdef.static import constant_value
from penstock.library.control_flow.array_nodes import (
    ListArray,
    StepArray,
    arrays_are_lists,
    of_rows,
    reserved,
)
from penstock.library.control_flow.eager_array import EagerArray, start_flow
from penstock.ops.array import cast as casts, ranges, shape as shape_ops
from penstock.ops.array.nodes import element
from penstock.ops.control import control


class _Shared:
    """What the objects of one array have in common."""

    __slots__ = ("element_shape", "first_written")

    def __init__(self, element_shape: TensorShape) -> None:
        self.element_shape = element_shape
        self.first_written: Any = None


class TensorArray:
    """An array of tensors of one dtype, each written once; made for loops, differentiable.

    Args:
      dtype: of the elements.
      size: int32 scalar, how many elements; needed unless ``handle`` is given.
      dynamic_size: whether writes past the end make the array larger; default False.
      clear_after_read: whether an element is freed when it is read, and can be read once only;
        default True.
      tensor_array_name: the array's name in error messages.
      handle: of an array that exists; then ``flow`` is needed, and size, element_shape,
        dynamic_size, clear_after_read and tensor_array_name must not be given.
      flow: float32 scalar: a ``flow`` of that array.
      infer_shape: whether all elements have the same shape, and are checked for it.
      element_shape: static shape of every element, as far as it is known.
      colocate_with_first_write_call: put the array where the first tensor written is.
      name: name scope of the array's node.

    Raises:
      ValueError: arguments that exclude each other, or one that is missing.
      TypeError: the handle is no tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     squares = tf.TensorArray(tf.int32, size=2).write(0, 0).write(1, 1)
      ...     sess.run(squares.stack()).tolist()
      [0, 1]
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        graph = scopes.get_default_graph()
        of_list = _is_list(flow) or (handle is None and arrays_are_lists(graph))
        executes = graph.executes and not of_list
        if handle is None:
            if size is None and not _is_list(flow) and not executes:
                raise ValueError("Size must be provided if handle is not provided")
        else:
            _check_wraps(handle, tensor_array_name, {
                "size": size, "element_shape": element_shape, "dynamic_size": dynamic_size,
                "clear_after_read": clear_after_read,
            })  # fmt: skip
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        self._colocate = colocate_with_first_write_call
        self._shared = _Shared(as_shape(element_shape))
        self._nodes: StepArray | ListArray | EagerArray
        if executes:
            if size is None:
                raise ValueError(
                    "Size must be declared for TensorArrays when eager execution is enabled."
                )
            self._nodes = EagerArray(
                size, self._dynamic_size, clear_after_read is None or clear_after_read
            )
            self._flow = start_flow()
            return
        if of_list:
            self._nodes = ListArray(self._dynamic_size)
            self._flow = flow if _is_list(flow) else self._reserved(size, name)
            return
        with scopes.name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                if flow is None:
                    raise ValueError("flow must not be None if handle is not None.")
                self._nodes, self._flow = StepArray(handle), flow
                return
            with self._anywhere():
                handle, self._flow = make(
                    "TensorArrayV3",
                    size,
                    dtype=self._dtype,
                    element_shape=element_shape,
                    identical_element_shapes=infer_shape,
                    dynamic_size=self._dynamic_size,
                    clear_after_read=clear_after_read is None or clear_after_read,
                    tensor_array_name=tensor_array_name or "",
                    name=scope,
                )
                self._nodes = StepArray(handle)

    def _reserved(self, size: Any, name: str | None) -> Tensor:
        """A list of which nothing was written."""
        with scopes.name_scope(name, ListArray.prefix, [size]) as scope, self._anywhere():
            return reserved(size, self._dtype, self.element_shape, scope)

    @contextmanager
    def _anywhere(self) -> Iterator[None]:
        """No device for the array: the first tensor written decides, if it is to."""
        if not self._colocate:
            yield
            return
        with scopes.device(None), scopes.colocate_with(None, ignore_existing=True):
            yield

    @property
    def flow(self) -> Tensor:
        """The scalar that comes after all that led to this state of the array."""
        flow: Tensor = self._flow
        return flow

    @property
    def dtype(self) -> dtypes.DType:
        """Dtype of the elements."""
        return self._dtype

    @property
    def handle(self) -> Any:
        """The tensor that stands for the array; None where it is a list."""
        return self._nodes.handle

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the shape of the elements."""
        return self._shared.element_shape

    @property
    def dynamic_size(self) -> bool:
        """Whether the array can grow."""
        return self._dynamic_size

    def identity(self) -> TensorArray:
        """The same array after the control dependencies that surround the call."""
        flow = control.identity(self._flow)
        if isinstance(self._nodes, StepArray):
            with scopes.name_scope(None, "TensorArray"):
                pass  # TensorFlow makes the array's object anew, which takes the name
        return self._with_flow(flow)

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> TensorArray:
        """The array of the gradients of this one's elements.

        Args:
          source: which ``tf.gradients`` call it belongs to.
          flow: comes after all writes; default this object's.

        Returns:
          A TensorArray whose writes to one index add up.
        """
        flow = self._flow if flow is None else flow
        handle, after = self._nodes.gradient(flow, source, name)
        made = _wrap(self._dtype, handle, after, self._infer_shape, False)
        made._shared.element_shape = self._shared.element_shape
        return made

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at ``index`` (an int32 scalar); it is freed unless clear_after_read=False."""
        value = self._nodes.read(self._flow, index, self._dtype, self.element_shape, name)
        value.set_shape(self.element_shape)
        return value

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with ``value`` at ``index``.

        Raises:
          ValueError: the value's shape does not fit.
        """
        with scopes.name_scope(name, f"{self._nodes.prefix}Write", [self._flow, index, value]):
            value = self._element(value)
            self._learn_shape(value.shape)
            nodes = self._nodes.changed()
            if isinstance(nodes, EagerArray):
                self._check_type(value)
            with self._beside(value):
                flow = nodes.write(self._flow, index, value, name)
            return self._with_flow(flow, nodes)

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one tensor [size, ...]; they must have one shape."""
        with (
            self._nodes.beside(),
            scopes.name_scope(name, f"{self._nodes.prefix}Stack", [self._flow]),
        ):
            return self._rows(self._nodes.stack(self._flow, self._dtype, self.element_shape, name))

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at ``indices`` (an int32 vector) as one tensor."""
        return self._rows(
            self._nodes.gather(self._flow, indices, self._dtype, self.element_shape, name)
        )

    def concat(self, name: str | None = None) -> Tensor:
        """The elements end to end, along their first dim."""
        known = self.element_shape
        value = self._nodes.concat(self._flow, self._dtype, known, name)
        if known.dims:
            value.set_shape([None, *known.dims[1:]])
        return value

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """The array with the rows of ``value`` as its elements, in order.

        Raises:
          ValueError: their shape does not fit.
        """
        with scopes.name_scope(name, "TensorArrayUnstack", [self._flow, value]):
            nodes = self._nodes.changed()
            if not isinstance(nodes, StepArray):
                value = self._element(value)
                if isinstance(nodes, EagerArray):
                    return self._with_flow(nodes.unstack(value), nodes)
                self._learn_shape(value.shape[1:])
                return self._with_flow(of_rows(value, self.element_shape))
            count = element(shape_ops.shape(value), 0)
            return self.scatter(ranges.range_(0, count), value, name=name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with the rows of ``value`` at ``indices``.

        Raises:
          ValueError: their shape does not fit.
        """
        with scopes.name_scope(name, "TensorArrayScatter", [self._flow, value, indices]):
            value = self._element(value)
            self._learn_shape(value.shape[1:])
            nodes = self._nodes.changed()
            with self._beside(value):
                flow = nodes.scatter(self._flow, indices, value, name)
            return self._with_flow(flow, nodes)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """The array with ``lengths[i]`` rows of ``value`` at each index i.

        Raises:
          ValueError: their shape does not fit.
        """
        with scopes.name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            value = convert_to_tensor(value, dtype=self._dtype, name="value")
            with self._beside(value):
                lengths = casts.cast(lengths, dtypes.int64)
                nodes = self._nodes.changed()
                if not isinstance(nodes, EagerArray):
                    self._learn_split(value, constant_value(lengths))
                flow = nodes.split(self._flow, value, lengths, self.element_shape, name)
            return self._with_flow(flow, nodes)

    def size(self, name: str | None = None) -> Tensor:
        """How many elements the array has, an int32 scalar."""
        return self._nodes.size(self._flow, name)

    def close(self, name: str | None = None) -> Any:
        """An operation that frees the array's elements; it cannot be used afterwards."""
        return self._nodes.close(name)

    def mark_used(self) -> None:
        """Does nothing: arrays that are not used are not reported here."""

    # ---- shared with loops and conditionals ------------------------------------------------------

    def _with_flow(self, flow: Any, nodes: Any = None) -> TensorArray:
        """The same array after ``flow``, or what it has become."""
        made = object.__new__(type(self))
        made._dtype, made._dynamic_size = self._dtype, self._dynamic_size
        made._infer_shape, made._colocate = self._infer_shape, self._colocate
        made._flow, made._shared, made._nodes = flow, self._shared, nodes or self._nodes
        return made

    def _check_type(self, value: Tensor) -> None:
        if value.dtype.base_dtype is not self._dtype:
            raise errors.invalid(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype"
                f" {value.dtype.base_dtype.name}"
            )

    def _rows(self, stacked: Tensor) -> Tensor:
        """Elements one after the other, with the shape that they are known to have."""
        known = self.element_shape
        if known.dims is not None and not isinstance(self._nodes, EagerArray):
            stacked.set_shape([None, *known.dims])
        return stacked

    def _element(self, value: Any) -> Tensor:
        return convert_to_tensor(value, preferred_dtype=self._dtype, name="value")

    def _described(self) -> str:
        """The array with the user's line that made it, for errors."""
        op = self._nodes.made_at()
        if op is None:
            return "a TensorArray"
        name = op.attrs.get("tensor_array_name") or op.name
        text = f"TensorArray {name!r}"
        return f"{text}, made at {op.origin}" if op.origin is not None else text

    def _learn_shape(self, shape: TensorShape) -> None:
        known = self._shared.element_shape
        if not shape.is_compatible_with(known):
            raise ValueError(
                f"Inconsistent shapes: an element of shape {shape} is written to a TensorArray"
                f" whose elements have shape {known} (infer_shape=False allows others)"
                f"\nin {self._described()}"
            )
        if self._infer_shape:
            self._shared.element_shape = known.merge_with(shape)

    def _learn_split(self, value: Tensor, lengths: np.ndarray | None) -> None:
        """Where all parts have one length, the elements have one shape."""
        if value.shape.dims is None or lengths is None:
            return
        if lengths.shape and lengths.size and lengths.max() == lengths.min():
            self._learn_shape(TensorShape([int(lengths[0])]).concatenate(value.shape[1:]))

    @contextmanager
    def _beside(self, value: Tensor) -> Iterator[None]:
        """Colocates with the tensor that was written first."""
        if not self._colocate:
            yield
            return
        if self._shared.first_written is None:
            self._shared.first_written = value
        with scopes.colocate_with(self._shared.first_written):
            yield


def _is_list(flow: Any) -> bool:
    return isinstance(flow, Tensor) and flow.dtype is dtypes.variant


def _check_wraps(handle: Any, array_name: str | None, excluded: dict[str, Any]) -> None:
    if array_name:
        raise ValueError("Cannot construct with both handle and tensor_array_name")
    if not isinstance(handle, Tensor):
        raise TypeError("Handle must be a Tensor")
    for name, value in excluded.items():
        if value is not None:
            raise ValueError(f"Cannot provide both a handle and {name} at the same time")


def _wrap(dtype: Any, handle: Any, flow: Any, infer_shape: bool, colocate: bool) -> TensorArray:
    return TensorArray(
        dtype, handle=handle, flow=flow, infer_shape=infer_shape,
        colocate_with_first_write_call=colocate,
    )  # fmt: skip


class TensorArraySpec(TypeSpec):
    """What is known of a TensorArray: the type of its elements, and whether it can grow.

    Args:
      element_shape: static shape of the elements.
      dtype: their dtype.
      dynamic_size: whether the array can grow.
      infer_shape: whether the elements' shapes are checked against each other.
    """

    __slots__ = ("_element_shape", "_dtype", "_dynamic_size", "_infer_shape")

    # ---- as a list, in datasets

    def flat(self) -> list[tuple[dtypes.DType, TensorShape]]:
        """A list's variant."""
        return [(dtypes.variant, TensorShape([]))]

    def to_flat(self, value: Any) -> list[Tensor]:
        """A list's variant.

        Raises:
          TypeError: the array is one of the running step.
        """
        if value.handle is not None:
            raise TypeError(
                f"{value._described()} is of a step of the graph, and cannot go into or out of a"
                " dataset: make it in a function that the dataset calls"
            )
        return [value.flow]

    def from_flat(self, tensors: Any) -> TensorArray:
        """The array that is a list."""
        made = _wrap(self._dtype, None, tensors[0], self._infer_shape, True)
        made._dynamic_size, made._nodes = self._dynamic_size, ListArray(self._dynamic_size)
        made._learn_shape(self._element_shape)
        return made

    @property
    def dtype(self) -> dtypes.DType:
        """Dtype of the elements: what ``output_types`` of a dataset has for the array."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """What ``output_shapes`` has: two dims of 1 (or None) for whether it can grow and its
        shapes are inferred, and the elements' dims."""
        flags = [1 if flag else None for flag in (self._dynamic_size, self._infer_shape)]
        return TensorShape(flags).concatenate(self._element_shape)

    @classmethod
    def of_legacy(cls, shape: TensorShape, dtype: dtypes.DType) -> TensorArraySpec:
        """The spec from ``shape`` and ``dtype``, as above."""
        grows, inferred = (size == 1 for size in shape[:2].as_list())
        return cls(shape[2:], dtype, grows, inferred)

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = dtypes.float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        self._element_shape = as_shape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    @property
    def value_type(self) -> type[TensorArray]:
        """The class that the spec describes."""
        return TensorArray

    @staticmethod
    def from_value(value: TensorArray) -> TensorArraySpec:
        """The spec of a TensorArray."""
        return TensorArraySpec(
            value.element_shape, value.dtype, value.dynamic_size, value._infer_shape
        )

    def is_compatible_with(self, other: Any) -> bool:
        """Whether ``other`` (a spec or a TensorArray) may stand where this spec is wanted."""
        if isinstance(other, TensorArray):
            other = TensorArraySpec.from_value(other)
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype.is_compatible_with(other._dtype)
            and self._element_shape.is_compatible_with(other._element_shape)
            and self._dynamic_size == other._dynamic_size
        )

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The spec that holds what both say.

        Raises:
          ValueError: they are not compatible.
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Types are not compatible: {self} and {other}")
        return TensorArraySpec(
            self._element_shape.most_specific_compatible_shape(other._element_shape),
            self._dtype, self._dynamic_size, self._infer_shape and other._infer_shape,
        )  # fmt: skip

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    @property
    def _component_specs(self) -> Any:
        # An array travels as its handle and its flow.
        return [TensorSpec([], dtypes.resource), TensorSpec([], dtypes.float32)]

    def _to_components(self, value: Any) -> Any:
        return [value.handle, value.flow]

    def _from_components(self, components: Any) -> Any:
        handle, flow = components
        made = _wrap(self._dtype, handle, flow, self._infer_shape, True)
        made._learn_shape(self._element_shape)
        return made

    def __repr__(self) -> str:
        return (
            f"TensorArraySpec({self._element_shape!r}, {self._dtype!r}, {self._dynamic_size},"
            f" {self._infer_shape})"
        )


register_type_spec_from_value_converter(TensorArray, TensorArraySpec.from_value)
