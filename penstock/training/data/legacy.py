"""The functions of ``tf.data`` that stand for methods of datasets and iterators."""

from __future__ import annotations

from typing import Any

from penstock.training.data import specs


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The nesting of dtypes of an element."""
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The nesting of shapes of an element."""
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The nesting of classes of an element."""
    return dataset_or_iterator.output_classes


def make_one_shot_iterator(dataset: Any) -> Any:
    """``Dataset.make_one_shot_iterator``."""
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Any:
    """``Dataset.make_initializable_iterator``."""
    return dataset.make_initializable_iterator(shared_name)


def TensorStructure(dtype: Any, shape: Any) -> specs.TensorSpec:
    """``tf.TensorSpec`` with its arguments in the other order."""
    return specs.TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: Any, shape: Any) -> specs.SparseTensorSpec:
    """``tf.SparseTensorSpec`` with its arguments in the other order."""
    return specs.SparseTensorSpec(shape, dtype)
