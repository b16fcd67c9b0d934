"""Temporary loader while families are written; explicit re-exports replace it."""

import importlib as _importlib
import os as _os
import pkgutil as _pkgutil

from penstock.base import devices, dtypes, errors  # noqa: F401
from penstock.base.devices import DeviceSpec  # noqa: F401
from penstock.base.dtypes import *  # noqa: F403
from penstock.base.dtypes import DType, as_dtype  # noqa: F401
from penstock.base.shapes import Dimension, TensorShape  # noqa: F401
from penstock.graph.composite import (  # noqa: F401
    IndexedSlices, SparseTensor, SparseTensorValue, IndexedSlicesValue)
from penstock.graph.convert import convert_to_tensor, register_tensor_conversion_function  # noqa: F401
from penstock.graph.graph import Graph  # noqa: F401
from penstock.graph.keys import GraphKeys  # noqa: F401
from penstock.graph.operation import Operation  # noqa: F401
from penstock.graph.scopes import (  # noqa: F401
    add_to_collection, add_to_collections, colocate_with, container, control_dependencies, device,
    get_collection, get_collection_ref, get_default_graph, get_default_session, name_scope,
    reset_default_graph, set_random_seed)
from penstock.graph.tensor import Tensor  # noqa: F401
from penstock.session.options import ConfigProto, GPUOptions, RunMetadata, RunOptions  # noqa: F401
from penstock.session.session import InteractiveSession, Session  # noqa: F401

newaxis = None
__version__ = "0.1.0"
_here = _os.path.dirname(__file__)
_failed = {}
for _room in ("graph", "ops", "variables", "autodiff"):
    for _m in _pkgutil.iter_modules([_os.path.join(_here, _room)]):
        try:
            _mod = _importlib.import_module(f"penstock.{_room}.{_m.name}")
        except Exception as _e:  # a sibling may be half written
            _failed[_m.name] = _e
            continue
        for _n in getattr(_mod, "__all__", ()):
            globals()[_n.rstrip("_") if _n.endswith("_") else _n] = getattr(_mod, _n)
for _room in ("nn", "train"):
    try:
        globals()[_room] = _importlib.import_module(f"penstock.{_room}")
    except Exception as _e:
        _failed[_room] = _e
