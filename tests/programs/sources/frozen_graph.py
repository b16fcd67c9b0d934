"""A network is trained, its variables are frozen into constants by hand, and the GraphDef runs in a
graph of its own, through input_map, a prefix and return_elements; Adagrad."""


def build(tf, np):
    draw = np.random.RandomState(21)
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    y = tf.placeholder(tf.float32, [None, 2], name="y")
    w = tf.Variable(draw.randn(5, 7).astype("float32") * 0.4, name="w")
    v = tf.Variable(draw.randn(7, 2).astype("float32") * 0.4, name="v")
    scores = tf.nn.softmax(tf.matmul(tf.nn.relu6(tf.matmul(x, w)), v), name="scores")
    loss = tf.reduce_mean(tf.squared_difference(scores, y), name="loss")
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    feeds = []
    for _ in range(6):
        feeds.append({x: draw.randn(6, 5), y: np.eye(2)[draw.randint(0, 2, 6)]})
    return {
        "loss": loss,
        "train": train,
        "feeds": feeds,
        "final": {"scores": scores},
        "after": after,
    }


def freeze(tf, np, session, wanted):
    """Returns a GraphDef of what `wanted` needs, each variable a constant of its value."""
    source = session.graph.as_graph_def()
    nodes = {node.name: node for node in source.node}
    frozen = tf.GraphDef()
    frozen.versions.CopyFrom(source.versions)
    needed, waiting = [], list(wanted)
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        needed.append(name)
        if nodes[name].op != "VariableV2":
            waiting += [i.split(":")[0].lstrip("^") for i in nodes[name].input]
    for node in source.node:
        if node.name not in needed:
            continue
        new = frozen.node.add()
        if node.op != "VariableV2":
            new.CopyFrom(node)
            continue
        value = session.run(node.name + ":0")
        new.op, new.name = "Const", node.name
        new.attr["dtype"].CopyFrom(node.attr["dtype"])
        with tf.Graph().as_default():
            constant = tf.constant(value)
        new.attr["value"].CopyFrom(constant.op.node_def.attr["value"])
    return frozen


def after(tf, np, session):
    """Returns what the frozen graph computes, and the names in the graph it was imported into."""
    frozen = freeze(tf, np, session, ["scores"])
    data = np.linspace(-1, 1, 15).reshape(3, 5).astype("float32")
    results = {"direct": session.run("scores:0", {"x:0": data}).tolist()}
    again = tf.GraphDef()
    again.ParseFromString(frozen.SerializeToString())
    with tf.Graph().as_default() as graph:
        halves = tf.placeholder(tf.float32, [None, 5], name="halves")
        scores, w = tf.import_graph_def(
            again, {"x": halves * 2.0}, return_elements=["scores:0", "w"], name="frozen"
        )
        tf.import_graph_def(again, name="")
        tf.import_graph_def(again)
        with tf.Session(graph=graph) as other:
            results["imported"] = other.run(scores, {halves: data / 2}).tolist()
            results["plain"] = other.run("scores:0", {"x:0": data}).tolist()
        results["names"] = [op.name + " " + op.type for op in graph.get_operations()]
        results["returned"] = [scores.name, w.name, w.type]
    return results
