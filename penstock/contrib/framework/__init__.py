"""``tf.contrib.framework``: arguments in scopes, variables of models, checkpoints, shapes.

``argument_scopes`` says defaults of arguments; ``variables`` makes and finds variables,
``assignments`` gives them values, ``remapping`` those of another vocabulary.  ``tensors`` checks
shapes, ``graphs`` looks into graphs, ``orthogonal`` has initializers.
"""

from penstock.contrib.framework import nest as nest, python as python
from penstock.contrib.framework.argument_scopes import (
    add_arg_scope as add_arg_scope,
    arg_scope as arg_scope,
    arg_scope_func_key as arg_scope_func_key,
    arg_scoped_arguments as arg_scoped_arguments,
    current_arg_scope as current_arg_scope,
    has_arg_scope as has_arg_scope,
)
from penstock.contrib.framework.assignments import (
    assign_from_checkpoint as assign_from_checkpoint,
    assign_from_checkpoint_fn as assign_from_checkpoint_fn,
    assign_from_values as assign_from_values,
    assign_from_values_fn as assign_from_values_fn,
)
from penstock.contrib.framework.checkpoints import (
    init_from_checkpoint as init_from_checkpoint,
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from penstock.contrib.framework.graphs import (
    fuse_op as fuse_op,
    get_graph_from_inputs as get_graph_from_inputs,
    get_name_scope as get_name_scope,
    get_placeholders as get_placeholders,
    prepend_name_scope as prepend_name_scope,
    strip_name_scope as strip_name_scope,
)
from penstock.contrib.framework.orthogonal import (
    convolutional_delta_orthogonal as convolutional_delta_orthogonal,
    convolutional_orthogonal_1d as convolutional_orthogonal_1d,
    convolutional_orthogonal_2d as convolutional_orthogonal_2d,
    convolutional_orthogonal_3d as convolutional_orthogonal_3d,
)
from penstock.contrib.framework.remapping import (
    load_and_remap_matrix_initializer as load_and_remap_matrix_initializer,
    load_embedding_initializer as load_embedding_initializer,
    load_linear_multiclass_bias_initializer as load_linear_multiclass_bias_initializer,
    load_variable_slot_initializer as load_variable_slot_initializer,
)
from penstock.contrib.framework.script import py_func as py_func
from penstock.contrib.framework.specs import (
    BoundedTensorSpec as BoundedTensorSpec,
    TensorSpec as TensorSpec,
)
from penstock.contrib.framework.tensors import (
    assert_scalar_int as assert_scalar_int,
    reduce_sum_n as reduce_sum_n,
    remove_squeezable_dimensions as remove_squeezable_dimensions,
    with_same_shape as with_same_shape,
    with_shape as with_shape,
)
from penstock.contrib.framework.variables import (
    VariableDeviceChooser as VariableDeviceChooser,
    add_model_variable as add_model_variable,
    assert_global_step as assert_global_step,
    assert_or_get_global_step as assert_or_get_global_step,
    create_global_step as create_global_step,
    filter_variables as filter_variables,
    get_global_step as get_global_step,
    get_local_variables as get_local_variables,
    get_model_variables as get_model_variables,
    get_or_create_global_step as get_or_create_global_step,
    get_trainable_variables as get_trainable_variables,
    get_unique_variable as get_unique_variable,
    get_variable_full_name as get_variable_full_name,
    get_variables as get_variables,
    get_variables_by_name as get_variables_by_name,
    get_variables_by_suffix as get_variables_by_suffix,
    get_variables_to_restore as get_variables_to_restore,
    global_variable as global_variable,
    local_variable as local_variable,
    model_variable as model_variable,
    variable as variable,
    zero_initializer as zero_initializer,
)
from penstock.foundation.base import public_names
from penstock.foundation.graph.behavior import is_tensor as is_tensor
from penstock.library.control_flow.case import smart_case as smart_case
from penstock.library.control_flow.cond import (
    smart_cond as smart_cond,
    smart_constant_value as smart_constant_value,
)
from penstock.ops.array.indexed_slices import (
    convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor,
)
from penstock.ops.array.sorting import argsort as argsort, sort as sort
from penstock.ops.control.check import (
    assert_same_float_dtype as assert_same_float_dtype,
    assert_scalar as assert_scalar,
)
from penstock.tools.platform.deprecation import (
    deprecated as deprecated,
    deprecated_arg_values as deprecated_arg_values,
    deprecated_args as deprecated_args,
)
from penstock.training.data.record_input import RecordInput as RecordInput

__dir__ = public_names.listing(__name__)
