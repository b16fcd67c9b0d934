"""Programs of ``tf.contrib.compiler.jit`` (``recorded``)."""


def case_jit_scopes(tf):
    jit = tf.contrib.compiler.jit.experimental_jit_scope
    with jit():
        a = tf.constant(1.0, name="a")
        with jit(compile_ops=False):
            tf.constant(1.0, name="b")
        with jit(separate_compiled_gradients=True):
            c = tf.square(a, name="c")
            tf.gradients(c, a)
    tf.gradients(c, a, name="later")
    with jit(compile_ops=lambda node: node.op == "Square"):
        tf.add(tf.square(a), 1.0)
    with jit():
        d = tf.square(a, name="d")
    tf.gradients(d, a, name="last")
    marks = ("_XlaCompile", "_XlaScope", "_XlaSeparateCompiledGradients")
    return [
        [node.name] + [node.attr[m].s or node.attr[m].b for m in marks if m in node.attr]
        for node in tf.get_default_graph().as_graph_def().node
    ]
