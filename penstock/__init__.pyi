"""The public names and where they are, each said once; ``__init__.py`` reads it as well."""

from penstock import compat as compat, contrib as contrib
from penstock.api import (
    app as app,
    audio as audio,
    autograph as autograph,
    bitwise as bitwise,
    config as config,
    debugging as debugging,
    distributions as distributions,
    dtypes as dtypes,
    flags as flags,
    gfile as gfile,
    graph_util as graph_util,
    initializers as initializers,
    io as io,
    keras as keras,
    linalg as linalg,
    logging as logging,
    lookup as lookup,
    losses as losses,
    manip as manip,
    math as math,
    metrics as metrics,
    nest as nest,
    python_io as python_io,
    quantization as quantization,
    queue as queue,
    ragged as ragged,
    random as random,
    resource_loader as resource_loader,
    sets as sets,
    sparse as sparse,
    spectral as spectral,
    strings as strings,
    sysconfig as sysconfig,
    user_ops as user_ops,
    version as version,
    xla as xla,
)
from penstock.engine.session.interactive import InteractiveSession as InteractiveSession
from penstock.engine.session.options import (
    ConfigProto as ConfigProto,
    GPUOptions as GPUOptions,
    GraphOptions as GraphOptions,
    OptimizerOptions as OptimizerOptions,
    RunMetadata as RunMetadata,
    RunOptions as RunOptions,
)
from penstock.engine.session.session import Session as Session
from penstock.foundation.base import errors as errors
from penstock.foundation.base.devices import DeviceSpec as DeviceSpec
from penstock.foundation.base.dimension import (
    Dimension as Dimension,
    dimension_value as dimension_value,
)
from penstock.foundation.base.dtypes import (
    QUANTIZED_DTYPES as QUANTIZED_DTYPES,
    DType as DType,
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    bool as bool,
    complex64 as complex64,
    complex128 as complex128,
    double as double,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    qint8 as qint8,
    qint16 as qint16,
    qint32 as qint32,
    quint8 as quint8,
    quint16 as quint16,
    resource as resource,
    string as string,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    variant as variant,
)
from penstock.foundation.base.errors import OpError as OpError
from penstock.foundation.base.shapes import (
    TensorShape as TensorShape,
    dimension_at_index as dimension_at_index,
    disable_v2_tensorshape as disable_v2_tensorshape,
    enable_v2_tensorshape as enable_v2_tensorshape,
)
from penstock.foundation.formats.messages import (
    AttrValue as AttrValue,
    Event as Event,
    GraphDef as GraphDef,
    HistogramProto as HistogramProto,
    LogMessage as LogMessage,
    MetaGraphDef as MetaGraphDef,
    NameAttrList as NameAttrList,
    NodeDef as NodeDef,
    SessionLog as SessionLog,
    Summary as Summary,
    SummaryMetadata as SummaryMetadata,
    TensorInfo as TensorInfo,
)
from penstock.foundation.graph import raw_ops as raw_ops
from penstock.foundation.graph.behavior import (
    control_flow_v2_enabled as control_flow_v2_enabled,
    disable_control_flow_v2 as disable_control_flow_v2,
    disable_eager_execution as disable_eager_execution,
    disable_tensor_equality as disable_tensor_equality,
    disable_v2_behavior as disable_v2_behavior,
    enable_tensor_equality as enable_tensor_equality,
    executing_eagerly as executing_eagerly,
    is_tensor as is_tensor,
    make_ndarray as make_ndarray,
    op_scope as op_scope,
)
from penstock.foundation.graph.collecting import (
    add_to_collection as add_to_collection,
    add_to_collections as add_to_collections,
    get_collection as get_collection,
    get_collection_ref as get_collection_ref,
)
from penstock.foundation.graph.composite import (
    IndexedSlices as IndexedSlices,
    SparseTensor as SparseTensor,
    SparseTensorValue as SparseTensorValue,
)
from penstock.foundation.graph.composite_specs import (
    IndexedSlicesSpec as IndexedSlicesSpec,
    SparseTensorSpec as SparseTensorSpec,
)
from penstock.foundation.graph.convert import (
    convert_to_tensor as convert_to_tensor,
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from penstock.foundation.graph.graph import Graph as Graph
from penstock.foundation.graph.graphdef import import_graph_def as import_graph_def
from penstock.foundation.graph.keys import GraphKeys as GraphKeys
from penstock.foundation.graph.operation import Operation as Operation
from penstock.foundation.graph.scopes import (
    colocate_with as colocate_with,
    container as container,
    control_dependencies as control_dependencies,
    device as device,
    get_default_graph as get_default_graph,
    get_default_session as get_default_session,
    init_scope as init_scope,
    name_scope as name_scope,
    reset_default_graph as reset_default_graph,
)
from penstock.foundation.graph.seeds import get_seed as get_seed, set_random_seed as set_random_seed
from penstock.foundation.graph.tensor import Tensor as Tensor
from penstock.foundation.graph.type_spec import TensorSpec as TensorSpec, TypeSpec as TypeSpec
from penstock.library import (
    image as image,
    layers as layers,
    nn as nn,
    signal as signal,
)
from penstock.library.autodiff.custom import (
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    recompute_grad as recompute_grad,
)
from penstock.library.autodiff.gradients import gradients as gradients
from penstock.library.autodiff.hessians import hessians as hessians
from penstock.library.autodiff.options import (
    AggregationMethod as AggregationMethod,
    UnconnectedGradients as UnconnectedGradients,
)
from penstock.library.autodiff.register import (
    NoGradient as NoGradient,
    NoGradient as _NotDifferentiable,
    NoGradient as _no_gradient,
    RegisterGradient as RegisterGradient,
)
from penstock.library.control_flow.case import case as case
from penstock.library.control_flow.cond import cond as cond
from penstock.library.control_flow.functional import (
    foldl as foldl,
    foldr as foldr,
    map_fn as map_fn,
    scan as scan,
)
from penstock.library.control_flow.least_squares import matrix_solve_ls as matrix_solve_ls
from penstock.library.control_flow.switch_case import switch_case as switch_case
from penstock.library.control_flow.tensor_array import (
    TensorArray as TensorArray,
    TensorArraySpec as TensorArraySpec,
)
from penstock.library.control_flow.vectorized import vectorized_map as vectorized_map
from penstock.library.control_flow.while_loop import while_loop as while_loop
from penstock.library.eager.batched import (
    nondifferentiable_batch_function as nondifferentiable_batch_function,
)
from penstock.library.eager.function import function as function
from penstock.library.eager.mode import (
    enable_eager_execution as enable_eager_execution,
    enable_v2_behavior as enable_v2_behavior,
)
from penstock.library.eager.tape import GradientTape as GradientTape
from penstock.library.eager.wrapped import wrap_function as wrap_function
from penstock.library.immediate.py_function import py_function as py_function
from penstock.library.ragged_tensors.dispatched import (
    abs_ as _abs,
    acos as acos,
    acosh as acosh,
    add as add,
    add_n as add_n,
    angle as angle,
    as_string as as_string,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    batch_gather as batch_gather,
    cast as cast,
    ceil as ceil,
    check_numerics as check_numerics,
    clip_by_value as clip_by_value,
    complex_ as _complex,
    concat as concat,
    conj as conj,
    cos as cos,
    cosh as cosh,
    decode_base64 as decode_base64,
    decode_compressed as decode_compressed,
    digamma as digamma,
    div as div,
    div_no_nan as div_no_nan,
    divide as divide,
    dynamic_partition as dynamic_partition,
    encode_base64 as encode_base64,
    equal as equal,
    erf as erf,
    erfc as erfc,
    exp as exp,
    expand_dims as expand_dims,
    expm1 as expm1,
    floor as floor,
    floor_div as floor_div,
    floordiv as floordiv,
    floormod as _mod,
    floormod as floormod,
    gather as gather,
    gather_nd as gather_nd,
    greater as greater,
    greater_equal as greater_equal,
    identity as identity,
    imag as imag,
    inv as inv,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    less as less,
    less_equal as less_equal,
    lgamma as lgamma,
    log as log,
    log1p as log1p,
    log_sigmoid as log_sigmoid,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    maximum as maximum,
    minimum as minimum,
    mul as mul,
    multiply as multiply,
    neg as neg,
    negative as negative,
    not_equal as not_equal,
    one_hot as one_hot,
    ones_like as ones_like,
    pow_ as _pow,
    rank as rank,
    real as real,
    realdiv as realdiv,
    reciprocal as reciprocal,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_join as reduce_join,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
    regex_replace as regex_replace,
    rint as rint,
    round_ as _round,
    rsqrt as rsqrt,
    saturate_cast as saturate_cast,
    sign as sign,
    sin as sin,
    sinh as sinh,
    size as size,
    sqrt as sqrt,
    square as square,
    squared_difference as squared_difference,
    squeeze as squeeze,
    stack as stack,
    string_join as string_join,
    string_strip as string_strip,
    string_to_hash_bucket as string_to_hash_bucket,
    string_to_hash_bucket_fast as string_to_hash_bucket_fast,
    string_to_hash_bucket_strong as string_to_hash_bucket_strong,
    string_to_number as string_to_number,
    sub as sub,
    substr as substr,
    subtract as subtract,
    tan as tan,
    tile as tile,
    to_bfloat16 as to_bfloat16,
    to_complex64 as to_complex64,
    to_complex128 as to_complex128,
    to_double as to_double,
    to_float as to_float,
    to_int32 as to_int32,
    to_int64 as to_int64,
    truediv as truediv,
    truncatediv as truncatediv,
    truncatemod as truncatemod,
    unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min,
    unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
    where as where,
    zeros_like as zeros_like,
)
from penstock.library.ragged_tensors.operators import RaggedTensor as RaggedTensor
from penstock.library.ragged_tensors.spec import RaggedTensorSpec as RaggedTensorSpec
from penstock.library.ragged_tensors.strings import string_split as string_split
from penstock.library.variables.creation import (
    disable_resource_variables as disable_resource_variables,
    enable_resource_variables as enable_resource_variables,
    resource_variables_enabled as resource_variables_enabled,
    variable_creator_scope as variable_creator_scope,
)
from penstock.library.variables.getting import (
    create_partitioned_variables as create_partitioned_variables,
    get_local_variable as get_local_variable,
    get_variable as get_variable,
)
from penstock.library.variables.initialized import (
    assert_variables_initialized as assert_variables_initialized,
    is_variable_initialized as is_variable_initialized,
    report_uninitialized_variables as report_uninitialized_variables,
)
from penstock.library.variables.initializers import (
    constant_initializer as constant_initializer,
    glorot_normal_initializer as glorot_normal_initializer,
    glorot_uniform_initializer as glorot_uniform_initializer,
    ones_initializer as ones_initializer,
    orthogonal_initializer as orthogonal_initializer,
    random_normal_initializer as random_normal_initializer,
    random_uniform_initializer as random_uniform_initializer,
    truncated_normal_initializer as truncated_normal_initializer,
    uniform_unit_scaling_initializer as uniform_unit_scaling_initializer,
    variance_scaling_initializer as variance_scaling_initializer,
    zeros_initializer as zeros_initializer,
)
from penstock.library.variables.listing import (
    all_variables as all_variables,
    global_variables as global_variables,
    global_variables_initializer as global_variables_initializer,
    initialize_all_variables as initialize_all_variables,
    initialize_local_variables as initialize_local_variables,
    initialize_variables as initialize_variables,
    local_variables as local_variables,
    local_variables_initializer as local_variables_initializer,
    model_variables as model_variables,
    moving_average_variables as moving_average_variables,
    trainable_variables as trainable_variables,
    variables_initializer as variables_initializer,
)
from penstock.library.variables.module import Module as Module
from penstock.library.variables.partition import (
    fixed_size_partitioner as fixed_size_partitioner,
    min_max_variable_partitioner as min_max_variable_partitioner,
    variable_axis_size_partitioner as variable_axis_size_partitioner,
)
from penstock.library.variables.scope import (
    VariableScope as VariableScope,
    get_variable_scope as get_variable_scope,
    no_regularizer as no_regularizer,
)
from penstock.library.variables.scoping import (
    variable_op_scope as variable_op_scope,
    variable_scope as variable_scope,
)
from penstock.library.variables.store import AUTO_REUSE as AUTO_REUSE
from penstock.library.variables.template import make_template as make_template
from penstock.library.variables.variable import (
    Variable as Variable,
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
)
from penstock.ops.array.bitcast import bitcast as bitcast
from penstock.ops.array.broadcast_to import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
    broadcast_static_shape as broadcast_static_shape,
    broadcast_to as broadcast_to,
)
from penstock.ops.array.constant import (
    constant as constant,
    placeholder as placeholder,
    placeholder_with_default as placeholder_with_default,
)
from penstock.ops.array.ensure_shape import (
    ensure_shape as ensure_shape,
    guarantee_const as guarantee_const,
)
from penstock.ops.array.fill import fill as fill, ones as ones, zeros as zeros
from penstock.ops.array.indexed_slices import (
    convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices,
    convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor,
)
from penstock.ops.array.join import parallel_stack as parallel_stack
from penstock.ops.array.messages import make_tensor_proto as make_tensor_proto
from penstock.ops.array.onehot import (
    meshgrid as meshgrid,
    repeat as repeat,
    sequence_mask as sequence_mask,
)
from penstock.ops.array.pad import pad as pad
from penstock.ops.array.patches import extract_image_patches as extract_image_patches
from penstock.ops.array.patches3d import extract_volume_patches as extract_volume_patches
from penstock.ops.array.ranges import (
    lin_space as _linspace,
    lin_space as lin_space,
    range_ as _range,
)
from penstock.ops.array.reshape import reshape as reshape
from penstock.ops.array.scatter import (
    scatter_nd as scatter_nd,
    tensor_scatter_add as _tensor_scatter_nd_add,
    tensor_scatter_add as tensor_scatter_add,
    tensor_scatter_nd_sub as _tensor_scatter_sub,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as _tensor_scatter_update,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
)
from penstock.ops.array.shape import shape as shape, shape_n as shape_n
from penstock.ops.array.slicing import (
    boolean_mask as boolean_mask,
    slice_ as _slice,
    strided_slice as strided_slice,
)
from penstock.ops.array.sorting import argsort as argsort, sort as sort
from penstock.ops.array.space import (
    batch_to_space as batch_to_space,
    batch_to_space_nd as batch_to_space_nd,
    depth_to_space as depth_to_space,
    required_space_to_batch_paddings as required_space_to_batch_paddings,
    space_to_batch as space_to_batch,
    space_to_batch_nd as space_to_batch_nd,
    space_to_depth as space_to_depth,
)
from penstock.ops.array.split import split as split, unstack as unstack
from penstock.ops.array.static_values import get_static_value as get_static_value
from penstock.ops.array.stitch import dynamic_stitch as dynamic_stitch
from penstock.ops.array.transpose import (
    invert_permutation as invert_permutation,
    reverse as _reverse_v2,
    reverse as reverse,
    reverse_sequence as reverse_sequence,
    roll as roll,
    transpose as transpose,
)
from penstock.ops.array.unique import (
    searchsorted as searchsorted,
    setdiff1d as setdiff1d,
    unique as unique,
    unique_with_counts as unique_with_counts,
    unravel_index as unravel_index,
)
from penstock.ops.control.check import (
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_greater_equal as assert_greater_equal,
    assert_integer as assert_integer,
    assert_less as assert_less,
    assert_less_equal as assert_less_equal,
    assert_near as assert_near,
    assert_negative as assert_negative,
    assert_non_negative as assert_non_negative,
    assert_non_positive as assert_non_positive,
    assert_none_equal as assert_none_equal,
    assert_positive as assert_positive,
    assert_proper_iterable as assert_proper_iterable,
    assert_rank as assert_rank,
    assert_rank_at_least as assert_rank_at_least,
    assert_rank_in as assert_rank_in,
    assert_same_float_dtype as assert_same_float_dtype,
    assert_scalar as assert_scalar,
    assert_type as assert_type,
    is_non_decreasing as is_non_decreasing,
    is_numeric_tensor as is_numeric_tensor,
    is_strictly_increasing as is_strictly_increasing,
)
from penstock.ops.control.control import (
    group as group,
    identity_n as identity_n,
    no_op as no_op,
    stop_gradient as stop_gradient,
    tuple_ as _tuple,
)
from penstock.ops.control.debug import (
    Assert as Assert,
    Print as Print,
    add_check_numerics_ops as add_check_numerics_ops,
    print_ as _print,
    timestamp as timestamp,
    verify_tensor_all_finite as verify_tensor_all_finite,
)
from penstock.ops.control.py_func import numpy_function as numpy_function, py_func as py_func
from penstock.ops.data.files import (
    matching_files as matching_files,
    read_file as read_file,
    write_file as write_file,
)
from penstock.ops.data.parsing import (
    decode_csv as decode_csv,
    decode_json_example as decode_json_example,
    decode_raw as decode_raw,
    parse_tensor as parse_tensor,
    serialize_tensor as serialize_tensor,
)
from penstock.ops.linalg.contraction import einsum as einsum, tensordot as tensordot
from penstock.ops.linalg.linalg import (
    cholesky as cholesky,
    cross as cross,
    matrix_determinant as matrix_determinant,
    matrix_inverse as matrix_inverse,
    matrix_transpose as matrix_transpose,
    trace as trace,
)
from penstock.ops.linalg.linalg_eig import (
    qr as qr,
    self_adjoint_eig as self_adjoint_eig,
    self_adjoint_eigvals as self_adjoint_eigvals,
    svd as svd,
)
from penstock.ops.linalg.linalg_norm import norm as norm
from penstock.ops.linalg.linalg_solve import (
    cholesky_solve as cholesky_solve,
    matrix_solve as matrix_solve,
    matrix_triangular_solve as matrix_triangular_solve,
)
from penstock.ops.linalg.matmul import matmul as matmul
from penstock.ops.linalg.matrix_diag import (
    diag as diag,
    diag_part as diag_part,
    eye as eye,
    matrix_band_part as matrix_band_part,
    matrix_diag as matrix_diag,
    matrix_diag_part as matrix_diag_part,
    matrix_set_diag as matrix_set_diag,
)
from penstock.ops.linalg.matrix_functions import matrix_square_root as matrix_square_root
from penstock.ops.linalg.sparse_matmul import sparse_matmul as sparse_matmul
from penstock.ops.math.addn import accumulate_n as accumulate_n
from penstock.ops.math.argmax import (
    arg_max as arg_max,
    arg_min as arg_min,
    argmax as argmax,
    argmin as argmin,
)
from penstock.ops.math.binary import scalar_mul as scalar_mul
from penstock.ops.math.clip import (
    clip_by_average_norm as clip_by_average_norm,
    clip_by_global_norm as clip_by_global_norm,
    clip_by_norm as clip_by_norm,
    global_norm as global_norm,
)
from penstock.ops.math.confusion_matrix import confusion_matrix as confusion_matrix
from penstock.ops.math.cumulative import cumprod as cumprod, cumsum as cumsum
from penstock.ops.math.elementwise import sigmoid as sigmoid, tanh as tanh
from penstock.ops.math.functions import (
    fingerprint as fingerprint,
    histogram_fixed_width_bins as histogram_fixed_width_bins,
    lbeta as lbeta,
)
from penstock.ops.math.histogram import (
    bincount as bincount,
    histogram_fixed_width as histogram_fixed_width,
)
from penstock.ops.math.segment import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_prod as segment_prod,
    segment_sum as segment_sum,
)
from penstock.ops.math.select import where_v2 as where_v2
from penstock.ops.math.special import (
    betainc as betainc,
    igamma as igamma,
    igammac as igammac,
    polygamma as polygamma,
    zeta as zeta,
)
from penstock.ops.math.statistics import (
    count_nonzero as count_nonzero,
    reduce_logsumexp as reduce_logsumexp,
)
from penstock.ops.quantized.quantization import (
    fake_quant_with_min_max_args as fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars as fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient as _per_channel_gradient,
)
from penstock.ops.quantized.quantized import (
    dequantize as dequantize,
    quantize as quantize,
    quantize_v2 as quantize_v2,
)
from penstock.ops.quantized.quantized_layers import quantized_concat as quantized_concat
from penstock.ops.random.random import (
    multinomial as multinomial,
    random_crop as random_crop,
    random_normal as random_normal,
    random_shuffle as random_shuffle,
    random_uniform as random_uniform,
    truncated_normal as truncated_normal,
)
from penstock.ops.random.random_gamma import (
    random_gamma as random_gamma,
    random_poisson as random_poisson,
)
from penstock.ops.signal.fft import (
    fft as fft,
    fft2d as fft2d,
    fft3d as fft3d,
    ifft as ifft,
    ifft2d as ifft2d,
    ifft3d as ifft3d,
)
from penstock.ops.sparse.edit_distance import edit_distance as edit_distance
from penstock.ops.sparse.sparse import (
    sparse_tensor_to_dense as sparse_tensor_to_dense,
    sparse_to_dense as sparse_to_dense,
)
from penstock.ops.sparse.sparse_compose import (
    sparse_mask as sparse_mask,
    sparse_merge as sparse_merge,
    sparse_placeholder as sparse_placeholder,
    sparse_reset_shape as sparse_reset_shape,
    sparse_retain as sparse_retain,
    sparse_to_indicator as sparse_to_indicator,
    sparse_transpose as sparse_transpose,
)
from penstock.ops.sparse.sparse_functions import (
    deserialize_many_sparse as deserialize_many_sparse,
    serialize_many_sparse as serialize_many_sparse,
    serialize_sparse as serialize_sparse,
    sparse_add as sparse_add,
    sparse_concat as sparse_concat,
    sparse_fill_empty_rows as sparse_fill_empty_rows,
    sparse_maximum as sparse_maximum,
    sparse_minimum as sparse_minimum,
    sparse_reduce_max as sparse_reduce_max,
    sparse_reduce_max_sparse as sparse_reduce_max_sparse,
    sparse_reduce_sum as sparse_reduce_sum,
    sparse_reduce_sum_sparse as sparse_reduce_sum_sparse,
    sparse_reorder as sparse_reorder,
    sparse_reshape as sparse_reshape,
    sparse_slice as sparse_slice,
    sparse_softmax as sparse_softmax,
    sparse_split as sparse_split,
    sparse_tensor_dense_matmul as sparse_tensor_dense_matmul,
)
from penstock.ops.sparse.sparse_segment import (
    sparse_segment_mean as sparse_segment_mean,
    sparse_segment_sqrt_n as sparse_segment_sqrt_n,
    sparse_segment_sum as sparse_segment_sum,
)
from penstock.ops.state.counting import count_up_to as count_up_to
from penstock.ops.state.session_values import (
    delete_session_tensor as delete_session_tensor,
    get_session_handle as get_session_handle,
    get_session_tensor as get_session_tensor,
)
from penstock.ops.state.state import assign as assign
from penstock.ops.state.state_scatter import (
    batch_scatter_update as batch_scatter_update,
    scatter_add as scatter_add,
    scatter_div as scatter_div,
    scatter_max as scatter_max,
    scatter_min as scatter_min,
    scatter_mul as scatter_mul,
    scatter_nd_add as scatter_nd_add,
    scatter_nd_sub as scatter_nd_sub,
    scatter_nd_update as scatter_nd_update,
    scatter_sub as scatter_sub,
    scatter_update as scatter_update,
)
from penstock.ops.state.state_update import assign_add as assign_add, assign_sub as assign_sub
from penstock.storage import saved_model as saved_model, summary as summary
from penstock.storage.interchange.exporting import export as export
from penstock.storage.summary.legacy import (
    audio_summary as audio_summary,
    histogram_summary as histogram_summary,
    image_summary as image_summary,
    merge_all_summaries as merge_all_summaries,
    merge_summary as merge_summary,
    scalar_summary as scalar_summary,
)
from penstock.tools import profiler as profiler
from penstock.tools.platform.op_libraries import (
    load_file_system_library as load_file_system_library,
    load_library as load_library,
    load_op_library as load_op_library,
)
from penstock.tools.platform.tf_logging import get_logger as get_logger
from penstock.tools.platform.versions import (
    COMPILER_VERSION as COMPILER_VERSION,
    CXX11_ABI_FLAG as CXX11_ABI_FLAG,
    GIT_VERSION as GIT_VERSION,
    GRAPH_DEF_VERSION as GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER,
    GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER,
    MONOLITHIC_BUILD as MONOLITHIC_BUILD,
    VERSION as VERSION,
)
from penstock.tools.testing import public as _test
from penstock.training import (
    data as data,
    distribute as distribute,
    estimator as estimator,
    feature_column as feature_column,
    train as train,
)
from penstock.training.data.accumulators import (
    ConditionalAccumulator as ConditionalAccumulator,
    ConditionalAccumulatorBase as ConditionalAccumulatorBase,
    SparseConditionalAccumulator as SparseConditionalAccumulator,
)
from penstock.training.data.critical_section import CriticalSection as CriticalSection
from penstock.training.data.features import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
    SparseFeature as SparseFeature,
    VarLenFeature as VarLenFeature,
    parse_example as parse_example,
    parse_single_example as parse_single_example,
    parse_single_sequence_example as parse_single_sequence_example,
)
from penstock.training.data.lookup_initializers import (
    initialize_all_tables as initialize_all_tables,
    tables_initializer as tables_initializer,
)
from penstock.training.data.optional import OptionalSpec as OptionalSpec
from penstock.training.data.queues import (
    FIFOQueue as FIFOQueue,
    PaddingFIFOQueue as PaddingFIFOQueue,
    PriorityQueue as PriorityQueue,
    QueueBase as QueueBase,
    RandomShuffleQueue as RandomShuffleQueue,
)
from penstock.training.data.record_readers import (
    FixedLengthRecordReader as FixedLengthRecordReader,
    IdentityReader as IdentityReader,
    LMDBReader as LMDBReader,
    ReaderBase as ReaderBase,
    TextLineReader as TextLineReader,
    TFRecordReader as TFRecordReader,
    WholeFileReader as WholeFileReader,
)
from penstock.training.train import tpu as tpu

NotDifferentiable = _NotDifferentiable
abs = _abs
fake_quant_with_min_max_vars_per_channel_gradient = _per_channel_gradient
complex = _complex
linspace = _linspace
mod = _mod
no_gradient = _no_gradient
pow = _pow
print = _print
range = _range
reverse_v2 = _reverse_v2
round = _round
slice = _slice
tensor_scatter_nd_add = _tensor_scatter_nd_add
tensor_scatter_sub = _tensor_scatter_sub
tensor_scatter_update = _tensor_scatter_update
test = _test
tuple = _tuple
newaxis: None
__version__: str
