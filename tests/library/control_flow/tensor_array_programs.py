"""Programs with TensorArrays that Penstock and TensorFlow run alike; importable by both.

``python tensor_array_programs.py graphs`` prints, as JSON, the nodes that each builder in
``GRAPHS`` makes; ``... sequences SEED COUNT`` what random sequences of operations give,
``... gradients SEED COUNT`` what random differentiable programs give, and ``... functionals ROWS
COUNT`` what functions over so many rows give.  It runs in TensorFlow 1.15's Python too.
"""

import json
import random
import sys

import numpy as np

# ---- graphs --------------------------------------------------------------------------------------


def straight(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.float32, [3, 2], name="y")
    a = tf.TensorArray(tf.float32, size=3)
    a = a.write(0, [1.0, 2.0]).write(tf.constant(1), y[0], name="w")
    r = a.read(0)
    named = tf.TensorArray(
        tf.float32,
        size=tf.shape(x)[0],
        name="named",
        tensor_array_name="n",
        dynamic_size=True,
        clear_after_read=False,
        element_shape=[2],
        infer_shape=False,
    )
    named = named.unstack(x).identity()
    named = named.scatter([0, 1], y[:2], name="sc")
    s, g, c = named.stack(), named.gather([0, 2], name="g"), named.concat()
    split = tf.TensorArray(tf.float32, 2, colocate_with_first_write_call=False)
    split = split.split(y, [1, 2]).concat()
    even = tf.TensorArray(tf.float32, 3).split(y, tf.constant([1, 1, 1]), name="sp")
    rest = [a.stack(name="st"), named.size(), named.size(name="z"), even.read(2, name="r2")]
    a.close()
    a.close(name="shut")
    loss = sum(tf.reduce_sum(v) for v in [r, s, g, c, split, rest[0], rest[3]])
    tf.gradients(loss, [x, y])
    tf.gradients(tf.reduce_sum(s), x, name="gradients_of_s")
    grads = named.grad("gradients_by_hand")
    grads.write(0, y[0]).read(0)


def maps(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.float32, [3, 2], name="y")
    tf.map_fn(lambda v: v * 2.0, x)
    tf.map_fn(lambda v: (v[0] + v[1], v[1]), (y, y), dtype=(tf.float32, tf.float32), name="m")
    tf.map_fn(
        lambda v: tf.cast(v["a"], tf.int32),
        {"a": y},
        dtype=tf.int32,
        parallel_iterations=3,
        back_prop=False,
        swap_memory=True,
        infer_shape=False,
    )

    def with_variable(v):
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
            return v * tf.get_variable("k", [2], initializer=tf.zeros_initializer())

    tf.map_fn(with_variable, y)


def scans(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.float32, [3, 2], name="y")
    tf.scan(lambda a, v: a + v, x)
    tf.scan(lambda a, v: a * v, y, reverse=True, name="back")
    tf.scan(lambda a, v: a + v, x, reverse=True)
    tf.scan(lambda a, v: a + tf.reduce_sum(v), x, initializer=1.0)
    tf.scan(
        lambda a, v: (a[1] + v[0], a[0]),
        [x, x],
        initializer=(np.zeros(2, "f"), tf.ones([2])),
        reverse=True,
        infer_shape=False,
        parallel_iterations=2,
        back_prop=False,
    )


def folds(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.float32, [3, 2], name="y")
    for fold in (tf.foldl, tf.foldr):
        fold(lambda a, v: a + v, x)
        fold(lambda a, v: a * v, y, name="named")
        fold(lambda a, v: a + tf.reduce_sum(v), x, initializer=tf.constant(1.0))
        fold(lambda a, v: a + tf.reduce_sum(v[0] + v[1]), (y, y), initializer=tf.constant(1.0))


GRAPHS = {f.__name__: f for f in (straight, maps, scans, folds)}


def _dims(tensor):
    shape = tensor.shape
    return None if shape.ndims is None else shape.as_list()


def nodes(tf, build):
    """The nodes that ``build`` makes: name, type, inputs, control inputs, output shapes."""
    with tf.Graph().as_default() as graph:
        build(tf)
        return [
            [
                op.name,
                op.type,
                [t.name for t in op.inputs],
                sorted(c.name for c in op.control_inputs),
                []
                if op.type in ("TensorArrayV3", "TensorArrayGradV3")
                else [_dims(t) for t in op.outputs],
                sorted(b.decode() for b in op.colocation_groups()),
            ]
            for op in graph.get_operations()
        ]


# ---- random sequences of operations --------------------------------------------------------------


def sequence(seed):
    """How an array is made, and what is done with it in order."""
    rng = random.Random(seed)
    size = rng.choice([0, 1, 2, 3, 3, 4])
    array = {
        "size": size,
        "dynamic_size": rng.random() < 0.4,
        "clear_after_read": rng.random() < 0.5,
        "infer_shape": rng.random() < 0.6,
        "element_shape": rng.choice([None, None, None, [2], [None]]),
    }
    kinds = (
        ["write"] * 5
        + ["read"] * 4
        + [
            "gather",
            "stack",
            "scatter",
            "unstack",
            "unstack",
            "split",
            "concat",
            "size",
            "gradient",
            "gradient_write",
            "gradient_write",
            "gradient_read",
            "gradient_stack",
        ]
    )
    steps = []
    # Most operations are such as are allowed, or few sequences would get far.
    unwritten, unread, shapes_differ = list(range(size)), [], rng.random() < 0.3
    for _ in range(rng.randint(2, 9)):
        kind = rng.choice(kinds + (["close"] if len(steps) > 5 else []))
        careless = rng.random() < 0.1
        if not careless and kind in ("write", "unstack", "split") and not unwritten:
            kind = "size"
        if not careless and kind == "read" and not unread:
            kind = "write" if unwritten else "size"
        if not careless and kind in ("unstack", "split") and len(unwritten) < size:
            kind = "write"
        if not careless and kind in ("stack", "concat", "gather") and len(unread) < max(size, 1):
            kind = "size"
        index = rng.randrange(-1, size + 1)
        if not careless:
            index = rng.choice({"write": unwritten, "read": unread}.get(kind) or range(size + 1))
        if kind == "write" and index in unwritten:
            unwritten.remove(index)
            unread.append(index)
        if kind == "read" and index in unread and array["clear_after_read"]:
            unread.remove(index)
        rows = rng.randint(0, 4) if careless or not unwritten else len(unwritten)
        if kind in ("unstack", "split", "scatter"):
            unread, unwritten = unread + unwritten, []
        if kind in ("stack", "concat", "gather") and array["clear_after_read"]:
            unread = []
        many = rng.randint(1, max(size, 1) + 1) if careless else size
        steps.append(
            {
                "kind": kind,
                "index": index,
                "indices": rng.sample(range(max(many, 1)), many),
                "rows": rows,
                "width": rng.choice([0, 1, 2, 3]) if shapes_differ and careless else 2,
                "lengths": [rng.choice([2, 2, 0, 1]) if shapes_differ else 2 for _ in range(rows)],
                "source": rng.choice(["gradients", "gradients", "gradients_1"]),
                "value": rng.random(),
            }
        )
    return array, steps


def _apply(tf, array, step, forward, feeds):
    """The array afterwards, and what to fetch for the step."""
    kind, index = step["kind"], step["index"]
    rng = np.random.RandomState(int(step["value"] * 1e6))

    def value(*dims):
        given = rng.randint(0, 9, dims).astype("f") + np.float32(0.5)
        fed = tf.placeholder(tf.float32)
        feeds[fed] = given
        return fed

    if kind.startswith("gradient"):
        grad = forward.grad(step["source"], flow=array.flow)
        if kind == "gradient_write":
            grad = grad.write(index, value(step["width"]))
            return array, grad.size()
        return array, {
            "gradient": grad.size,
            "gradient_read": lambda: grad.read(index),
            "gradient_stack": grad.stack,
        }[kind]()
    if kind == "write":
        array = array.write(index, value(step["width"]))
    elif kind == "scatter":
        array = array.scatter(step["indices"], value(len(step["indices"]), step["width"]))
    elif kind == "unstack":
        array = array.unstack(value(step["rows"], step["width"]))
    elif kind == "split":
        array = array.split(value(sum(step["lengths"])), step["lengths"] or tf.zeros([0], tf.int32))
    elif kind == "close":
        with tf.control_dependencies([array.close()]):
            return array, tf.constant(0)
    else:
        return array, {
            "read": lambda: array.read(index),
            "stack": array.stack,
            "concat": array.concat,
            "gather": lambda: array.gather(step["indices"]),
            "size": array.size,
        }[kind]()
    return array, tf.identity(array.flow) * 0.0


def run_sequence(tf, session_of, seed):
    """What each operation gives until one fails, then the class of its error."""
    how, steps = sequence(seed)
    with tf.Graph().as_default():
        size = how.pop("size")
        fed_size = tf.placeholder(tf.int32, [])
        feeds = {fed_size: size}
        first = array = tf.TensorArray(tf.float32, fed_size, **how)
        fetches = []
        problem = None
        for number, step in enumerate(steps):
            try:
                with tf.control_dependencies(fetches[-1:]):
                    array, fetch = _apply(tf, array, step, first, feeds)
                    fetches.append(tf.identity(fetch))
                    array = array.identity() if step["kind"] != "close" else array
            except ValueError:
                problem = [number, "ValueError"]
                break
        with session_of(tf) as session:
            done = []
            try:
                done = session.run(fetches, feeds)
            except tf.errors.OpError:
                for number in range(len(fetches)):
                    try:
                        done = session.run(fetches[: number + 1], feeds)
                    except tf.errors.OpError as error:
                        problem = [number, type(error).__name__]
                        break
    return [[np.asarray(v).tolist() for v in done], problem]


# ---- random differentiable programs --------------------------------------------------------------


def run_gradient(tf, session_of, seed):
    """The loss of a random program with arrays, and its gradients."""
    rng = random.Random(seed)
    count = rng.randint(1, 4)
    data = np.random.RandomState(seed).randn(count, 2).astype("f")
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, rng.choice([[None, 2], [count, 2], None]))
        array = tf.TensorArray(
            tf.float32,
            count,
            clear_after_read=False,
            infer_shape=rng.random() < 0.7,
            dynamic_size=rng.random() < 0.3,
        )
        how = rng.choice(["unstack", "write", "split", "scatter"])
        if how == "unstack":
            array = array.unstack(x * x)
        elif how == "split":
            array = array.split(tf.sin(x), [1] * count)
        elif how == "scatter":
            order = rng.sample(range(count), count)
            array = array.scatter(order, tf.exp(x))
        else:
            for i in range(count):
                array = array.write(i, x[i] * float(i + 1))
        parts = []
        for _ in range(rng.randint(1, 4)):
            kind = rng.choice(["read", "read", "stack", "gather", "concat"])
            if kind == "read":
                parts.append(array.read(rng.randrange(count)))
            elif kind == "gather":
                parts.append(array.gather([rng.randrange(count)]))
            elif kind == "concat" and how == "split":
                parts.append(array.concat())
            else:
                parts.append(array.stack())
        second = tf.TensorArray(tf.float32, len(parts), infer_shape=False)
        for i, part in enumerate(parts):
            second = second.write(i, tf.reshape(part, [-1]) * float(i + 2))
        loss = tf.reduce_sum(tf.square(second.concat()))
        (grad,) = tf.gradients(loss, x)
        (again,) = tf.gradients(loss * 2.0, x)
        with session_of(tf) as session:
            found = session.run([loss, grad, again], {x: data})
    return [np.asarray(v).tolist() for v in found]


# ---- functions over rows -------------------------------------------------------------------------


def functionals(tf, x, y):
    """Functions that make tensors, by name."""
    pair = (x, y)
    return {
        "map": lambda: tf.map_fn(lambda v: tf.reduce_sum(v * v), x),
        "map_pair": lambda: tf.map_fn(lambda v: v[0] * v[1], pair, dtype=tf.float32),
        "map_nest": lambda: tf.map_fn(
            lambda v: {"s": v[0] + v[1], "i": tf.cast(v[0], tf.int32)},
            pair,
            dtype={"s": tf.float32, "i": tf.int32},
        ),
        "scan": lambda: tf.scan(lambda a, v: a * 0.5 + v, x),
        "scan_back": lambda: tf.scan(lambda a, v: a * 0.5 + v, x, reverse=True),
        "scan_start": lambda: tf.scan(lambda a, v: a + tf.reduce_sum(v), x, initializer=1.0),
        "scan_pair": lambda: tf.scan(
            lambda a, v: (a[1] + v[0], a[0] * v[1]),
            pair,
            initializer=(tf.zeros([2]), tf.ones([2])),
            reverse=True,
        ),
        "foldl": lambda: tf.foldl(lambda a, v: a * 0.5 + v, x),
        "foldl_start": lambda: tf.foldl(lambda a, v: a * 0.5 + v, x, initializer=tf.ones([2])),
        "foldr": lambda: tf.foldr(lambda a, v: a * 0.5 + v, x),
        "foldr_pair": lambda: tf.foldr(
            lambda a, v: a * 0.5 + v[0] * v[1], pair, initializer=tf.zeros([2])
        ),
        "nested": lambda: tf.map_fn(lambda v: tf.foldl(lambda a, w: a * w, v), x),
    }


def run_functionals(tf, session_of, rows):
    """Values, and gradients of all of them."""
    random_state = np.random.RandomState(rows)
    with tf.Graph().as_default():
        given = [random_state.randn(rows, 2).astype("f") for _ in range(2)]
        x = tf.placeholder(tf.float32, [None, 2] if rows % 2 else [rows, 2])
        y = tf.placeholder(tf.float32, [rows, 2])
        made = {name: make() for name, make in functionals(tf, x, y).items()}
        gradients = {}
        for name, value in made.items():
            first = value["s"] if isinstance(value, dict) else value
            first = first[0] if isinstance(first, tuple) else first
            loss = tf.reduce_sum(tf.square(first))
            gradients[name] = [g for g in tf.gradients(loss, [x, y]) if g is not None]
        with session_of(tf) as session:
            values = session.run([made, gradients], {x: given[0], y: given[1]})
    return json.loads(json.dumps(values, default=lambda v: np.asarray(v).tolist()))


def main(arguments):
    import tensorflow

    tf = tensorflow
    if tf.__version__.startswith("2"):
        tf = tf.compat.v1
        tf.disable_v2_behavior()

    def session_of(tf):
        config = tf.ConfigProto()
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        return tf.Session(config=config)

    kind = arguments[0]
    if kind == "graphs":
        found = {name: nodes(tf, build) for name, build in GRAPHS.items()}
    else:
        seeds = range(int(arguments[1]), int(arguments[1]) + int(arguments[2]))
        run = {
            "sequences": run_sequence,
            "gradients": run_gradient,
            "functionals": run_functionals,
        }[kind]
        found = [run(tf, session_of, seed) for seed in seeds]
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
