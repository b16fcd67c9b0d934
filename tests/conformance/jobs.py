"""One case, built and run through the TF1 API: the same code for Penstock and for TensorFlow.

A *job* is a plain dict (ids, op, inputs, attrs; arrays packed as bytes), so that it can be pickled
between Python versions and NumPy versions.  ``run_job`` builds it in a graph of its own through a
*backend* and returns a plain dict with what was observed: output dtypes, static shapes with known
and with unknown placeholder shapes, values, gradients, what variables hold afterwards, or the
error.  A backend is an object with

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
        assign = backend.make("Assign", [variable, initial], {})
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


def output_gradients(job, outputs):
    """Random grad_ys for the floating outputs: the same on both sides, drawn from the job's id."""
    random = np.random.RandomState(zlib.crc32(job["id"].encode()) & 0x7FFFFFFF)
    result = {}
    for index, (name, value) in enumerate(outputs):
        if name in FLOATING and value is not None:
            grad = random.uniform(-1, 1, value.shape)
            if name.startswith("complex"):
                grad = grad + 1j * random.uniform(-1, 1, value.shape)
            kind = {"half": "float16", "bfloat16": "float32"}.get(name, name)
            result[index] = grad.astype(kind)
    return result


def dense(backend, session, grad, feeds, shape):
    """Runs a gradient; IndexedSlices are summed into an array of ``shape``."""
    if not hasattr(grad, "indices"):
        return backend.from_fetch(session.run(grad, feeds), base_name(grad.dtype))
    values, indices = session.run([grad.values, grad.indices], feeds)
    values = backend.from_fetch(values, base_name(grad.dtype))
    result = np.zeros(shape, values.dtype)
    np.add.at(result, np.asarray(indices), values)
    return result


def _gradients(backend, session, job, built, outputs):
    """Returns {input: packed gradient or None}, and an error dict or None."""
    wanted = job["grad"]
    if wanted is None:
        return {}, None
    indices = [
        i
        for i, t in enumerate(built.tensors)
        if (wanted is True or i in wanted)
        and job["hows"][i] != "var"
        and (base_name(t.dtype) in FLOATING or job["hows"][i] == "resvar")
    ]
    grads_in = output_gradients(job, outputs)
    if not indices or not grads_in:
        return {}, None
    tf = backend.tf
    try:
        ys = [built.op.outputs[i] for i in grads_in]
        grad_ys = []
        for i, grad in grads_in.items():
            name = outputs[i][0]
            grad_ys.append(tf.constant(backend.to_const(grad, name), dtype=name, shape=grad.shape))
        found = tf.gradients(ys, [built.tensors[i] for i in indices], grad_ys=grad_ys)
        result = {}
        for i, grad in zip(indices, found):
            if grad is None:
                result[i] = None
                continue
            shape = unpack(job["values"][i]).shape
            result[i] = pack(dense(backend, session, grad, built.feeds, shape))
        return result, None
    except Exception as error:  # reported, and judged by the caller
        return {}, describe(error, "gradient")


def run_job(backend, job):
    """Builds and runs one job; see the module docstring for the result."""
    result = {"id": job["id"]}
    stage = "build"
    try:
        with backend.graph(job["op"]).as_default():
            built = build(backend, job)
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
                grads, error = _gradients(backend, session, job, built, outputs)
                result["grads"], result["grad_error"] = grads, error
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
