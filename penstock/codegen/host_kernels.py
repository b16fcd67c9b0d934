"""Op types whose kernels compute on the host whatever device their nodes are on.

They go through values one by one in Python, or by libraries that know no GPU, or make of nothing
what a GPU then gets: numbers are drawn on the host, so that a seed gives the same ones everywhere.
Those that draw from a generator of a session (the trait ``random``) are not named here.  A test
holds the list against a GPU that is pretended: nothing is missing, nothing is here without need.
"""

from __future__ import annotations

HOST_KERNELS = frozenset(
    """
    Shape ShapeN Size Rank VariableShape
    IsVariableInitialized VarIsInitializedOp
    Const ImmutableConst Empty Fill LinSpace Range Timestamp
    StatelessMultinomial StatelessRandomNormal StatelessRandomUniform StatelessRandomUniformInt
    StatelessTruncatedNormal
    CTCBeamSearchDecoder CTCGreedyDecoder CTCLoss EditDistance
    FusedResizeAndPadConv2D ResizeBilinear
    SparseConcat SparseSlice SparseSplit
    TensorArray TensorArrayV2 TensorArrayV3
    TensorArraySize TensorArraySizeV2 TensorArraySizeV3
    _Send _Recv _Dead _Taken
    """.split()
)
