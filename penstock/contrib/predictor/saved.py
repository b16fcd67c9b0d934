"""Predictors of SavedModels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.contrib.predictor.calling import Predictor
from penstock.engine.session.session import Session
from penstock.foundation.graph.graph import Graph
from penstock.storage.saved_model.loader import load

_DEFAULT_TAGS, _DEFAULT_KEY = "serve", "serving_default"


class SavedModelPredictor(Predictor):
    """A predictor of a SavedModel; ``from_saved_model`` makes it."""


def from_saved_model(
    export_dir: Any,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A function that computes what a signature of a SavedModel says.

    Args:
      export_dir: the SavedModel's folder.
      signature_def_key: name of the signature; default "serving_default".
      signature_def: or a ``SignatureDef``.
      input_names, output_names: or names of tensors by names of inputs and outputs.
      tags: tags of the MetaGraph, separated by commas; default "serve".
      graph: the graph that it is loaded into; default a new one.
      config: ``ConfigProto`` of the session.

    Returns:
      A ``Predictor``.

    Raises:
      ValueError: more than one way to say what is computed, or an unknown signature.
      RuntimeError: no MetaGraph of these tags.

    >>> import os, tempfile
    >>> folder = os.path.join(tempfile.mkdtemp(), "model")
    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     x = tf.placeholder(tf.float32, [None])
    ...     tf.saved_model.simple_save(sess, folder, {"x": x}, {"twice": 2 * x})
    >>> predict = tf.contrib.predictor.from_saved_model(folder)
    >>> predict({"x": [1.0, 2.0]})["twice"].tolist()
    [2.0, 4.0]
    """
    _check_ways(signature_def_key, signature_def, input_names, output_names)
    graph = graph or Graph()
    with graph.as_default():
        session = Session(graph=graph, config=config)
        message = load(session, (tags or _DEFAULT_TAGS).split(","), export_dir)
    if input_names is None:
        if signature_def is None:
            signature_def = _signature(message, signature_def_key or _DEFAULT_KEY)
        input_names = {k: info.name for k, info in signature_def.inputs.items()}
        output_names = {k: info.name for k, info in signature_def.outputs.items()}
    feeds, fetches = (
        {k: graph.get_tensor_by_name(name) for k, name in (names or {}).items()}
        for names in (input_names, output_names)
    )
    return SavedModelPredictor(graph, session, feeds, fetches)


def _check_ways(key: Any, signature: Any, inputs: Any, outputs: Any) -> None:
    if (inputs is None) != (outputs is None):
        raise ValueError(
            "input_names and output_names must both be specified or both be unspecified."
        )
    if sum(way is not None for way in (key, signature, inputs)) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR(input_names AND"
            " output_names)."
        )


def _signature(message: Any, key: str) -> Any:
    if key not in message.signature_def:
        raise ValueError(
            f"Got signature_def_key {key!r}; the SavedModel has {sorted(message.signature_def)}"
        )
    return message.signature_def[key]
