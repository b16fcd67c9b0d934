"""``tf.contrib.eager``: operations that run as they are called, and functions of gradients."""

from penstock.contrib.eager import metrics as metrics, python as python
from penstock.contrib.eager.callbacks import (
    ExecutionCallback as ExecutionCallback,
    add_execution_callback as add_execution_callback,
    clear_execution_callbacks as clear_execution_callbacks,
    errstate as errstate,
    inf_callback as inf_callback,
    inf_nan_callback as inf_nan_callback,
    nan_callback as nan_callback,
    seterr as seterr,
)
from penstock.contrib.eager.gradients import (
    gradients_function as gradients_function,
    implicit_gradients as implicit_gradients,
    implicit_value_and_gradients as implicit_value_and_gradients,
    value_and_gradients_function as value_and_gradients_function,
)
from penstock.contrib.eager.iterator import Iterator as Iterator
from penstock.contrib.eager.modes import (
    ASYNC as ASYNC,
    DEVICE_PLACEMENT_EXPLICIT as DEVICE_PLACEMENT_EXPLICIT,
    DEVICE_PLACEMENT_SILENT as DEVICE_PLACEMENT_SILENT,
    DEVICE_PLACEMENT_WARN as DEVICE_PLACEMENT_WARN,
    SYNC as SYNC,
    async_clear_error as async_clear_error,
    async_wait as async_wait,
    connect_to_remote_host as connect_to_remote_host,
    enable_remote_eager_execution as enable_remote_eager_execution,
    execution_mode as execution_mode,
    run_all_tests_in_graph_and_eager_modes as run_all_tests_in_graph_and_eager_modes,
    run_test_in_graph_and_eager_modes as run_test_in_graph_and_eager_modes,
    set_execution_mode as set_execution_mode,
    set_server_def as set_server_def,
)
from penstock.contrib.eager.network import Network as Network, Sequential as Sequential
from penstock.contrib.eager.network_checkpoints import (
    restore_network_checkpoint as restore_network_checkpoint,
    restore_variables_on_create as restore_variables_on_create,
    save_network_checkpoint as save_network_checkpoint,
)
from penstock.contrib.eager.running import (
    list_devices as list_devices,
    num_gpus as num_gpus,
    run as run,
)
from penstock.contrib.eager.saving import (
    Saver as Saver,
    get_optimizer_variables as get_optimizer_variables,
)
from penstock.contrib.eager.variable_store import EagerVariableStore as EagerVariableStore
from penstock.foundation.base import public_names
from penstock.foundation.graph.behavior import executing_eagerly as executing_eagerly
from penstock.foundation.graph.type_spec import TensorSpec as TensorSpec
from penstock.library.autodiff.custom import custom_gradient as custom_gradient
from penstock.library.eager.function import defun as defun, function as function
from penstock.library.eager.mode import enable_eager_execution as enable_eager_execution
from penstock.library.eager.tape import GradientTape as GradientTape
from penstock.library.immediate.py_function import py_function
from penstock.library.variables.auto_trackable import AutoTrackable
from penstock.library.variables.resource_variable import ResourceVariable
from penstock.library.variables.template import make_template as make_template
from penstock.storage.checkpoint.trackable import Checkpoint as Checkpoint

in_eager_mode, py_func, Variable = executing_eagerly, py_function, ResourceVariable
Checkpointable = AutoTrackable

__dir__ = public_names.listing(__name__)
