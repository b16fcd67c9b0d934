"""``tf.data.Iterator``: positions in datasets, as graph nodes.

State: the handle, the initializer, the structure of an element; the position is a resource.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.collecting import add_to_collection
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import colocate_with, get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.training.data import specs

_ITERATORS = "iterators"  # the collection of their handles, which MetaGraphs carry


class Iterator(specs.Structured):
    """Goes through a dataset.

    Args:
      iterator_resource: its handle.
      initializer: the operation that starts it, or None.
      output_types, output_shapes, output_classes: nestings: what an element is made of.

    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     iterator = tf.data.Dataset.range(2).make_one_shot_iterator()
    ...     element = iterator.get_next()
    ...     [int(session.run(element)) for _ in range(2)]
    [0, 1]
    """

    def __init__(
        self, iterator_resource: Any, initializer: Any, output_types: Any, output_shapes: Any,
        output_classes: Any,
    ) -> None:  # fmt: skip
        structure = specs.from_legacy(output_types, output_shapes, output_classes)
        self._set(iterator_resource, initializer, structure)

    def _set(self, handle: Any, initializer: Any, structure: Any) -> None:
        self._iterator_resource, self._initializer, self.structure = handle, initializer, structure
        add_to_collection(_ITERATORS, handle)
        self._string_handle = make("IteratorToStringHandle", handle)

    @classmethod
    def made_of(cls, handle: Any, initializer: Any, structure: Any) -> Iterator:
        made = cls.__new__(cls)
        made._set(handle, initializer, structure)
        return made

    @staticmethod
    def from_structure(
        output_types: Any, output_shapes: Any = None, shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:  # fmt: skip
        """An iterator that ``make_initializer`` starts with any dataset of this structure.

        Args:
          output_types: nesting of dtypes.
          output_shapes: nesting of shapes; unknown where None.
          shared_name: sessions that share state share the iterator under this name.
          output_classes: nesting of Tensor and SparseTensor; all Tensor where None.
        """
        structure = specs.from_legacy(output_types, output_shapes, output_classes)
        return Iterator.made_of(_resource(structure, shared_name), None, structure)

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Iterator:
        """The iterator whose ``string_handle()`` is fed.

        Args:
          string_handle: string scalar.
          output_types, output_shapes, output_classes: as for ``from_structure``.
        """
        structure = specs.from_legacy(output_types, output_shapes, output_classes)
        handle = make(
            "IteratorFromStringHandleV2",
            convert_to_tensor(string_handle, dtypes.string),
            output_types=specs.flat_types(structure),
            output_shapes=specs.flat_shapes(structure),
        )
        return Iterator.made_of(handle, None, structure)

    @property
    def initializer(self) -> Operation:
        """The operation that starts it.

        Raises:
          ValueError: ``make_initializer`` makes it.
        """
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        op: Operation = self._initializer
        return op

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """An operation that starts the iterator with ``dataset``.

        Raises:
          TypeError: elements of another structure.
        """
        _check_structure(self.structure, dataset)
        with colocate_with(self._iterator_resource):
            made: Operation = make(
                "MakeIterator", dataset.in_workers(), self._iterator_resource,
                name=name or "make_initializer",
            )  # fmt: skip
        return made

    def get_next(self, name: str | None = None) -> Any:
        """The next element: a nesting of tensors, new in each step.

        Running it raises ``tf.errors.OutOfRangeError`` after the last element, and
        FailedPreconditionError where the iterator was not started.
        """
        flat = make(
            "IteratorGetNext", self._iterator_resource,
            output_types=specs.flat_types(self.structure),
            output_shapes=specs.flat_shapes(self.structure), name=name,
        )  # fmt: skip
        return specs.from_flat(self.structure, flat)

    def string_handle(self, name: str | None = None) -> Tensor:
        """A string scalar that ``from_string_handle`` takes."""
        if name is None:
            made: Tensor = self._string_handle
            return made
        return make_tensor("IteratorToStringHandle", self._iterator_resource, name=name)


def _check_structure(wanted: Any, dataset: Any) -> None:
    found = dataset.element_spec
    try:
        pairs = list(zip(specs.flatten(wanted), specs.flatten_as(wanted, found), strict=True))
    except ValueError as error:
        raise TypeError(str(error)) from None
    for ours, theirs in pairs:
        if ours.dtype is not theirs.dtype:
            raise TypeError(
                f"Expected output types {specs.legacy_types(wanted)!r} but got dataset with output"
                f" types {specs.legacy_types(found)!r}."
            )
        if not ours.shape.is_compatible_with(theirs.shape):
            raise TypeError(
                f"Expected output shapes compatible with {specs.legacy_shapes(wanted)!r} but got"
                f" dataset with output shapes {specs.legacy_shapes(found)!r}."
            )
        if ours.value_type is not theirs.value_type:
            raise TypeError(
                f"Expected output classes {specs.legacy_classes(wanted)!r} but got dataset with"
                f" output classes {specs.legacy_classes(found)!r}."
            )


def _resource(structure: Any, shared_name: str | None) -> Any:
    return make(
        "IteratorV2",
        container="",
        shared_name=shared_name or "",
        output_types=specs.flat_types(structure),
        output_shapes=specs.flat_shapes(structure),
    )


class EagerIterator(Iterator):
    """Goes through a dataset where operations run as they are called."""

    def __iter__(self) -> EagerIterator:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    def next(self) -> Any:
        """The next element.

        Raises:
          StopIteration: there is none.
        """
        return next(self)


def running(dataset: Any) -> EagerIterator:
    """The elements of a dataset, one by one, where operations run as they are called.

    Raises:
      RuntimeError: nodes are being built.
    """
    if not get_default_graph().executes:
        raise RuntimeError("dataset.__iter__() is only supported when eager execution is enabled.")
    handle = _resource(dataset.element_spec, None)
    make("MakeIterator", dataset.in_workers(), handle)
    made: Any = EagerIterator.made_of(handle, None, dataset.element_spec)
    return made  # type: ignore[no-any-return]


def needs_an_initializer(error: ValueError) -> ValueError:
    """Why a dataset cannot start by itself, which captures state."""
    return ValueError(
        "Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()`"
        " does not support datasets that capture stateful objects, such as a `Variable` or"
        " `LookupTable`. In these cases, use `Dataset.make_initializable_iterator()`. (Original"
        f" error: {error})"
    )


def initializable(dataset: Any, shared_name: str | None) -> Iterator:
    """An iterator over one dataset that an initializer starts.

    Raises:
      RuntimeError: operations run as they are called.
    """
    if get_default_graph().executes:
        raise RuntimeError(
            "dataset.make_initializable_iterator is not supported when eager execution is enabled:"
            " iterate over the dataset itself"
        )
    source = dataset.apply_options()
    structure = dataset.element_spec
    handle = _resource(structure, shared_name)
    with colocate_with(handle):
        initializer = make("MakeIterator", source, handle)
    return Iterator.made_of(handle, initializer, structure)
