"""Where TensorFlow's own answer at an edge is undefined: (op types, pattern, why).

A pattern is a regular expression over ``kind`` or ``kind: difference``, kind being the part of a
derived row's id after the slash (``edges.py``).  Only a row that differs is looked up here; what
agrees counts as agreement.
"""

from __future__ import annotations

_FLUSHED = "TensorFlow's threads take denormal numbers for zeros; here they count"
_PADDED = (
    "an infinity or NaN times the zeros of padding, or of the transform that a kernel sums by,"
    " spreads or does not: TensorFlow's kernels (and its versions) disagree with each other"
)
_FACTORS = "what becomes of infinities and NaN in a factorization is up to its library"
_ORDERED = "sorted by a comparison that NaN breaks: where NaN lands depends on its place"
_COMPARED = "whether NaN wins depends on its place in the window and on the kernel"
_REARRANGED = "the same formula in another order: inf - inf or an overflow comes earlier or later"

_UPDATES = (
    "ApplyAdam ResourceApplyAdam ApplyAdaMax ResourceApplyAdaMax ApplyRMSProp"
    " SparseApplyRMSProp ResourceApplyRMSProp ResourceSparseApplyRMSProp"
    " ApplyCenteredRMSProp SparseApplyCenteredRMSProp ResourceApplyCenteredRMSProp"
    " ResourceSparseApplyCenteredRMSProp ApplyFtrl SparseApplyFtrl ResourceApplyFtrl"
    " ResourceSparseApplyFtrl ApplyFtrlV2 SparseApplyFtrlV2 ResourceApplyFtrlV2"
    " ResourceSparseApplyFtrlV2 ApplyAdagrad SparseApplyAdagrad ResourceApplyAdagrad"
    " ResourceSparseApplyAdagrad ApplyAdagradDA SparseApplyAdagradDA"
    " ResourceApplyAdagradDA ResourceSparseApplyAdagradDA ApplyPowerSign"
    " ResourceApplyPowerSign ApplyAddSign ResourceApplyAddSign ApplyProximalAdagrad"
    " SparseApplyProximalAdagrad ResourceApplyProximalAdagrad"
    " ResourceSparseApplyProximalAdagrad ApplyMomentum SparseApplyMomentum"
    " ResourceApplyMomentum ResourceSparseApplyMomentum ApplyAdadelta SparseApplyAdadelta"
    " ResourceApplyAdadelta ResourceSparseApplyAdadelta"
)

EXCEPTIONS: tuple[tuple[str, str, str], ...] = (
    (
        "SdcaOptimizer SdcaOptimizerV2",
        "(scalar|ones|empty).*: raises InvalidArgumentError at run",
        "lists or rows shorter than what belongs to them: TensorFlow reads what lies behind them",
    ),
    (
        "Abs Relu Sign Sqrt Rsqrt Lgamma Digamma"
        " Floor Ceil FloorDiv FloorMod Mod TruncateMod DivNoNan Log"
        " Selu LeakyRelu Elu MaxPool SegmentMin SegmentMax UnsortedSegmentProd Reciprocal Inv"
        " NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionWithOverlaps"
        " CombinedNonMaxSuppression RGBToHSV CropAndResizeGradImage StringFormat"
        " HistogramSummary Xlogy Xdivy Mfcc CholeskyGrad BatchCholesky QuantizeAndDequantizeV2"
        " ScaleAndTranslateGrad MatrixTriangularSolve FakeQuantWithMinMaxArgs"
        " FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVarsGradient"
        " FakeQuantWithMinMaxVarsPerChannelGradient UniqueWithCountsV2",
        "denormal",
        _FLUSHED,
    ),
    (
        "Conv2D Conv2DBackpropInput Conv2DBackpropFilter Conv3D DepthwiseConv2dNative"
        " DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNativeBackpropFilter LRN LRNGrad"
        " FusedPadConv2D FusedResizeAndPadConv2D Conv3DBackpropInput Conv3DBackpropInputV2"
        " Conv3DBackpropFilter Conv3DBackpropFilterV2 FractionalAvgPoolGrad",
        "nan|inf|mix|huge",
        _PADDED,
    ),
    (
        "Cholesky MatrixSolve MatrixDeterminant Qr Svd SelfAdjointEigV2 MatrixSquareRoot"
        " BatchCholesky BatchMatrixDeterminant BatchMatrixSolveLs BatchSvd CholeskyGrad"
        " TridiagonalSolve BatchSelfAdjointEigV2 BatchMatrixSolve BatchMatrixInverse"
        " MatrixSolveLs",
        "nan|inf|mix|huge|zero",
        _FACTORS,
    ),
    ("TopKV2 TopK NthElement", "nan|mix", _ORDERED),
    (
        "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4"
        " NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps CombinedNonMaxSuppression",
        "nan|inf|mix|zero",
        "TensorFlow picks a box of no area, or of one that is no number, again and again",
    ),
    (
        "MaxPool MaxPoolGrad MaxPool3D MaxPool3DGrad MaxPoolV2 MaxPoolWithArgmax SegmentMax"
        " SegmentMin CTCGreedyDecoder ScatterMin ScatterMax ResourceScatterMin"
        " ResourceScatterMax SparseReduceMax SparseReduceMaxSparse"
        " CumulativeLogsumexp RGBToHSV AdjustHue AdjustSaturation",
        "nan|inf|mix",
        _COMPARED,
    ),
    (
        "MaxPoolGrad MaxPoolGradV2 MaxPoolGradGrad MaxPoolGradGradV2 MaxPool3DGrad"
        " MaxPool3DGradGrad FractionalMaxPoolGrad",
        r"nan|inf|mix|zeros?|huge|denormal|extremes|negative|empty.*|(ones|vector)\.1"
        r"|index\.3\.same",
        "orig_output is then not the pool of orig_input, of which only one is looked at",
    ),
    (
        "ResizeBilinear CTCLoss AdjustContrast"
        " ResizeBilinearGrad ResizeArea QuantizedResizeBilinear ScaleAndTranslate"
        " ScaleAndTranslateGrad FusedBatchNorm FusedBatchNormGradV2",
        "nan|inf|huge|mix",
        _REARRANGED,
    ),
    (
        "TruncateDiv TruncateMod",
        "(zeros|extremes|negative): raises InvalidArgumentError, TensorFlow InternalError",
        "TensorFlow answers a division by zero with an InternalError that it calls unexpected; it"
        " is an InvalidArgumentError here, as that of every other division",
    ),
    (_UPDATES, "nan|inf|huge|mix", _REARRANGED),
    (_UPDATES, "denormal", _FLUSHED),
    (
        "AssignVariableOp",
        "(empty|ones|scalar|vector).*",
        "a variable keeps the shape it is declared with, which TensorFlow holds it to while the"
        " graph is built and no longer when a step assigns",
    ),
    (
        "FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel"
        " FakeQuantWithMinMaxVarsPerChannelGradient UniqueWithCountsV2",
        "nan|inf|mix",
        "a range whose ends are no numbers",
    ),
    (
        "MatrixBandPart BatchMatrixBandPart",
        r"index\.\d\.least",
        "TensorFlow negates -2^63, which overflows",
    ),
    (
        "AvgPoolGrad AvgPool3DGrad",
        r"index\.0\..*",
        "TensorFlow does not hold grad against orig_input_shape, and reads what does not belong",
    ),
    (
        "ResourceScatterUpdate ResourceScatterAdd ResourceScatterMax ResourceScatterMin",
        "empty.*",
        "with no indices TensorFlow does not look at updates, whose shape is wrong",
    ),
    (
        "CTCGreedyDecoder CTCBeamSearchDecoder RGBToHSV HSVToRGB EncodePng EncodeJpeg"
        " EncodeJpegVariableQuality EditDistance RandomCrop ReduceJoin UnsortedSegmentJoin"
        " SparseReduceSum SparseReduceMax SparseConcat",
        ".*: raises InvalidArgumentError, TensorFlow (FailedPrecondition|Internal|OutOfRange)Error",
        "FailedPreconditionError, OutOfRangeError or InternalError for operands of a wrong shape;"
        " here it is an InvalidArgumentError, as of every other op",
    ),
    (
        "FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3"
        " BatchNormWithGlobalNormalization BatchNormWithGlobalNormalizationGrad",
        "(empty|ones).*",
        "TensorFlow does not look at the size of the statistics and reads beyond them",
    ),
    (
        "DataFormatDimMap",
        "extremes",
        "TensorFlow does not look whether a dim is one, and gives what lies there in memory",
    ),
    ("RandomCrop", r"index\.1\..*", "where the crop lies is drawn, by another generator there"),
    (
        "SparseSegmentSum SparseSegmentSumWithNumSegments SparseSegmentMean"
        " SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments",
        "empty.*: gradient .*",
        "TensorFlow's gradient leaves rows without a segment unwritten",
    ),
    ("BroadcastArgs", "extremes", "negative sizes: no shape, which TensorFlow does not say"),
    ("EncodeWav", r"index\.1\.greatest", "a rate that the header has no room for is refused"),
    ("QuantizedResizeBilinear", "empty.*", "TensorFlow forgets two outputs: an InternalError"),
    (
        "RFFT RFFT2D RFFT3D IRFFT IRFFT2D IRFFT3D SparseSegmentMeanGrad SparseSegmentSqrtNGrad",
        "empty.*",
        "nothing is summed, and TensorFlow hands out memory that it never wrote",
    ),
    (
        "MatrixSolveLs",
        r"empty\.\w+: output 0: np.*",
        "no equations to solve, and TensorFlow hands out memory that it never wrote",
    ),
    (
        "QuantizeAndDequantizeV3 QuantizeV2 RequantizationRange QuantizedMatMul QuantizedConv2D"
        " QuantizedBiasAdd QuantizedAdd QuantizedBatchNormWithGlobalNormalization QuantizedConcat"
        " QuantizedMul QuantizedRelu QuantizedRelu6 Requantize Dequantize",
        "nan|inf|mix",
        "ends of a range that are no numbers: C++ does not say what integer NaN becomes",
    ),
    (
        "SparseAdd SparseAddGrad SparseSliceGrad SparseSparseMaximum SparseSparseMinimum",
        r"index\..*",
        "index tuples that are repeated or out of order, which these ops do not look for",
    ),
    (
        "SparseReduceSum SparseReduceMax SparseReduceSumSparse SparseReduceMaxSparse",
        r"index\.0\..*",
        "TensorFlow does not look at the coordinates that it reduces over",
    ),
    (
        "StringNGrams",
        "empty.*",
        "data without elements and splits that say otherwise: TensorFlow reads beyond it",
    ),
    ("SparseReshape SparseConcat", r"index\..*\.(least|greatest)", "sizes whose sums overflow"),
    (
        "RandomGammaGrad Igamma Igammac IgammaGradA Polygamma Zeta Betainc",
        "zero|nan|inf|huge|mix|denormal",
        "special functions outside of their domain, or where a series does not converge",
    ),
    (
        "UnravelIndex",
        r"index\.0\.-1",
        "TensorFlow does not look whether an index is negative, and gives negative coordinates",
    ),
    (
        "ParallelDynamicStitch FusedResizeAndPadConv2D DepthwiseConv2dNativeBackpropInput"
        " Conv3DBackpropInputV2",
        r"index\.\d\.greatest",
        "there is no memory for it, which TensorFlow sees before it asks for it",
    ),
    (
        "Conv2DBackpropFilter DepthwiseConv2dNativeBackpropInput",
        ".*AbortedError",
        "oneDNN's AbortedError for shapes that do not fit; an InvalidArgumentError here",
    ),
    (
        "FusedPadConv2D FusedResizeAndPadConv2D",
        r"empty\.\w+: output 0.*",
        "a filter without elements: TensorFlow leaves the result's memory as it was",
    ),
    (
        "Conv2D Conv3D",
        r"empty\.\w+: TensorFlow raises .*(must not have zero elements|must not be 0|one group).*",
        "a filter that makes no channels, or of none: 1.15 takes it or dies of it, 2.21 refuses it",
    ),
    ("Lu", "nan|inf|mix|huge", _FACTORS),
    (
        "UnsortedSegmentMax UnsortedSegmentMin CropAndResize",
        "nan|inf|mix",
        _COMPARED,
    ),
    (
        "QuantizeAndDequantize",
        r"scalar\.0: static shape .*",
        "removed from graphs of today; in those old enough for it a scalar placeholder's shape"
        " counts as unknown",
    ),
    (
        "NegTrain",
        r"index\.[23]\..*",
        "TensorFlow does not look whether words are rows of its matrices, and reads beyond them",
    ),
    (
        "SpaceToDepth",
        r"empty\..*: TensorFlow raises InvalidArgumentError \(Only NHWC .*",
        "TensorFlow has NCHW on GPUs alone; here it is everywhere",
    ),
    ("DynamicStitch", r"index\..*\.greatest", "there is no memory for it"),
    ("CropAndResizeGradBoxes", "denormal", _FLUSHED),
    (
        "AvgPool3D",
        r"(empty\.\w+|ones\.0): raises InvalidArgumentError at run.*does not fit into.*",
        "a window larger than the image: TensorFlow refuses it while the graph is built; in a step"
        " 1.15 dies of it, and 2.21 gives nothing",
    ),
    (
        "DeserializeManySparse",
        r"vector\.0: raises InvalidArgumentError at run.*must have rank 2.*",
        "a vector: TensorFlow refuses it while the graph is built, and not in a step",
    ),
    (
        "QuantizedConcat",
        r"empty\.only\d: output 0.*",
        "TensorFlow leaves out an operand without elements but not its range, and so reads the"
        " operands behind it by another's",
    ),
    (
        "ApproximateEqual",
        r"(ones|scalar)\.[01]: raises InvalidArgumentError.*",
        "TensorFlow's kernel refuses, but it has none for int32, which XLA then broadcasts: here"
        " one rule holds for all types",
    ),
    (
        "ResourceGather",
        r"(empty\.only|ones\.|scalar\.)1: raises (ValueError|InvalidArgumentError).*",
        "TensorFlow does not hold indices against the batch dims, and reads indices beyond them",
    ),
    (
        "LSTMBlockCell LSTMBlockCellGrad",
        r"(empty\.first2|empty\.only[456]|ones\.[456]): raises .* wc[ifo] must have shape.*",
        "TensorFlow does not look at the size of peepholes, and reads beyond them",
    ),
    (
        "BlockLSTM",
        r"index\.0\..*: output .*",
        "TensorFlow leaves steps after seq_len_max unwritten: other values in each run",
    ),
    (
        "BlockLSTMGrad",
        r"(empty\.first2|empty\.only[567]|ones\.[23567]): raises .*"
        r" (wc[ifo]|cs_prev|h_prev) must have shape.*",
        "TensorFlow does not look at the size of peepholes and states, and reads beyond them",
    ),
)

# What differs and is not mended yet: printed in each run.
UNFINISHED: tuple[tuple[str, str], ...] = ()
