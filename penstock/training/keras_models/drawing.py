"""A model as a graph of ``pydot``, and as an image: ``model_to_dot``, ``plot_model``.

``pydot`` (or ``pydotplus``, ``pydot_ng``) and Graphviz are optional.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from penstock.foundation.graph import nest
from penstock.library.keras.layers.wrappers import Wrapper
from penstock.training.keras_models.network import Network
from penstock.training.keras_models.sequential import Sequential

_PACKAGES = ("pydot_ng", "pydotplus", "pydot")


def _pydot() -> Any:
    """The first of the packages that is installed and finds Graphviz, or None."""
    for name in _PACKAGES:
        try:
            package: Any = import_module(name)
        except ImportError:
            continue
        try:
            package.Dot.create(package.Dot())
        except OSError:
            return None
        return package
    return None


def model_to_dot(
    model: Any, show_shapes: bool = False, show_layer_names: bool = True, rankdir: str = "TB",
    expand_nested: bool = False, dpi: int = 96, subgraph: bool = False,
) -> Any:  # fmt: skip
    """A model as a graph of ``pydot``: a node for each layer, an edge for what one gives another.

    Args:
      model: a model; a subclass that was made of no tensors is one node.
      show_shapes: whether nodes have the shapes of inputs and outputs.
      show_layer_names: whether they have the layers' names beside their classes.
      rankdir: "TB": from top to bottom; "LR": from left to right.
      expand_nested: whether the layers of models inside are shown, each model in a frame.
      dpi: dots in an inch.
      subgraph: whether a frame is made, which another graph can hold.

    Returns:
      A ``pydot.Dot``, or a ``pydot.Cluster``; None in a notebook without ``pydot``.

    Raises:
      ImportError: ``pydot`` or Graphviz is not installed.
    """
    pydot = _pydot()
    if pydot is None:
        text = (
            "Failed to import pydot. You must install pydot and graphviz for `pydotprint` to work."
        )
        if "IPython.core.magics.namespace" not in sys.modules:
            raise ImportError(text)
        print(text)
        return None
    if subgraph:
        dot = pydot.Cluster(style="dashed", graph_name=model.name)
        dot.set("label", model.name)
        dot.set("labeljust", "l")
    else:
        dot = pydot.Dot()
        dot.set("rankdir", rankdir)
        dot.set("concentrate", True)
        dot.set("dpi", dpi)
        dot.set_node_defaults(shape="record")
    if isinstance(model, Sequential) and not model.is_graph and not model.built:
        model.build()
    if not model.is_graph:
        dot.add_node(pydot.Node(str(id(model)), label=model.name))
        return dot
    options = (show_shapes, show_layer_names, rankdir, expand_nested, dpi)
    _Drawing(pydot, dot, model, options).draw()
    return dot


def _inside(layer: Any) -> Any:
    """The model that a wrapper calls, or None."""
    inner = getattr(layer, "layer", None) if isinstance(layer, Wrapper) else None
    return inner if isinstance(inner, Network) else None


class _Drawing:
    """The nodes and edges of one model.

    Args:
      pydot: the package.
      dot: what takes them.
      model: the model.
      options: the arguments of ``model_to_dot`` but the last, which models inside are drawn with.
    """

    def __init__(self, pydot: Any, dot: Any, model: Any, options: tuple[Any, ...]) -> None:
        self._pydot, self._dot, self._model, self._options = pydot, dot, model, options
        self._shapes, self._names, _, self._expand, _ = options
        # The first and the last node of a model inside, by the id of what calls it.
        self._ends: dict[int, tuple[str, str]] = {}

    def draw(self) -> None:
        for layer in self._model.all_layers:
            self._node(layer)
        known = {id(node) for node in self._model._network_nodes}
        for layer in self._model.all_layers:
            for node in layer.inbound_nodes:
                if id(node) in known:
                    for before in nest.flatten(node.inbound_layers):
                        self._edge(before, layer)

    def _node(self, layer: Any) -> None:
        name, kind = layer.name, type(layer).__name__
        inner = layer if isinstance(layer, Network) else _inside(layer)
        if self._expand and inner is not None:
            made = model_to_dot(inner, *(*self._options, True))
            nodes = made.get_nodes()
            self._ends[id(layer)] = nodes[0].get_name(), nodes[-1].get_name()
            self._dot.add_subgraph(made)
            if inner is layer:
                return
        elif isinstance(layer, Wrapper):
            name = f"{name}({layer.layer.name})"
            kind = f"{kind}({type(layer.layer).__name__})"
        label = f"{name}: {kind}" if self._names else kind
        if self._shapes:
            label += f"\n|{{input:|output:}}|{{{{{_sizes(layer, 'input_shape')}}}"
            label += f"|{{{_sizes(layer, 'output_shape')}}}}}"
        self._dot.add_node(self._pydot.Node(str(id(layer)), label=label))

    def _edge(self, before: Any, layer: Any) -> None:
        first = self._ends[id(before)][1] if id(before) in self._ends else str(id(before))
        here, inner = str(id(layer)), self._ends.get(id(layer))
        if inner is not None and not isinstance(layer, Network):  # a wrapper leads to its model
            self._connect(first, here)
            first = here
        self._connect(first, here if inner is None else inner[0])

    def _connect(self, first: str, second: str) -> None:
        if not self._dot.get_edge(first, second):
            self._dot.add_edge(self._pydot.Edge(first, second))


def _sizes(layer: Any, name: str) -> str:
    try:
        return str(getattr(layer, name)).replace("None", "?")
    except AttributeError:
        return "?"


def plot_model(
    model: Any, to_file: str = "model.png", show_shapes: bool = False,
    show_layer_names: bool = True, rankdir: str = "TB", expand_nested: bool = False, dpi: int = 96,
) -> Any:  # fmt: skip
    """Writes ``model_to_dot`` as an image.

    Args:
      model: a model.
      to_file: path of the image; its ending says the format, without one it is PNG.
      show_shapes, show_layer_names, rankdir, expand_nested, dpi: as of ``model_to_dot``.

    Returns:
      The image for a notebook, where IPython is installed; else None.

    Raises:
      ImportError: ``pydot`` or Graphviz is not installed.
    """
    dot = model_to_dot(model, show_shapes, show_layer_names, rankdir, expand_nested, dpi)
    if dot is None:
        return None
    ending = os.path.splitext(to_file)[1]
    dot.write(to_file, format=ending[1:] if ending else "png")
    try:
        display = import_module("IPython.display")
    except ImportError:
        return None
    return display.Image(filename=to_file)
