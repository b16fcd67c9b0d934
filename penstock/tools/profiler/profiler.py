"""``tf.profiler``: one profile of a graph, or a profiler that gathers steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.foundation.base import errors
from penstock.foundation.formats.files import open_file
from penstock.foundation.formats.tfprof_messages import ProfileProto
from penstock.foundation.graph import node_message, scopes
from penstock.foundation.graph.graph import Graph
from penstock.tools.profiler import (
    advisor,
    op_log as op_logs,
    options as option_parsing,
    pprof,
    protos,
    report,
    views,
)
from penstock.tools.profiler.nodes import Profile, profile_of
from penstock.tools.profiler.options import Options, ProfileOptionBuilder
from penstock.tools.profiler.timeline import Timeline

_DEFAULT = 0
_PROTOS = {
    "scope": protos.graph_node_proto,
    "graph": protos.graph_node_proto,
    "op": protos.multi_graph_node_proto,
    "code": protos.multi_graph_node_proto,
}


def profile(
    graph: Graph | None = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Any = _DEFAULT,
) -> Any:
    """Shows what a graph costs.

    Args:
      graph: the graph; None for the default graph.
      run_meta: a RunMetadata of a traced run, for time, memory, and shapes unknown before running.
      op_log: an OpLogProto with types for nodes of the user's own, to count and group by.
      cmd: ``"scope"`` (by name), ``"graph"`` (by dataflow), ``"op"`` (by op type) or ``"code"`` (by
        the line that made the nodes).
      options: a dict, as ``ProfileOptionBuilder`` makes it; default is the parameters of the
        trainable variables.

    Returns:
      A GraphNodeProto for ``scope`` and ``graph``, a MultiGraphNodeProto for ``op`` and ``code``;
      the report goes where ``options["output"]`` says.

    Raises:
      InvalidArgumentError: an unknown ``cmd`` or option.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default() as g:
      ...     w = tf.get_variable("w", [3, 5])
      ...     options = ProfileOptionBuilder.trainable_variables_parameter()
      >>> profile(g, options=options | {"output": "none"}).total_parameters
      15
    """
    _check_view(cmd)
    if options == _DEFAULT:
        options = ProfileOptionBuilder.trainable_variables_parameter()
    found, uncounted = profile_of(
        graph or scopes.get_default_graph(), op_log, run_meta, add_trace=True
    )
    return _show(found, cmd, options, uncounted)


def _check_view(view: str) -> None:
    if view not in views.VIEWS:
        raise errors.invalid(f"the profiler has no view {view!r}; it has: {', '.join(views.VIEWS)}")


def _show(found: Profile, view: str, given: Mapping[str, Any], uncounted: int = 0) -> Any:
    options = option_parsing.parse(given)
    if options.step >= 0 and options.step not in found.steps:
        raise errors.invalid(f"step {options.step} was not added; there are: {sorted(found.steps)}")
    root = views.build(found.nodes(options.step), view, options)
    _write(found, root, view, options, uncounted)
    return _PROTOS[view](root)


def _write(
    found: Profile, root: views.ViewNode, view: str, options: Options, uncounted: int
) -> None:
    if options.output == "timeline":
        _write_timeline(found, options)
    elif options.output == "pprof":
        if view != "code":
            raise errors.invalid("pprof output is of the view 'code'")
        with open_file(options.outfile, "wb") as file:
            file.write(pprof.encode(root))
    elif options.output != "none":
        text = report.text(root, view, options)
        if uncounted and "float_ops" in options.select:
            text += f"{uncounted} node(s) are not counted: their shapes are not known\n"
        if options.output == "stdout":
            print(text)
        else:
            with open_file(options.outfile, "wb") as file:
                file.write(text.encode())


def _write_timeline(found: Profile, options: Options) -> None:
    step = options.step if options.step >= 0 else min(found.steps, default=-1)
    if step < 0:
        raise errors.invalid("a timeline needs a traced step: give run_meta, or add_step")
    trace = Timeline(found.steps[step][0].step_stats).generate_chrome_trace_format()
    with open_file(f"{options.outfile}_{step}", "wb") as file:
        file.write(trace.encode())


def advise(graph: Graph | None = None, run_meta: Any = None, options: Any = _DEFAULT) -> Any:
    """Looks for what stands out in a traced run, and prints it.

    Args:
      graph: the graph; None for the default graph.
      run_meta: a RunMetadata of a traced run.
      options: a dict whose keys are the names of checkers; default is all.

    Returns:
      An AdviceProto with each checker's reports.
    """
    found, _ = profile_of(graph or scopes.get_default_graph(), None, run_meta, add_trace=True)
    return advisor.advise(found, None if options == _DEFAULT else options)


class Profiler:
    """Gathers traced steps of a graph and shows them.

    Args:
      graph: the graph; None for the default graph.
      op_log: an OpLogProto with types of the user's own.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default() as g:
      ...     product = tf.matmul(tf.zeros([4, 3]), tf.zeros([3, 5]))
      >>> options = ProfileOptionBuilder(ProfileOptionBuilder.float_operation())
      >>> Profiler(g).profile_operations(options.with_empty_output().build()).total_float_ops
      120
    """

    def __init__(self, graph: Graph | None = None, op_log: Any = None) -> None:
        self._graph = graph or scopes.get_default_graph()
        self._op_log = op_log
        self._profile, _ = profile_of(self._graph, op_log, None, add_trace=True)

    def add_step(self, step: int, run_meta: Any) -> None:
        """Adds the measurements of a traced run.

        Args:
          step: its number; runs of one number are shown together.
          run_meta: the RunMetadata that the run filled in.
        """
        self._profile.add_step(step, run_meta)
        # The run's shapes, and nodes that are new since.
        self._profile.log, _ = op_logs.merged(self._graph, self._profile.log, run_meta)

    def profile_python(self, options: Mapping[str, Any]) -> Any:
        """By line of the program; a MultiGraphNodeProto."""
        return _show(self._profile, "code", options)

    def profile_operations(self, options: Mapping[str, Any]) -> Any:
        """By op type; a MultiGraphNodeProto."""
        return _show(self._profile, "op", options)

    def profile_name_scope(self, options: Mapping[str, Any]) -> Any:
        """By name scope; a GraphNodeProto."""
        return _show(self._profile, "scope", options)

    def profile_graph(self, options: Mapping[str, Any]) -> Any:
        """By dataflow; a GraphNodeProto."""
        return _show(self._profile, "graph", options)

    def advise(self, options: Mapping[str, Any] | None) -> Any:
        """Runs the checkers that ``options`` names (None: all); an AdviceProto."""
        return advisor.advise(self._profile, options)

    def serialize_to_string(self) -> bytes:
        """The whole profile as the bytes of a ProfileProto."""
        return bytes(_profile_proto(self._profile).SerializeToString())


def _profile_proto(found: Profile) -> Any:
    result = ProfileProto(steps=sorted(found.steps), has_trace=True)
    for number, text in found.log.id_to_string.items():
        result.id_to_string[number] = text
    entries = {entry.name: entry for entry in found.log.log_entries}
    stats = found.nodes(-1)
    ids = {node.name: number for number, node in enumerate(stats)}
    for node in stats:
        message = result.nodes[ids[node.name]]
        message.name, message.op, message.id = node.name, node.type, ids[node.name]
        message.op_types.extend(node.types)
        message.shape.extend(node.shape or ())
        message.float_ops = node.numbers["float_ops"]
        message.canonical_device = node.devices[0] if node.devices else ""
        if node.name in entries:
            message.trace.CopyFrom(entries[node.name].code_def)
        if node.op is not None:
            _add_graph(message, node.op, ids)
        for step in sorted(found.steps):
            execution = found.measured(step).get(node.name)
            if execution is not None:
                _add_execution(message.execs[step], execution)
    return result


def _add_graph(message: Any, op: Any, ids: dict[str, int]) -> None:
    for index, tensor in enumerate(op.inputs):
        source = ids[tensor.op.name]
        message.inputs[index] = source
        message.src_output_index[source] = tensor.value_index
        dims = tensor.shape.as_list() if tensor.shape.ndims is not None else []
        message.input_shapes[index].int64_values.extend(-1 if d is None else d for d in dims)
    for index, output in enumerate(op.outputs):
        dims = output.shape.as_list() if output.shape.ndims is not None else []
        message.output_shapes[index].int64_values.extend(-1 if d is None else d for d in dims)
    for name, value in node_message.node_def(op).attr.items():
        message.attrs[name].CopyFrom(value)


def _add_execution(message: Any, execution: Any) -> None:
    message.run_count = execution.runs
    message.devices.extend(execution.devices)
    for device, accelerator, start, micros in execution.times:
        kind = message.accelerator_execs if accelerator else message.cpu_execs
        kind[device].times.add(int64_values=[start, micros])
        first = message.all_start_micros
        message.all_start_micros = min(first, start) if first else start
        message.latest_end_micros = max(message.latest_end_micros, start + micros)
    measured = execution.measured
    message.memory_execs.add(
        memory_micros=message.latest_end_micros,
        requested_bytes=measured["bytes"],
        peak_bytes=measured["peak_bytes"],
        residual_bytes=measured["residual_bytes"],
        output_bytes=measured["output_bytes"],
    )
