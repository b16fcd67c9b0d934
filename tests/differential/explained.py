"""Differences that are right as they are, each with its reason.

A row is (functions, or ``*`` for all; a pattern of the difference's text; why).
"""

from __future__ import annotations

import fnmatch
import re

EXPLAINED: tuple[tuple[str, str, str], ...] = (
    (
        "*",
        r"^class: (TypeError|ValueError) at (build|argument) .*TensorFlow raises"
        r" (AttributeError|IndexError|KeyError|AssertionError|UnboundLocalError|NameError"
        r"|ZeroDivisionError|RuntimeError|SystemError|OverflowError|Exception) at ",
        "TensorFlow's own Python stumbles over what it does not check",
    ),
    (
        "*",
        r"^(accepts|class|stage): .*TensorFlow raises (AttributeError|UnboundLocalError|NameError"
        r"|TypeError at build \((unsupported operand type\(s\) for .*'NoneType'"
        r"|'NoneType' object|object of type 'NoneType'|'[<>=]+' not supported between"
        r"|list indices must be integers or slices"
        r"|can only concatenate list|__int__ returned non-int|__index__ returned non-int)"
        r"|ValueError at build \((Cannot take the length of [Ss]hape with unknown rank"
        r"|as_list\(\) is not defined on an unknown TensorShape))",
        "TensorFlow's own Python stumbles over a shape that it does not know",
    ),
    (
        "*",
        r"^class: TypeError .*TensorFlow raises OperatorNotAllowedInGraphError",
        "a TypeError that has no public name",
    ),
    (
        "*",
        r"^static, and TensorFlow's is not its run's",
        "TensorFlow's static shape is wrong: its own run gives another",
    ),
    (
        "*",
        r"^static, and Penstock says more",
        "Penstock knows more of the shape, and the run is as it says",
    ),
    (
        "*",
        r"^(refuses|class): TypeError at (build|argument) \(.*array\(\[+b'"
        r"|^class: TypeError at build \(an array of object cannot become"
        r" .*could not convert string to float",
        "NumPy reads numbers out of the bytes of strings; Penstock takes no strings for numbers",
    ),
    (
        "cast to_*",
        r"^constant: None, TensorFlow",
        "strings, NaN and infinities as integers: a run fails, or gives what the processor gives",
    ),
    (
        "py_func numpy_function",
        r"^accepts: .*value returned by .* is double",
        "older NumPys make float64 of a float32 scalar and an int",
    ),
    (
        "signal.*",
        r"^accepts: .*must have length of at least",
        "TensorFlow pads no tensor without elements, and then wants the length all the same",
    ),
    (
        "signal.* nn.*conv* nn.local_response_normalization nn.lrn linalg.det linalg.slogdet"
        " linalg.sqrtm image.resize* image.adjust_* image.rgb_to_* image.y*_to_rgb",
        r"^value: np\.(float|complex)\w+\((nan|-?inf|-?0\.0|[-+.\dinfe]*(inf|nan)).*expected"
        r"|^value: .*expected np\.(float|complex)\w+\([-+.\dinfe]*(inf|nan)",
        "NaN, infinities and overflow: another order of sums",
    ),
    (
        "linalg.*",
        r"^(refuses|accepts): .*(infs or NaNs|non-finite|not be valid|not invertible|is singular"
        r"|could not be completed|failed to converge)",
        "what a decomposition makes of NaN, infinities and singular matrices is its library's",
    ),
    (
        "digamma",
        r"^value: np\.float\w+\(nan\).*expected np\.float\w+\(inf\)",
        "at the poles there is no value; later TensorFlows say NaN, too",
    ),
    (
        "math.cumulative_logsumexp",
        r"^value: np\.float\w+\(-inf\).*expected np\.float\w+\(-(3\.40282|1\.79|65500)",
        "the logarithm of an empty sum; later TensorFlows say -inf, too",
    ),
    (
        "*top_k clip_by_value segment_max segment_min unsorted_segment_* nn.max_pool* nn.pool"
        " clip_by_norm sparse.m* image.non_max*",
        r"^value: np\.float\w+\(nan\).*expected|^value: .*expected np\.float\w+\((nan|-?inf)",
        "which of NaN and a number is greater, Eigen's kernels decide by the order of the two",
    ),
    (
        "assert_*",
        r"^class: InvalidArgumentError at build .*TensorFlow raises TypeError at build"
        r" \((sequence item|Unsupported tensor type)",
        "TensorFlow fails to write the words of its assertion",
    ),
    (
        "assert_* metrics.*",
        r"^(accepts|class): .*TensorFlow raises"
        r" (TypeError at build \(Unsupported tensor type: 2[23]\)"
        r"|ValueError at build \(data type <class 'bfloat16'> not inexact)",
        "TensorFlow's own Python cannot read uint32 and uint64, nor say how precise bfloat16 is",
    ),
    (
        "*",
        r"^constant: an array .*TensorFlow \{'raises': '(TypeError|ValueError)'\}",
        "TensorFlow's own Python cannot read constants of uint32 and uint64, nor no strings",
    ),
    (
        "*",
        r"^(accepts|class): .*TensorFlow raises (UnicodeDecodeError|.*'ascii' codec can't decode)",
        "TensorFlow's own Python, with an old NumPy, reads bytes as ASCII",
    ),
    (
        "boolean_mask",
        r"^(accepts|class): .*TensorFlow raises OperatorNotAllowedInGraphError",
        "TensorFlow slices a static shape with an axis that is a tensor",
    ),
    (
        "constant scatter_* random.poisson linalg.* signal.* nn.max_pool nn.max_pool_v2"
        " nn.local_response_normalization nn.lrn nn.ctc_greedy_decoder",
        r"^(refuses|class): TypeError at build"
        r" \((an array of object cannot become|.*has DataType string|.*saw string)",
        "NumPy reads numbers out of the bytes of strings; Penstock takes no strings for numbers",
    ),
    (
        "constant",
        r"^refuses: TypeError at build \(Expected \w+, got <tf.Tensor",
        "TensorFlow looks at no element where the shape has none, and takes a tensor for a number",
    ),
    (
        "split",
        r"^class: InvalidArgumentError at run .*they do not add up .*raises ValueError at build",
        "TensorFlow's shape rule takes an axis that it does not know for the last one",
    ),
    (
        "space_to_depth depth_to_space",
        r"^accepts: .*Only NHWC data_format supported on CPU",
        "TensorFlow has NCHW on GPUs only; Penstock has it everywhere",
    ),
    (
        "scatter_*",
        r"^class: .*it is a scalar.*is not in \[0, \d{3,}\)",
        "TensorFlow writes rows of a scalar into memory that is not the variable's",
    ),
    (
        "scatter_max scatter_min sparse.reduce_max* minimum maximum",
        r"^value: np\.float\w+\(nan\).*expected|^value: .*expected np\.float\w+\((nan|-?inf)",
        "which of NaN and a number is greater, Eigen's kernels decide by the order of the two",
    ),
    (
        "sparse_tensor_dense_matmul sparse.sparse_dense_matmul",
        r"^value: .*expected np\.(float|complex)\w+\([-+.\dinfe]*(inf|nan)",
        "NaN, infinities and overflow: another order of sums",
    ),
    (
        "sparse.add sparse.minimum sparse.maximum",
        r"^(refuses: .*(rows must have|differ in rank)|static: .*TensorFlow \[(None, )?None\])",
        "TensorFlow reads beyond the rows of indices that have too few columns",
    ),
    (
        "sparse.fill_empty_rows",
        r"^static: \[None, 2\], TensorFlow \[None, None\]",
        "Penstock knows the rank by the columns of indices, of calls that one of the two refuses",
    ),
    (
        "sets.*",
        r"^(accepts|refuses): .*(expected < \d+, got|is out of bounds|is out of order)",
        "indices out of bounds or out of order, which TensorFlow looks at less closely",
    ),
    (
        "edit_distance",
        r"^refuses: .*is out of bounds",
        "TensorFlow writes outside of its result",
    ),
    (
        "sparse.from_dense",
        r"^accepts: .*Expected string, got 0",
        "later TensorFlows take strings, too",
    ),
    (
        "strings.as_string as_string",
        r"^value: b'(\([-\d.,]*)?[ +]",
        "later TensorFlows put a sign or a blank before numbers without a width, too",
    ),
    (
        "strings.format",
        r"^value: .*\?",
        "TensorFlow writes question marks for bfloat16 and complex numbers",
    ),
    (
        "assign assign_add assign_sub",
        r"^refuses: .*Assign requires shapes of both tensors to match",
        "a variable holds what its graph says of its shape; TensorFlow lets a value that is fed"
        " make that wrong",
    ),
    (
        "random_crop",
        r"^(shape|refuses: .*Expected begin)",
        "with a size of -1 the size of a crop is as random as its place",
    ),
    (
        "sort argsort",
        r"^value: (np\.int32|np\.float\w+\(nan\)|.*expected np\.float\w+\(nan\))",
        "which of NaN and a number is greater, Eigen's kernels decide by the order of the two",
    ),
    (
        "tensordot image.rgb_to_yiq image.rgb_to_yuv image.yiq_to_rgb image.yuv_to_rgb",
        r"^class: ValueError at build .*inner dims",
        "Penstock knows more of the shape, and refuses it earlier",
    ),
    (
        "matmul linalg.matvec operator:matmul tensordot einsum linalg.einsum sparse_matmul"
        " linalg.pinv linalg.svd linalg.tridiagonal_matmul",
        r"^value: np\.(float|complex)\w+\(.*(nan|inf).*expected"
        r"|^value: .*expected np\.(float|complex)\w+\(.*(nan|inf)",
        "NaN, infinities and overflow: another order of sums",
    ),
    (
        "linalg.inv linalg.solve linalg.triangular_solve linalg.slogdet",
        r"^value: .*expected np\.float\w+\((-?0\.0|-?[\d.]+e\+3\d|-8\d\.\d+)\)",
        "matrices of the largest and of denormal numbers: another order of sums, and TensorFlow"
        " takes denormal numbers for 0",
    ),
    (
        "signal.fftshift signal.ifftshift",
        r"^class: ValueError .*TensorFlow raises OperatorNotAllowedInGraphError",
        "neither takes an axis that is a tensor, nor a shape that is not known",
    ),
    (
        "*",
        r"^class: .*TensorFlow raises InternalError at run \(Unexpected error in binary operator",
        "TensorFlow takes the division of integers by 0 for an error of its own",
    ),
    (
        "linalg.logm",
        r"^value: .*expected np\.complex\w+\(nan",
        "what a decomposition makes of singular matrices and of the largest numbers is its"
        " library's",
    ),
    (
        "reciprocal math.xdivy train.exponential_decay",
        r"^value: np\.complex\w+\(.*expected np\.complex\w+\(nan|^value: np\.complex\w+\([^)]*nan",
        "infinite complex numbers, by another formula",
    ),
    (
        "linalg.expm",
        r"^accepts: .*DeadlineExceededError"
        r"|^value: np\.float\w+\((nan|-?inf).*expected"
        r"|^value: .*expected np\.float\w+\((nan|-?inf)",
        "what is too large to be raised: another order of sums, or TensorFlow comes to no end",
    ),
    (
        "linalg.svd",
        r"^value: .*expected np\.float\w+\(-?[\d.]+e\+[23]\d",
        "what a decomposition makes of the largest numbers is its library's",
    ),
    (
        "transpose reverse_sequence",
        r"^static: .*TensorFlow \[\d",
        "TensorFlow looks up dims at negative places, in calls that it refuses when they run",
    ),
    (
        "floordiv floor_div operator:floordiv",
        r"^value: np\.float\w+\(-1\.0\).*expected np\.float\w+\(-0\.0\)",
        "TensorFlow takes denormal numbers for 0",
    ),
    (
        "nn.softplus math.softplus",
        r"^value: .*expected np\.float\w+\(inf\)",
        "TensorFlow's exp of float16 overflows before it is known that it is not needed",
    ),
    (
        "signal.*",
        r"^value: (np\.(complex|float)\w+\((0j|0\.0)\)"
        r"|.*expected np\.(complex|float)\w+\(.*e\+2[12])",
        "TensorFlow leaves memory unwritten where the input has no elements",
    ),
    (
        "sparse.* sparse_* sets.*",
        r"^(refuses|value|shape|class): .*(out of bounds|is repeated|row\(s\)|element\(s\)"
        r"|TensorFlow \[|InternalError)"
        r"|^value: np\.int64\(-",
        "indices out of bounds or out of order, which TensorFlow looks at less closely",
    ),
    (
        "unravel_index",
        r"^refuses: .*are not all in",
        "TensorFlow 1.15 computes with indices out of range",
    ),
    (
        "scatter_*",
        r"^refuses: InvalidArgumentError at run \(ResourceScatter",
        "TensorFlow's resource scatters compare numbers of elements, not shapes",
    ),
    (
        "matrix_diag* matrix_set_diag",
        r"^(refuses|class): .*(k must be 0|num_rows must be -1), as in TF 1\.15",
        "TensorFlow 1.15 takes k and num_rows and ignores them",
    ),
    (
        "ensure_shape *substr",
        r"^(accepts|class): .*(Shape must be rank -1|pos and len shapes must match: .*\?)",
        "TensorFlow's shape rule takes an unknown rank or size for one that differs",
    ),
    (
        "nn.compute_average_loss losses.* metrics.*",
        r"^(accepts|class): .*Can not squeeze dim",
        "TensorFlow builds the branch that squeezes also where it must not be taken",
    ),
    (
        "losses.* metrics.*",
        r"^(accepts|class): .*TensorFlow raises IndexError at build \(list index out of range",
        "TensorFlow looks up the last dim of a scalar beside a tensor whose rank it does not know",
    ),
    (
        "confusion_matrix metrics.mean_iou metrics.mean_per_class_accuracy",
        r"^(stage|class): InvalidArgumentError at build \(`(labels|predictions)` out of bound",
        "Penstock knows constants that an Identity hands on, and refuses them earlier",
    ),
    (
        "signal.irfft* signal.rfft* signal.inverse_stft",
        r"^class: InvalidArgumentError at run .*TensorFlow raises ValueError at build \(Dimension"
        r" -\d+ must be >= 0",
        "TensorFlow infers a negative dim of the result, which nobody can read",
    ),
    (
        "substr strings.substr",
        r"^shape: \[1, (\d+)\], TensorFlow \[\1\]",
        "TensorFlow drops a first dim of 1 where it broadcasts, against its own shape rule",
    ),
    (
        "math.reduce_euclidean_norm",
        r"^value: np\.float\w+\(([\d.e+-]+)\) .*expected np\.float\w+\(-\1\)",
        "TensorFlow 1.15 hands numbers on, with their signs, where an axis has one; a norm is not"
        " negative",
    ),
    (
        "train.piecewise_constant",
        r"^accepts: .*TensorFlow raises IndexError at build \(list index out of range",
        "TensorFlow looks up the first of no boundaries",
    ),
    (
        "data.Dataset.padded_batch",
        r"^(accepts|class): .*expected number as argument to bfloat16 constructor",
        "TensorFlow's own Python makes no zero of bfloat16 to pad with",
    ),
    (
        "image.encode_png image.encode_jpeg",
        r"^class: InvalidArgumentError at run .*TensorFlow raises InternalError at run"
        r" \((PNG|JPEG) encoding failed",
        "TensorFlow takes an image without pixels for an error of its own",
    ),
    (
        "image.sample_distorted_bounding_box",
        r"^refuses: (.*Image height and width must be positive|TypeError at build .*must be a"
        r" tensor of type float32; ar)",
        "TensorFlow makes a box of NaN of an image without pixels, and numbers of strings",
    ),
    (
        "fake_quant_with_min_max_vars_gradient",
        r"^refuses: .*(min|max) must have rank 0, but has shape \[1(,1)*\]",
        "TensorFlow's kernel takes any tensor of one element for the scalar that its rule asks for",
    ),
    (
        "metrics.mean_iou metrics.mean_per_class_accuracy",
        r"^refuses: .*SparseTensorDenseAdd.*a_indices has \d+ row\(s\), a_values \d",
        "TensorFlow reads beyond weights that are fewer than the labels",
    ),
    (
        "nn.max_pool* nn.pool",
        r"^value: np\.float\w+\((-inf|nan)\).*expected np\.float\w+\(-(3\.4028|65504|1\.797|3\.39)",
        "the maximum of infinities: TensorFlow's kernels begin with the least finite number",
    ),
    (
        "nn.fused_batch_norm nn.avg_pool3d",
        r"^value: .*expected np\.float\w+\(-?[\d.]+e\+(1\d|3\d)",
        "memory that TensorFlow leaves unwritten; sums that overflow or not by their order",
    ),
    (
        "nn.batch_normalization nn.batch_norm_with_global_normalization",
        r"^(accepts|refuses): .*type float(32|64) that does not match (type|expected type of)"
        r" float(32|64)",
        "older NumPys make float64 of a float32 scalar and a Python number",
    ),
    (
        "nn.ctc_loss_v2",
        r"^(refuses: .*GatherNd.* does not index into|value: .*expected np\.float32\(nan\))",
        "labels that are no class, whose probability is 1 in TensorFlow; overflow",
    ),
    (
        "nn.softmax_cross_entropy_with_logits*",
        r"^accepts: .*types \[int32, int64, int32\] that don't all match",
        "TensorFlow makes a range of a NumPy axis that is of another type than the other parts",
    ),
    (
        "train.*cosine_decay*",
        r"^accepts: TensorFlow raises TypeError at build \(Input 'y' of 'Mul' Op has type",
        "TensorFlow 1.15 multiplies by a pi of float32; later ones give it the rate's type",
    ),
    (
        "nn.depthwise_conv2d* nn.separable_conv2d",
        r"^accepts: .*only supports equal length strides in the row and column",
        "TensorFlow's kernels have one stride for both dims; what two mean is defined all the same",
    ),
    (
        "nn.depthwise_conv2d* nn.separable_conv2d image.ssim",
        r"^refuses: .*filter must not have zero elements",
        "TensorFlow 1.15 divides by such a filter's 0 channels and dies, or makes zeros; later ones"
        " refuse it",
    ),
    (
        "nn.*conv*",
        r"^(refuses: .*(not a multiple of the number of groups|but the filter takes)"
        r"|value: .*expected np\.float\w+\(-?[\d.]+e\+([12]\d|3[0-8])\))",
        "TensorFlow's CPU kernels of gradients know no groups, and read past the filter's end",
    ),
    (
        "nn.*conv*",
        r"^(accepts|class): .*Failed to call mkldnn_sgemm",
        "TensorFlow hands oneDNN a product without elements, which that refuses",
    ),
    (
        "nn.conv*",
        r"^refuses: InvalidArgumentError at run .*does not fit into",
        "a window longer than the image: TensorFlow's shape rule refuses it, its kernel does not",
    ),
    (
        "nn.*candidate_sampler",
        r"^refuses: .*true_classes holds",
        "TensorFlow 1.15 computes with classes out of range",
    ),
    (
        "extract_volume_patches",
        r"^static: \[None, None, None, None, None\], TensorFlow \[None, None, None, None\]",
        "TensorFlow infers 4 dims where it does not know the volume's size; its runs give 5",
    ),
    (
        "nn.softmax_cross_entropy_with_logits*",
        r"^class: ValueError at build \(SoftmaxCrossEntropyWithLogits .*TensorFlow raises"
        r" InvalidArgumentError at run \(logits and labels must be broadcastable",
        "Penstock knows more of the shape, and refuses it earlier",
    ),
    (
        "nn.atrous_conv2d_transpose",
        r"^class: ValueError at build \((SpaceToBatchND|BatchToSpaceND) .*TensorFlow raises"
        r" InvalidArgumentError at run \((padded_shape|Crops must)",
        "Penstock knows more of the paddings, and refuses them earlier",
    ),
    (
        "nn.avg_pool* nn.max_pool*",
        r"^(refuses|class): ValueError at build .*ksize must be positive",
        "a window without elements: TensorFlow 1.15 gives NaN or the least number, or dies dividing"
        " by 0; later ones refuse it, too",
    ),
    (
        "nn.max_pool*",
        r"^class: UnimplementedError at run .*pooling over channels .*TensorFlow raises"
        r" InvalidArgumentError at run \(Default MaxPoolingOp only supports NHWC",
        "TensorFlow has NCHW on GPUs only; Penstock has it everywhere",
    ),
    (
        "image.draw_bounding_boxes",
        r"^refuses: .*boxes must have 4 columns",
        "TensorFlow reads beyond boxes of fewer columns",
    ),
    (
        "igamma",
        r"^value: np\.float\w+\(1\.0\).*expected np\.float\w+\(nan\)",
        "the series of TensorFlow 1.15 overflows for the largest numbers",
    ),
    (
        "concat",
        r"^refuses: TypeError at build \(Tensors in list .*have types \[string, float",
        "NumPy reads numbers out of the bytes of strings; Penstock takes no strings for numbers",
    ),
    (
        "cast",
        r"^class: UnimplementedError at run \(Cast .*TensorFlow raises TypeError at build"
        r" \(cannot convert '(float|int|bool|complex)' object to bytes",
        "neither casts to strings; the constant value that TensorFlow says is of numbers all the"
        " same, which cannot be written as one of strings",
    ),
    (
        "*",
        r"^accepts: TensorFlow raises TypeError at build \((Cannot cast array data from"
        r"|Expected bfloat16 passed to parameter .* got array\()",
        "the bfloat16 of TensorFlow's NumPy is made of no arrays of small integers",
    ),
    (
        "sets.*",
        r"^static: \[(None, )?0\], TensorFlow \[(None, )?\d\]",
        "Penstock knows the rank by the columns of indices, of calls that both refuse",
    ),
    (
        "linalg.expm",
        r"^static: \[(\d), \1\], TensorFlow \[(\1|None), (\1|None)\]",
        "Penstock knows that matrices are square, of calls with which TensorFlow comes to no end",
    ),
    (
        "data.Dataset.list_files",
        r"^(class|accepts): .*TensorFlow raises DeadlineExceededError",
        "with an empty pattern TensorFlow comes to no end",
    ),
    (
        "bitwise.*",
        r"^refuses: TypeError at build .*must be a tensor of type uint(32|64), .*-\d",
        "older NumPys wrap Python's negative numbers into unsigned types",
    ),
    (
        "nn.ctc_loss_v2",
        r"^class: ValueError at build \(\w+ 'ctc_loss_dense/.*TensorFlow raises"
        r" (InvalidArgumentError at run|TypeError at build \(Input 'y' of 'Mul' Op has type)",
        "lengths that do not fit the batch: Penstock knows more of the shapes in the loop, and"
        " refuses them earlier",
    ),
)  # fmt: skip


def why(name: str, text: str) -> str:
    """Why a function may differ so; empty if no row says so."""
    for names, pattern, reason in EXPLAINED:
        if any(fnmatch.fnmatchcase(name, n) for n in names.split()):
            if re.search(pattern, text, re.S):
                return reason
    return ""
