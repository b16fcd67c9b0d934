"""The functions that a SavedModel of a model has: its call, in training and not, and serving.

The call takes a batch of any size; ``training`` is a Python value: there is a graph for each.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import nest
from penstock.foundation.graph.type_spec import TensorSpec
from penstock.library.eager.function import Function


def functions_of(model: Any) -> dict[str, Any]:
    """The functions by name.

    Raises:
      ValueError: it is not known what the model takes.
    """
    if model.inputs is None:
        raise ValueError(
            f"Model {model} cannot be saved because the input shapes have not been set. Usually,"
            " input shapes are automatically determined from calling .fit() or .predict(). To"
            " manually set the shapes, call model._set_inputs(inputs)."
        )
    made = model.__dict__.get("_saved_functions")
    if made is None:
        made = model.__dict__["_saved_functions"] = _made(model)
    return dict(made)


def _made(model: Any) -> dict[str, Any]:
    specs = [
        TensorSpec([None, *one.shape.as_list()[1:]], one.dtype, name)
        for one, name in zip(model.inputs, model.input_names, strict=True)
    ]
    nested = specs[0] if len(specs) == 1 else specs

    def call(inputs: Any, training: Any = False) -> Any:
        return model(inputs, training=training)

    def serve(*inputs: Any) -> dict[str, Any]:
        found = nest.flatten(model(nest.pack_sequence_as(nested, list(inputs)), training=False))
        return dict(zip(model.output_names, found, strict=True))

    called = Function(call, autograph=False)
    called.__name__ = "call"  # type: ignore[attr-defined]
    for training in (False, True):
        called.get_concrete_function(nested, training=training)
    serving = Function(serve, specs, autograph=False)
    serving.__name__ = "serving_default"  # type: ignore[attr-defined]
    return {"__call__": called, "_default_save_signature": serving}
