"""``tf.profiler``: what a graph and its runs cost: parameters, operations, time, memory."""

from penstock.foundation.formats.tfprof_messages import (
    AdviceProto as AdviceProto,
    GraphNodeProto as GraphNodeProto,
    MultiGraphNodeProto as MultiGraphNodeProto,
    OpLogProto as OpLogProto,
)
from penstock.tools.profiler.op_log import write_op_log as write_op_log
from penstock.tools.profiler.options import ProfileOptionBuilder as ProfileOptionBuilder
from penstock.tools.profiler.profiler import (
    Profiler as Profiler,
    advise as advise,
    profile as profile,
)
