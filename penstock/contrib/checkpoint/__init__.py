"""``tf.contrib.checkpoint``: objects to be tracked, Python state, and looking into checkpoints."""

from penstock.contrib.checkpoint.capturing import capture_dependencies as capture_dependencies
from penstock.contrib.checkpoint.containers import (
    List as List,
    Mapping as Mapping,
    UniqueNameTracker as UniqueNameTracker,
)
from penstock.contrib.checkpoint.inspecting import (
    dot_graph_from_checkpoint as dot_graph_from_checkpoint,
    list_objects as list_objects,
    object_metadata as object_metadata,
)
from penstock.contrib.checkpoint.numpy_state import NumpyState as NumpyState
from penstock.contrib.checkpoint.splitting import split_dependency as split_dependency
from penstock.foundation.base import public_names
from penstock.library.variables.auto_trackable import (
    AutoTrackable,
    NoDependency as NoDependency,
    Trackable,
)
from penstock.storage.checkpoint.manager import CheckpointManager as CheckpointManager
from penstock.storage.checkpoint.object_graph import (
    TrackableObjectGraph,
)
from penstock.storage.checkpoint.python_state import PythonState

Checkpointable, CheckpointableBase = AutoTrackable, Trackable
CheckpointableObjectGraph, PythonStateWrapper = TrackableObjectGraph, PythonState

__dir__ = public_names.listing(__name__)
