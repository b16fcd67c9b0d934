"""One case, built and run through the TF1 API: the same code for Penstock and for TensorFlow.

A *job* is a plain dict (ids, op, inputs, attrs; arrays packed as bytes), so that it can be pickled
between Python versions and NumPy versions.  ``run_job`` builds it in a graph of its own through a
*backend* and returns a plain dict with what was observed: output dtypes, static shapes with known
and with unknown placeholder shapes, values, gradients of first and second order, what variables
hold afterwards, or the error.  A backend is an object with

    tf               module with the TF1 API: Graph, Session, placeholder, constant, gradients
    graph(op)                    a new graph in which that op type is allowed
    make(op, inputs, attrs)      builds one node (inputs in op-def order), returns its Operation
    to_feed(array, dtype)        array (see ``unpack``) to what the backend's feeds take
    from_fetch(value, dtype)     what ``Session.run`` gave back to such an array
    session()                    a new Session for the default graph

This file runs under Python 3.7 (TensorFlow 1.15) as well.  bfloat16 values are float32 arrays.
"""

import traceback
import zlib

import numpy as np

FLOATING = ("float32", "float64", "half", "float16", "bfloat16", "complex64", "complex128")
OPAQUE = ("resource", "variant")


def pack(array):
    """Array to plain Python: bytes travel between NumPy versions, pickled arrays do not."""
    array = np.asarray(array)
    if array.dtype.kind in "OSU":
        flat = [s.encode() if isinstance(s, str) else bytes(s) for s in array.ravel().tolist()]
        return {"np": "object", "shape": list(array.shape), "data": flat}
    if array.dtype.kind == "V" or array.dtype.kind not in "biufc":
        array = array.astype(np.float32)
    data = np.ascontiguousarray(array).tobytes()
    return {"np": array.dtype.str, "shape": list(array.shape), "data": data}


def unpack(packed):
    """Inverse of ``pack``."""
    if packed["np"] == "object":
        array = np.empty(len(packed["data"]), dtype=object)
        array[:] = packed["data"]
    else:
        array = np.frombuffer(packed["data"], dtype=np.dtype(packed["np"])).copy()
    return array.reshape(packed["shape"])


def base_name(dtype):
    """Canonical name of a backend's dtype: ``half`` for float16, no ``_ref``."""
    name = getattr(dtype, "name", str(dtype))
    name = name[:-4] if name.endswith("_ref") else name
    return {"float16": "half", "float": "float32", "double": "float64"}.get(name, name)


class Built:
    """A job's graph.

    ``op``; ``tensors``: flat inputs; ``feeds``; ``init``: [(op, feeds)] that initialize variables;
    ``reads``: input number -> tensor that reads its variable; ``slots``: input number -> (dict,
    key) under which its value is fed, by ``feeds`` or by an initializer.
    """

    def __init__(self):
        self.op = None
        self.tensors = []
        self.feeds = {}
        self.init = []
        self.reads = {}
        self.slots = {}


def _variable(backend, item, value, number, built):
    """Builds an initialized variable from its op types; returns its ref or handle."""
    tf = backend.tf
    shape = list(value.shape)
    initial = tf.placeholder(item["dtype"], shape)
    ref = item["how"] == "var"
    attrs = {"dtype": item["dtype"], "shape": shape, "shared_name": f"variable_{number}"}
    variable = backend.make("VariableV2" if ref else "VarHandleOp", [], attrs).outputs[0]
    if ref:
        # When it runs again, what is tested may have given the variable another shape.
        assign = backend.make("Assign", [variable, initial], {"validate_shape": False})
        read = variable
    else:
        assign = backend.make("AssignVariableOp", [variable, initial], {})
        read = backend.make("ReadVariableOp", [variable], {"dtype": item["dtype"]}).outputs[0]
    feeds = {initial: backend.to_feed(value, item["dtype"])}
    built.init.append((assign, feeds))
    built.slots[number] = (feeds, initial)
    built.reads[number] = read
    return variable


def build(backend, job, known=True, as_const=False):
    """Builds the job in the default graph.

    Args:
      known: Placeholders have their static shape; else none at all.
      as_const: Fed inputs become constants (what the constant folder sees).
    """
    tf = backend.tf
    built = Built()

    def one(item):
        how = item["how"]
        if how == "made":
            inner = [[one(i) for i in x] if isinstance(x, list) else one(x) for x in item["inputs"]]
            return backend.make(item["op"], inner, item["attrs"]).outputs[item["index"]]
        value = unpack(item["value"])
        number = len(built.tensors)
        if how in ("var", "resvar"):
            tensor = _variable(backend, item, value, number, built)
        elif how == "const" or as_const:
            feed = backend.to_const(value, item["dtype"])
            tensor = tf.constant(feed, dtype=item["dtype"], shape=list(value.shape))
        else:
            tensor = tf.placeholder(item["dtype"], list(value.shape) if known else None)
            built.feeds[tensor] = backend.to_feed(value, item["dtype"])
            built.slots[number] = (built.feeds, tensor)
        built.tensors.append(tensor)
        return tensor

    inputs = [[one(i) for i in x] if isinstance(x, list) else one(x) for x in job["inputs"]]
    built.op = backend.make(job["op"], inputs, job["attrs"])
    return built


def static_shape(tensor):
    """Static shape as a list with None for unknown dims; None for unknown rank."""
    shape = tensor.get_shape()
    return None if shape.ndims is None else [None if d is None else int(d) for d in shape.as_list()]


def _message(error):
    # TensorFlow 2 tells first where each node was made, then what was wrong.
    noise = ("Graph execution error", "Detected at node", "<stack traces", 'File "', "Node: ")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return "; ".join(line for line in lines if not line.startswith(noise))[:400]


def describe(error, stage):
    """Plain form of an exception: class name, what it says, and where it happened."""
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {
        "class": type(error).__name__,
        "bases": [c.__name__ for c in type(error).__mro__],
        "message": _message(error),
        "stage": stage,
        "trace": trace[-2500:],
    }


def projection(seed, shape, dtype):
    """Random weights in [-1, 1), the same on both sides: drawn from the text ``seed``."""
    random = np.random.RandomState(zlib.crc32(seed.encode()) & 0x7FFFFFFF)
    weights = random.uniform(-1, 1, shape)
    if dtype.startswith("complex"):
        weights = weights + 1j * random.uniform(-1, 1, shape)
    return weights.astype({"half": "float16", "bfloat16": "float32"}.get(dtype, dtype))


def _projected(job, outputs):
    """The weights of each floating output that gradients are taken of, by its number."""
    return {
        i: projection(f"{job['id']}/{i}" if i else job["id"], value.shape, name)
        for i, (name, value) in enumerate(outputs)
        if name in FLOATING and value is not None
        if job["project"] is None or i in job["project"]
    }


def _run_gradients(backend, session, grads, feeds):
    """Runs gradients in one step: {key: (values, indices or None)}, {key: None} for None."""
    parts = {
        key: [grad.values, grad.indices] if hasattr(grad, "indices") else [grad]
        for key, grad in grads.items()
        if grad is not None
    }
    result = dict.fromkeys(grads)
    if parts:
        for key, found in session.run(parts, feeds).items():
            values = backend.from_fetch(found[0], base_name(parts[key][0].dtype))
            result[key] = (values, np.asarray(found[1]) if len(found) > 1 else None)
    return result


def _dense(found, shape):
    """What ``_run_gradients`` gave as a packed array; slices are summed into one of ``shape``."""
    if found is None:
        return None
    values, indices = found
    if indices is None:
        return pack(values)
    result = np.zeros(shape, values.dtype)
    np.add.at(result, indices, values)
    return pack(result)


def _differentiable(job, built):
    """Numbers of the inputs that gradients are taken of."""
    wanted = job["grad"]
    if wanted is None:
        return []
    return [
        i
        for i, t in enumerate(built.tensors)
        if (wanted is True or i in wanted)
        and job["hows"][i] != "var"
        and (base_name(t.dtype) in FLOATING or job["hows"][i] == "resvar")
    ]


def _gradients(backend, session, job, built, outputs):
    """Gradients of a projection of the outputs: ``grads``, ``grad_error`` and ``second``.

    ``grads``: {input: packed gradient or None}; ``grad_error``: an error or None; ``second``: see
    ``_second``.
    """
    numbers = _differentiable(job, built)
    weights = _projected(job, outputs)
    result = {"grads": {}, "grad_error": None, "second": {}}
    if not numbers or not weights:
        return result
    tf = backend.tf
    shapes = {i: unpack(job["values"][i]).shape for i in numbers}
    try:
        grad_ys = {}
        for i, grad in weights.items():
            name = outputs[i][0]
            grad_ys[i] = tf.constant(backend.to_const(grad, name), dtype=name, shape=grad.shape)
        ys, xs = [built.op.outputs[i] for i in weights], [built.tensors[i] for i in numbers]
        firsts = dict(zip(numbers, tf.gradients(ys, xs, grad_ys=list(grad_ys.values()))))
        found = _run_gradients(backend, session, firsts, built.feeds)
        result["grads"] = {i: _dense(found[i], shapes[i]) for i in numbers}
    except Exception as error:  # reported, and judged by the caller
        result["grad_error"] = describe(error, "gradient")
        return result
    if job["second"]:
        targets = {f"input {i}": (x, shapes[i]) for i, x in zip(numbers, xs)}
        targets.update((f"grad_y {i}", (grad_ys[i], weights[i].shape)) for i in weights)
        for i, value in found.items():
            if value is not None:
                seed = f"{job['id']}/second/{i}"
                weight = projection(seed, shapes[i], base_name(firsts[i].dtype))
                second = _second(backend, session, built, firsts[i], value, weight, targets)
                result["second"][i] = second
    return result


def _second(backend, session, built, first, found, weight, targets):
    """Gradients of one first-order gradient, projected on ``weight``.

    Args:
      first: The gradient in the graph, a tensor or slices; its derivative is taken.
      found: Its value, from ``_run_gradients``.
      targets: {key: (tensor, shape)}: every input, and every weight of the first projection.

    Returns:
      ``{"grads": {key: packed gradient or None}, "error": an error or None}``.
    """
    tf = backend.tf
    try:
        y, name = first, base_name(first.dtype)
        if hasattr(first, "indices"):
            y, weight = first.values, weight[found[1]]
        grad_y = tf.constant(backend.to_const(weight, name), dtype=name, shape=weight.shape)
        grads = tf.gradients([y], [t for t, _ in targets.values()], grad_ys=[grad_y])
        ran = _run_gradients(backend, session, dict(zip(targets, grads)), built.feeds)
        return {"grads": {k: _dense(ran[k], targets[k][1]) for k in targets}, "error": None}
    except Exception as error:  # reported, and judged by the caller
        return {"grads": {}, "error": describe(error, "second gradient")}


def run_job(backend, job):
    """Builds and runs one job; see the module docstring for the result."""
    result = {"id": job["id"]}
    stage = "build"
    try:
        with backend.graph(job["op"]).as_default():
            built = build(backend, job, known=job.get("known", True))
            result["dtypes"] = [base_name(t.dtype) for t in built.op.outputs]
            result["static"] = [static_shape(t) for t in built.op.outputs]
            stage = "run"
            with backend.session() as session:
                outputs = run_built(backend, session, built)
                result["outputs"] = [None if v is None else pack(v) for _, v in outputs]
                result["vars"] = {
                    i: pack(backend.from_fetch(session.run(t), base_name(t.dtype)))
                    for i, t in built.reads.items()
                }
                result.update(_gradients(backend, session, job, built, outputs))
        stage = "build with unknown shapes"
        if job["unknown"]:
            with backend.graph(job["op"]).as_default():
                built = build(backend, job, known=False)
                result["static_unknown"] = [static_shape(t) for t in built.op.outputs]
    except Exception as error:  # one failing case must not end the others
        result["error"] = describe(error, stage)
    return result


def run_built(backend, session, built):
    """Initializes variables, runs the op once: [(dtype name, array or None), ...]."""
    for op, feeds in built.init:
        session.run(op, feeds)
    names = [base_name(t.dtype) for t in built.op.outputs]
    fetches = [t for t, name in zip(built.op.outputs, names) if name not in OPAQUE]
    values = iter(session.run(fetches + [built.op], built.feeds)[:-1])
    return [
        (name, None if name in OPAQUE else backend.from_fetch(next(values), name)) for name in names
    ]
