"""``tf.contrib.penstock``: what is Penstock's own; explicit re-exports, no logic."""

from penstock.foundation.base import public_names
from penstock.ops.control.send_recv import compress as compress
from penstock.storage.interchange.exporting import export as export, import_onnx as import_onnx
from penstock.storage.interchange.graph_transforms import transform_graph as transform_graph
from penstock.storage.interchange.model import Unportable as Unportable
from penstock.storage.interchange.torch_reader import import_torch as import_torch

__dir__ = public_names.listing(__name__)
