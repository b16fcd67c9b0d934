"""What a model costs, by the functions and options of TensorFlow 1.0 to 1.3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.tools.profiler.options import ProfileOptionBuilder
from penstock.tools.profiler.profiler import profile

TRAINABLE_VARS_PARAMS_STAT_OPTIONS = ProfileOptionBuilder.trainable_variables_parameter()
FLOAT_OPS_OPTIONS = ProfileOptionBuilder.float_operation()


def print_model_analysis(
    graph: Any,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Mapping[str, Any] = TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
) -> Any:
    """Shows what a graph costs: ``tf.profiler.profile``.

    Args:
      graph: the graph.
      run_meta: a RunMetadata of a traced run.
      op_log: an OpLogProto with types for nodes of the user's own.
      tfprof_cmd: the view: ``"scope"``, ``"graph"``, ``"op"`` or ``"code"``.
      tfprof_options: the constants above, or what ``tf.profiler.ProfileOptionBuilder`` builds.

    Returns:
      The message of that view, with ``total_parameters`` and ``total_float_ops``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default() as graph:
      ...     _ = tf.get_variable("w", [3, 4])
      ...     options = {**tf.contrib.tfprof.model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS}
      ...     options["output"] = "none"
      ...     analyzer = tf.contrib.tfprof.model_analyzer
      ...     analyzer.print_model_analysis(graph, tfprof_options=options).total_parameters
      12
    """
    return profile(graph, run_meta, op_log, tfprof_cmd, dict(tfprof_options))
