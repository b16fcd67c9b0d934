"""Programs of ``tf.contrib.graph_editor`` (``recorded``): what graphs become, what is refused."""

from tests.contrib.recorded import refused


def _build(tf):
    with tf.name_scope("s"):
        a = tf.placeholder(tf.float32, [2], name="a")
        b = tf.constant([1.0, 2.0], name="b")
        c = tf.add(a, b, name="c")
    k = tf.no_op(name="k")
    with tf.control_dependencies([k]), tf.device("/cpu:0"):
        d = tf.multiply(c, b, name="d")
    e, f = tf.identity(d, name="e"), tf.identity(d, name="f")
    with tf.colocate_with(d.op):
        h = tf.add(e, f, name="h")
    tf.add_to_collection("mine", d)
    tf.add_to_collection("mine", h.op)
    tf.add_to_collection("losses", d)
    return a, b, c, d, e, f, h


def _nodes(tf, first=0, graph=None):
    graph = graph or tf.get_default_graph()
    return [
        [op.name, op.type, [t.name for t in op.inputs], [c.name for c in op.control_inputs],
         op.device, [g.decode() for g in op.colocation_groups()]]
        for op in graph.get_operations()[first:]
    ]  # fmt: skip


def _view(view):
    return [
        [op.name for op in view.ops], [t.name for t in view.inputs], [t.name for t in view.outputs],
        [t.name for t in view.passthroughs], str(view).partition("\n")[2],
    ]  # fmt: skip


def _names(items):
    return [item.name for item in items]


def case_copies(tf):
    ge, graph = tf.contrib.graph_editor, tf.get_default_graph()
    a, b, c, d, e, f, h = _build(tf)
    found = []
    view, info = ge.copy(ge.sgv(c.op, d.op, h.op))
    found += [_view(view), info.transformed(d).name, info.original(info.transformed(d)).name]
    found += [info.transformed([e, [e.op]]), info.transformed(e, lambda t: t.name)]
    found.append(str(info).split("mapping:")[1])
    ge.copy(ge.sgv(c.op, graph.get_operation_by_name("k"), d.op, h.op), dst_scope="dst")
    ge.copy(ge.sgv("^s/.*", graph=graph), dst_scope="dst", src_scope="s/")
    ge.copy(ge.sgv("^s/.*", graph=graph), None, "dst", "s/", True)
    found.append(_nodes(tf))
    other = tf.Graph()
    ge.copy(graph, dst_graph=other, dst_scope="z")
    found += [_nodes(tf, 0, other), sorted(other.get_all_collection_keys())]
    found.append([_names(graph.get_collection(key)) for key in ("mine", "losses", "dst/mine")])
    found.append(refused(lambda: ge.copy(d.op, src_scope="s"), "d does not belong to source scope"))
    found.append(refused(lambda: ge.copy(d.op, dst_graph=3), "Expected a tf.Graph"))
    found.append(refused(lambda: ge.copy([]), "Expected a tf.Graph"))
    with tf.Session(graph=other) as sess:
        return found + [sess.run("z/h:0", {"z/s/a:0": [1.0, 1.0]})]


def case_transformer(tf):
    ge, graph = tf.contrib.graph_editor, tf.get_default_graph()
    a, b, c, d, e, f, h = _build(tf)
    transformer = ge.Transformer()
    seen = []
    transformer.transform_external_input_handler = lambda info, t: info.graph_.get_tensor_by_name(
        "s/b:0"
    )
    transformer.assign_collections_handler = lambda info, x, x_: seen.append([x.name, x_.name])
    transformer.transform_control_input_handler = lambda info, op: None
    view, info = transformer(ge.sgv(d.op, e.op), graph, "T")
    found = [_view(view), seen, _nodes(tf)]

    def changed(message):
        message.device = "/device:CPU:3"
        return message

    def copied(info, op, inputs):
        return ge.copy_op_handler(info, op, inputs, copy_shape=True, nodedef_fn=changed)

    def kept(info, t):
        return ge.keep_t_if_possible_handler(info, t)

    transformer = ge.Transformer()
    transformer.transform_op_handler = copied
    transformer.transform_external_input_handler = kept
    transformer(ge.sgv(h.op), graph, "U/", reuse_dst_scope=True)
    found.append(refused(lambda: transformer(h.op, 3, "U"), "Expected a tf.Graph"))
    found += [_nodes(tf, len(found[-2])), type(info).__name__]
    other = tf.Graph()
    transformer = ge.Transformer()
    transformer.transform_external_input_handler = ge.replace_t_with_placeholder_handler
    transformer.assign_collections_handler = ge.assign_renamed_collections_handler
    transformer.transform_control_input_handler = ge.transform_op_if_inside_handler
    _, info = transformer(ge.sgv(d.op, e.op), other, "O")
    return found + [_nodes(tf, 0, other), ge.TransformerInfo.__name__, info.transformed(h)]


def case_replaces(tf):
    ge = tf.contrib.graph_editor
    a, b, c, d, e, f, h = _build(tf)
    z = tf.constant([5.0, 5.0], name="z")
    found = [ge.graph_replace(h, {c: z}).name]
    again = ge.graph_replace([h, e], {c: z}, dst_scope="R")
    found += [_names(again), ge.graph_replace({"k": h}, {c: z}, "Q")["k"].name]
    found.append(refused(lambda: ge.graph_replace(z, {c: z}), "are not connected!"))
    found.append(refused(lambda: ge.graph_replace(3, {c: z}), "Expected a type in"))
    found.append(refused(lambda: ge.graph_replace(h.op, {c: z}), "Expected a type in"))
    view, _ = ge.copy_with_input_replacements(ge.sgv(d.op, e.op), {c: z}, dst_scope="W")
    found += [_view(view), _nodes(tf)]
    with tf.Session() as sess:
        return found + [sess.run([*again, h], {a: [1.0, 1.0]})]


def case_replaces_in_loops(tf):
    ge, graph = tf.contrib.graph_editor, tf.get_default_graph()
    x = tf.constant(3.0, name="x")
    w = tf.while_loop(lambda i: i < 10.0, lambda i: i * x, [tf.constant(1.0)], name="w")
    y = tf.cond(x > 2.0, lambda: x * 2.0, lambda: x, name="cc")
    first = len(graph.get_operations())
    other = ge.graph_replace([w, y], {x: tf.constant(5.0)}, dst_scope="N")
    made = [row[:2] + [sorted(row[2]), row[3]] for row in _nodes(tf, first)]
    with tf.Session() as sess:
        return [sorted(row for row in made if "geph" not in row[0]), sess.run(other)]


def case_reroutes(tf):
    ge = tf.contrib.graph_editor
    a, b, c, d, e, f, h = _build(tf)
    z = tf.constant([5.0, 5.0], name="z")
    found = []
    with tf.Session():

        def look():
            found.append([row[:4] for row in _nodes(tf)])
            new = tf.Session()  # 1.15 does not see changes of what has run
            found.append(new.run(h, {a: [1.0, 3.0]}))

        look()
        found.append(ge.reroute_ts([z], [c]))
        look()
        found.append(ge.reroute_ts([c], [z], cannot_modify=d.op))
        found.append(ge.reroute_ts([c], [z], can_modify=[d.op]))
        look()
        found.append(ge.swap_ts([b], [z]))
        look()
        found.append([_view(v) for v in ge.swap_inputs(e.op, ge.sgv(f.op))])
        found.append([_view(v) for v in ge.reroute_outputs(e.op, f.op)])
        look()
        view = ge.sgv(c.op, d.op).remap_outputs([0])
        n = tf.negative(z, name="n")
        found.append([_view(v) for v in ge.reroute_inputs(n.op, e.op)])
        look()
        found.append([_view(v) for v in ge.swap_outputs(n.op, view)])
        found.append([type(v).__name__ for v in ge.swap_ios(n.op, e.op)])
        found.append([type(v).__name__ for v in ge.reroute_ios(ge.sgv(n.op), e.op)])
        look()
        ge.add_control_inputs(h.op, [c.op])
        ge.remove_control_inputs(d.op, tf.get_default_graph().get_operation_by_name("k"))
        look()
    for function, words in [
        (lambda: ge.reroute_ts([c], [b, d]), "different sizes: 1 != 2"),
        (lambda: ge.swap_ts([c], [tf.constant([1, 2])]), "are not compatible"),
        (lambda: ge.swap_ts([c], [tf.constant([1.0])]), "are not compatible"),
        (lambda: ge.reroute_ts(3, c), "Expected a type in"),
        (lambda: ge.swap_inputs(c.op, e.op), "different sizes: 2 != 1"),
        (lambda: ge.remove_control_inputs(d.op, [b.op]), "is not a control_input"),
        (lambda: ge.add_control_inputs(h.op, [c.op]), "is already a control_input"),
        (lambda: ge.remove_control_inputs(3, [b.op]), "Expected a tf.Operation"),
    ]:
        found.append(refused(function, words))
    return found + [ge.reroute_ts([a], [a]), ge.reroute_ts([], [])]


def _detaching(tf, change):
    with tf.Graph().as_default():
        tensors = _build(tf)
        given = change(tf.contrib.graph_editor, *tensors)
        names = [_names(part) if isinstance(part, list) else type(part).__name__ for part in given]
        return [names, [row[:4] for row in _nodes(tf)]]


def case_edits(tf):
    def outputs_waited_for(ge, a, b, c, d, e, f, h):
        k = d.op.control_inputs[0]
        ge.detach_control_outputs(k, ge.ControlOutputs(h.graph))
        return [k]

    def no_controls(ge, a, b, c, d, e, f, h):
        ge.detach_control_inputs(d.op)
        return [d.op]

    def both(ge, a, b, c, d, e, f, h):
        return ge.detach(d.op, control_ios=ge.ControlOutputs(h.graph))

    def connected(ge, a, b, c, d, e, f, h):
        q = tf.negative(a, name="q")
        ge.connect(ge.sgv(e.op), ge.sgv(h.op).remap_inputs([1]))
        return ge.connect(c.op, q.op, disconnect_first=True)

    changes = [
        outputs_waited_for, no_controls, both, connected,
        lambda ge, a, b, c, d, e, f, h: ge.detach(ge.sgv(d.op), control_inputs=True),
        lambda ge, a, b, c, d, e, f, h: ge.detach(d.op),
        lambda ge, a, b, c, d, e, f, h: ge.detach_inputs(h.op),
        lambda ge, a, b, c, d, e, f, h: ge.detach_outputs(ge.sgv(d.op, h.op)),
        lambda ge, a, b, c, d, e, f, h: ge.bypass(e.op),
    ]  # fmt: skip
    found = [_detaching(tf, change) for change in changes]
    ge = tf.contrib.graph_editor
    a, b, c, d, e, f, h = _build(tf)
    found.append(refused(lambda: ge.bypass(h.op), "different sizes: 2 != 1"))
    found.append(refused(lambda: ge.detach(3), "Expected a type in"))
    return found + [refused(lambda: ge.detach_control_outputs(h.op, 3), "Expected a util.Control")]


def case_views(tf):
    ge, graph = tf.contrib.graph_editor, tf.get_default_graph()
    a, b, c, d, e, f, h = _build(tf)
    view = ge.sgv(c.op, d.op, b)
    found = [_view(v) for v in (
        view, ge.sgv(a), ge.make_view(d, h), ge.sgv_scope("s", graph), ge.SubGraphView([h.op], [a]),
        ge.make_view_from_scope("s/", graph), view.remap_inputs([1, 0]), view.remap_outputs([d]),
        view.remap([0], [0, 0]), view.remap([], [0, 0]).remap_outputs_make_unique(),
        ge.sgv(d.op).remap_outputs_to_consumers(), view.remap([], [0]).remap_default(False, True),
        view.remap([], [0]).remap_default(True, False), ge.sgv(c.op, h.op).remap_outputs([]).copy(),
    )]  # fmt: skip
    left = ge.sgv(c.op, d.op, h.op).remap(None, []).remap_inputs([]).remove_unused_ops()
    found += [_names(left.ops), str(ge.sgv()), bool(ge.sgv()), bool(view), view.graph is graph]
    found += [_names(view.consumers()), view.op(1).name, view.is_passthrough(a)]
    found += [view.find_op_by_name("d").name, view.input_index(a), view.output_index(d)]
    found += [_names(view.connected_inputs), _names(view.connected_outputs)]
    with view as entered:
        found.append(entered is view)
    for function, words in [
        (lambda: view.remap_inputs([5]), "Out of [0, 2[ range: 5"),
        (lambda: view.remap_inputs([0, 0]), "Found repetition in mapping: [0, 0]"),
        (lambda: view.remap_inputs([e]), "is not in list"),
        (lambda: view.remap_outputs([7]), "Out of [0, 1[ range: 7"),
        (lambda: view.find_op_by_name("q"), "q not in subgraph"),
        (lambda: ge.sgv(3), "Expected a type in"),
        (lambda: ge.SubGraphView(3), "Expected a type in"),
        (lambda: ge.sgv(c, scope="s"), "Wrong keywords argument: scope"),
    ]:
        found.append(refused(function, words))
    return found


def case_selects(tf):
    ge, graph = tf.contrib.graph_editor, tf.get_default_graph()
    a, b, c, d, e, f, h = _build(tf)
    controls = ge.ControlOutputs(graph)
    lists = [
        ge.select_ops("^s/", e.op, graph=graph), ge.select_ops("(?#ts)^s/", graph=graph),
        ge.select_ops("^s/", graph=graph, restrict_ops_regex=True), ge.select_ops(c),
        ge.select_ops("s/", graph=graph, positive_filter=lambda op: op.type == "Add"),
        ge.select_ts("^s/[bc]", graph=graph), ge.select_ts("(?#ops)^s/", graph=graph),
        *ge.select_ops_and_ts("(?#ops)^s/", "(?#ts)^d", graph=graph),
        ge.filter_ops(graph, True), ge.filter_ops(graph, lambda op: op.type == "NoOp"),
        ge.filter_ops_from_regex(graph, "^[ef]$"), ge.filter_ts([d.op, h.op], True),
        ge.filter_ts_from_regex(graph, ge.make_regex("^e")), ge.get_tensors(graph),
        ge.get_name_scope_ops(graph, "s"), ge.get_ops_ios(d.op),
        ge.get_ops_ios(d.op, control_inputs=True), *ge.compute_boundary_ts([d.op, e.op, h.op]),
        ge.get_within_boundary_ops(graph, [d.op], [h.op]),
        ge.get_within_boundary_ops(graph, [d.op], [h.op, c.op], inclusive=False),
        ge.get_forward_walk_ops(c.op), ge.get_forward_walk_ops([c], inclusive=False),
        ge.get_forward_walk_ops(c.op, within_ops=[c.op, d.op, e.op], stop_at_ts=[d]),
        ge.get_forward_walk_ops(d.op.control_inputs[0], control_outputs=controls),
        ge.get_backward_walk_ops(h.op), ge.get_backward_walk_ops(h, control_inputs=True),
        ge.get_backward_walk_ops([h], inclusive=False, within_ops_fn=lambda op: op.type != "Add"),
        ge.get_backward_walk_ops([h], within_ops_fn=lambda op: op.type != "Add"),
        ge.get_walks_intersection_ops(c.op, e.op), ge.get_walks_union_ops(e.op, [c.op]),
        ge.get_walks_intersection_ops([a], [h], control_ios=controls),
        ge.get_generating_ops([e, f]), ge.get_consuming_ops([d]),
        ge.make_list_of_op([e.op, f], ignore_ts=True), ge.make_list_of_op(graph),
        ge.make_list_of_t([e.op, f], ignore_ops=True), ge.make_list_of_t(graph),
        controls.get(d.op.control_inputs[0]), controls.update().get_all()[d.op.control_inputs[0]],
    ]  # fmt: skip
    found = [sorted(_names(items)) for items in lists]
    found += [controls.graph is graph, ge.can_be_regex("x"), ge.can_be_regex(3)]
    found += [ge.check_cios(True, None)[0], ge.check_cios(control_ios=controls)[0]]
    for function, words in [
        (lambda: ge.select_ops("x"), "Use the keyword argument 'graph'"),
        (lambda: ge.select_ts("x"), "Use the keyword argument 'graph'"),
        (lambda: ge.select_ops("x", graph=3), "Expected a tf.Graph"),
        (lambda: ge.select_ts("x", graph=graph, foo=3), "Wrong keywords argument: foo"),
        (lambda: ge.make_list_of_op(graph, allow_graph=False), "allow_graph is False"),
        (lambda: ge.make_list_of_op(c), "Expected a type in"),
        (lambda: ge.make_list_of_t([c.op]), "Expected a type in"),
        (lambda: ge.make_regex(3), "Expected a string or a regex"),
        (lambda: ge.check_cios(False, 3), "Expected a util.ControlOutputs"),
        (lambda: ge.check_cios(False, controls, controls), "control_outputs should be None"),
        (lambda: ge.get_within_boundary_ops(graph, [c.op], [c.op]), "Boundary is intersecting"),
        (lambda: ge.ControlOutputs(3), "Expected a tf.Graph"),
        (lambda: ge.get_tensors(3), "raph"),
    ]:
        found.append(refused(function, words))
    return found


def case_placeholders(tf):
    ge = tf.contrib.graph_editor
    a, b, c, d, e, f, h = _build(tf)
    found = [
        ge.placeholder_name(), ge.placeholder_name(c), ge.placeholder_name(c, ""),
        ge.placeholder_name(c, "x"), ge.placeholder_name(c, "x/", prefix="p"),
        ge.placeholder_name(scope="x"), refused(lambda: ge.placeholder_name(3), "Expected a tf."),
    ]  # fmt: skip
    made = [ge.make_placeholder_from_tensor(c), ge.make_placeholder_from_tensor(d, "x")]
    made += [ge.ph(tf.float32), ge.make_placeholder_from_dtype_and_shape(tf.int32, [2], "x", "p")]
    made.append(ge.make_placeholder_from_tensor(made[0]))
    return found + [[t.name, t.dtype.name, str(t.shape)] for t in made]
