"""How large the variables and the operations of a model are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def tensor_description(var: Any) -> str:
    """Shape and type of a tensor or variable in words: ``(float32 3x3x64)``."""
    sizes = "x".join(str(size) for size in var.get_shape().as_list())
    return f"({var.dtype.name} {sizes})"


def _heading(text: str) -> None:
    print("---------")
    print(f"{text}: name (type shape) [size]")
    print("---------")


def analyze_ops(graph: Any, print_info: bool = False) -> int:
    """How many numbers the outputs of a graph's operations hold, as far as that is known.

    Args:
      graph: the graph.
      print_info: whether each operation is printed.
    """
    if print_info:
        _heading("Operations")
    total = 0
    for op in graph.get_operations():
        size = 0
        for output in op.outputs:
            known = output.get_shape().num_elements()
            size += known or 0
        total += size
        if print_info and op.outputs:
            words = " ".join(tensor_description(output) for output in op.outputs)
            print(f"{op.name} ({op.type}) -> {words} [{size}]")
    return total


def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """How many numbers, and bytes, variables hold.

    Args:
      variables: the variables.
      print_info: whether each is printed.

    Returns:
      (numbers, bytes).

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     v = tf.get_variable("v", [3, 4])
      ...     tf.contrib.slim.model_analyzer.analyze_vars([v])
      (12, 48)
    """
    if print_info:
        _heading("Variables")
    total = count = 0
    for variable in variables:
        size = math.prod(variable.get_shape().as_list())
        nbytes = size * variable.dtype.size
        count, total = count + size, total + nbytes
        if print_info:
            print(variable.name, tensor_description(variable), f"[{size}, bytes: {nbytes}]")
    if print_info:
        print(f"Total size of variables: {count}")
        print(f"Total bytes of variables: {total}")
    return count, total
