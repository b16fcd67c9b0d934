"""Operations between layers, as layers: what a model has of functions of ``tf`` in its midst.

A tensor that operations made of layers' outputs tells no layer.  Each such operation becomes a
``TensorFlowOpLayer``, a record of its node, which computes the same of other inputs; what came
from no ``tf.keras.Input`` becomes a constant of the layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from google.protobuf import json_format

from penstock.foundation.formats.messages import NodeDef
from penstock.foundation.graph import nest, node_message, scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.opdef import static
from penstock.foundation.opdef.registry import OPS
from penstock.library.layer_base import connections, tensors
from penstock.library.layer_base.layer import Layer
from penstock.training.keras_models.backend import get_value

_PREFIX = "tf_op_layer_"


class TensorFlowOpLayer(Layer):
    """A layer that is one operation.

    Args:
      node_def: its ``NodeDef``, or that as a dict.
      name: the node's.
      constants: values of inputs that come from no layer, by their places.
      trainable, dtype: as of a layer.

    Raises:
      ValueError: there is no such operation here.
    """

    node_def: Any
    constants: dict[int, Any]

    def __init__(
        self, node_def: Any, name: str, constants: Any = None, trainable: bool = True,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(name=_PREFIX + name, trainable=trainable, dtype=dtype)
        if isinstance(node_def, dict):
            node_def = json_format.ParseDict(node_def, NodeDef())
        if node_def.op not in OPS:
            raise ValueError(f"the layer {name} is of an operation {node_def.op!r} unknown here")
        given = {int(place): value for place, value in (constants or {}).items()}
        self.__dict__.update(node_def=node_def, constants=given, built=True)

    def call(self, inputs: Any) -> Any:
        """What the operation makes of the inputs and the constants."""
        op_def = OPS[self.node_def.op]
        attrs = {
            key: node_message.attr_from_any(value) for key, value in self.node_def.attr.items()
            if not key.startswith("_")
        }  # fmt: skip
        flat, types = list(nest.flatten(inputs)), _input_types(op_def, attrs)
        for place in sorted(self.constants):
            value = np.asarray(self.constants[place], types[place].as_numpy_dtype)
            flat.insert(place, convert_to_tensor(value, types[place]))
        free = {key: value for key, value in attrs.items() if key not in op_def.inferred_attrs}
        name = self.node_def.name.rpartition("/")[2]
        return make(op_def.name, *_by_argument(op_def, attrs, flat), name=name, **free)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        config = super().get_config()
        return {
            **config, "name": config["name"][len(_PREFIX) :],
            "node_def": json_format.MessageToDict(self.node_def),
            "constants": {place: np.asarray(v).tolist() for place, v in self.constants.items()},
        }  # fmt: skip


class AddLoss(Layer):
    """A layer that adds its input to the losses: what ``Model.add_loss`` puts into a model.

    Args:
      unconditional: whether the loss depends on no input of the model.
      **kwargs: as of a layer.
    """

    def __init__(self, unconditional: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.unconditional = unconditional

    def call(self, inputs: Any) -> Any:
        """The input."""
        self.add_loss(inputs, inputs=None if self.unconditional else True)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return {**super().get_config(), "unconditional": self.unconditional}


class AddMetric(Layer):
    """A layer that tells its input as a metric: what ``Model.add_metric`` puts into a model.

    Args:
      aggregation: "mean".
      metric_name: under which it is told.
      **kwargs: as of a layer.
    """

    def __init__(
        self, aggregation: str | None = None, metric_name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.aggregation, self.metric_name = aggregation, metric_name

    def call(self, inputs: Any) -> Any:
        """The input."""
        self.add_metric(inputs, self.aggregation, self.metric_name)
        return inputs

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return {
            **super().get_config(), "aggregation": self.aggregation,
            "metric_name": self.metric_name,
        }  # fmt: skip


def _input_types(op_def: Any, attrs: dict[str, Any]) -> list[Any]:
    """The dtype of each flat input."""
    found: list[Any] = []
    for arg in op_def.inputs:
        if arg.type_list_attr is not None:
            found += attrs[arg.type_list_attr]
        else:
            found += [arg.dtype or attrs[arg.type_attr]] * arg.count(attrs)
    return found


def _by_argument(op_def: Any, attrs: dict[str, Any], flat: Sequence[Any]) -> list[Any]:
    """Flat inputs as ``make`` takes them, a list for a list argument."""
    found, at = [], 0
    for arg in op_def.inputs:
        count = arg.count(attrs)
        found.append(list(flat[at : at + count]) if arg.is_list else flat[at])
        at += count
    return found


# ---- noting operations ---------------------------------------------------------------------------


def note_operations() -> None:
    """From now on layers that are called note the operations before them."""
    connections.between_layers[:] = [connect_operations]


def connect_operations(values: Any) -> None:
    """Makes a layer of each operation between layers' outputs and these values.

    Args:
      values: a tensor or a nesting; of what depends on no ``tf.keras.Input`` nothing is made.
    """
    from_layers: dict[Any, bool] = {}
    waiting = [
        one.op for one in nest.flatten(values)
        if hasattr(one, "has_value") and not one.has_value and tensors.history_of(one) is None
        and _depends(one.op, from_layers)
    ]  # fmt: skip
    begun: set[Any] = set()
    while waiting:
        op = waiting[-1]
        before = [
            one.op for one in op.inputs
            if tensors.history_of(one) is None and _depends(one.op, from_layers)
        ]  # fmt: skip
        if before and op not in begun:
            begun.add(op)
            waiting += before
            continue
        if before:
            raise ValueError(
                f"a model cannot have the loop of {op.name!r} between its layers; put it into a"
                " tf.keras.layers.Lambda"
            )
        waiting.pop()
        if any(tensors.history_of(one) is None for one in op.outputs):
            _connect(op)


def _depends(op: Any, known: dict[Any, bool]) -> bool:
    """Whether layers have made something that an operation needs."""
    if op not in known:
        waiting, seen, found = [op], {op}, False
        while waiting and not found:
            one = waiting.pop()
            found = known.get(one) is True or any(
                tensors.history_of(t) is not None for t in (*one.inputs, *one.outputs)
            )
            more = {t.op for t in one.inputs if known.get(t.op) is not False} - seen
            seen |= more
            waiting += more
        known.update({op: True} if found else dict.fromkeys(seen, False))
    return known[op]


def comes_from_layers(value: Any) -> bool:
    """Whether it is a tensor that layers or operations made of ``tf.keras.Input``; notes these."""
    if not hasattr(value, "has_value") or value.has_value:
        return False
    connect_operations(value)
    return tensors.history_of(value) is not None


def _connect(op: Any) -> None:
    inputs = [one for one in op.inputs if tensors.history_of(one) is not None]
    constants = {
        place: _value_of(one) for place, one in enumerate(op.inputs)
        if tensors.history_of(one) is None
    }  # fmt: skip
    layer = TensorFlowOpLayer(op.node_def, op.name, constants)
    given = inputs[0] if len(inputs) == 1 else inputs
    made = op.outputs[0] if len(op.outputs) == 1 else list(op.outputs)
    connections.connect(layer, given, made, {})


def _value_of(tensor: Any) -> Any:
    """The value of what comes from no layer."""
    found = static.constant_value(tensor)
    if found is None and tensor.graph.building_function:
        captured = {inner: outer for outer, inner in tensor.graph.captured_values().items()}
        found = captured[tensor].numpy() if tensor in captured else None
    if found is not None:
        return found
    with scopes.init_scope():
        return get_value(tensor)
