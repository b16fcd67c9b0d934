"""The half of `test_interchange.py` that runs under TensorFlow 1.15 (or 2.21's compat.v1).

tf_peer.py summaries IN.pickle OUT.pickle    runs the program below over given tensors
tf_peer.py write DIR                         writes event files
tf_peer.py read FILE OUT.json                what summary_iterator gives of a file
"""

import json
import pickle
import sys

import numpy as np


def packed(arrays):
    """Arrays by kind and name, as what every version of NumPy reads."""

    def one(array):
        array = np.asarray(array)
        data = array.tolist() if array.dtype == object else array.tobytes()
        return [array.dtype.str, list(array.shape), data]

    return {kind: {n: one(a) for n, a in some.items()} for kind, some in arrays.items()}


def unpacked(arrays):
    """The inverse of ``packed``."""

    def one(kind, shape, data):
        flat = np.array(data, object) if kind == "|O" else np.frombuffer(data, kind)
        return flat.reshape(shape)

    return {kind: {n: one(*a) for n, a in some.items()} for kind, some in arrays.items()}


def build(tf, arrays):
    """A graph with a summary of every kind; [(name of the node, type, inputs)], and the nodes."""
    ops = []
    deprecated = getattr(getattr(tf, "contrib", None), "deprecated", None) or tf
    with tf.name_scope("train"):
        for name, array in sorted(arrays["scalars"].items()):
            ops.append(tf.summary.scalar(name, tf.constant(array)))
        ops.append(tf.summary.scalar("loss: a b", tf.constant(2.0), family="my family"))
        ops.append(tf.summary.scalar("/lead", tf.constant(2.0), collections=["mine"]))
        ops.append(tf.summary.scalar("same", tf.constant(1)))
        ops.append(tf.summary.scalar("same", tf.constant(1)))
    with tf.name_scope("deep"), tf.name_scope("er"):
        for name, array in sorted(arrays["histograms"].items()):
            ops.append(tf.summary.histogram(name, tf.constant(array), family="h"))
    for name, array in sorted(arrays["images"].items()):
        ops.append(tf.summary.image(name, tf.constant(array), max_outputs=2))
    ops.append(tf.summary.image("one", tf.constant(array), max_outputs=1))
    for name, array in sorted(arrays["sounds"].items()):
        ops.append(tf.summary.audio(name, tf.constant(array), 44100.7))
    ops.append(tf.summary.text("words", tf.constant([["a", "b"], ["c", "d"]])))
    meta = tf.SummaryMetadata(
        plugin_data=tf.SummaryMetadata.PluginData(plugin_name="mine", content=b"\x01\x02")
    )
    for name, array in sorted(arrays["tensors"].items()):
        ops.append(
            tf.summary.tensor_summary(
                name, tf.constant(array), summary_description="d", display_name="n",
                summary_metadata=meta,
            )
        )  # fmt: skip
    tags = tf.constant(["x y", "z"])
    ops.append(deprecated.scalar_summary(tags, tf.constant([1.0, 2.0])))
    ops.append(deprecated.histogram_summary("old hist", tf.constant([1.0, 2.0])))
    ops.append(deprecated.image_summary("old image", tf.constant(arrays["images"]["rgb"])))
    ops.append(deprecated.audio_summary("old sound", tf.constant(arrays["sounds"]["mono"]), 8000.0))
    ops.append(deprecated.merge_summary(ops[:2]))
    ops.append(deprecated.merge_all_summaries("mine"))
    ops.append(tf.summary.merge(ops[:3], name="merged"))
    ops.append(tf.summary.merge(ops[:3], collections=["merges"]))
    ops.append(tf.summary.merge_all(scope="train/"))
    ops.append(tf.summary.merge_all())
    return ops


def nodes(graph):
    """[name, type, inputs] of every node."""
    return [[o.name, o.type, [t.name for t in o.inputs]] for o in graph.get_operations()]


def events(tf, path):
    """What a reader sees of an event file."""
    found = []
    for event in tf.train.summary_iterator(path):
        kind = event.WhichOneof("what")
        seen = {"step": event.step, "what": kind}
        if kind == "summary":
            seen["values"] = [
                [v.tag, v.simple_value, v.WhichOneof("value"), v.metadata.plugin_data.plugin_name]
                for v in event.summary.value
            ]
        elif kind == "graph_def":
            message = tf.GraphDef.FromString(event.graph_def)
            seen["nodes"] = [[n.name, n.op] for n in message.node]
        elif kind == "meta_graph_def":
            message = tf.MetaGraphDef.FromString(event.meta_graph_def)
            seen["nodes"] = [[n.name, n.op] for n in message.graph_def.node]
        elif kind == "tagged_run_metadata":
            message = tf.RunMetadata.FromString(event.tagged_run_metadata.run_metadata)
            tagged = event.tagged_run_metadata.tag
            seen["run"] = [tagged, [d.device for d in message.step_stats.dev_stats]]
        elif kind == "session_log":
            seen["log"] = [event.session_log.status, event.session_log.checkpoint_path]
        elif kind == "file_version":
            seen["version"] = event.file_version
        found.append(seen)
    return found


def write(tf, logdir):
    """Writes an event of every kind."""
    with tf.Graph().as_default() as graph:
        with tf.name_scope("scope"):
            node = tf.summary.scalar("loss", tf.constant(1.5))
        text = tf.summary.text("words", tf.constant("hello"))
        writer = tf.summary.FileWriter(logdir, graph, filename_suffix=".suffix")
        with tf.Session(graph=graph) as session:
            for step in range(3):
                writer.add_summary(session.run(node), step)
                writer.add_summary(session.run(text), global_step=np.int64(step))
        metadata = tf.RunMetadata()
        metadata.step_stats.dev_stats.add(device="/cpu:0")
        writer.add_run_metadata(metadata, "step 1", 1)
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.CHECKPOINT, checkpoint_path="p"))
        value = tf.Summary.Value(tag="mine", simple_value=0.25)
        writer.add_event(tf.Event(step=7, wall_time=1.0, summary=tf.Summary(value=[value])))
        writer.close()


def _main():
    import tensorflow

    tf = getattr(getattr(tensorflow, "compat", None), "v1", tensorflow)
    if tensorflow.__version__.startswith("1."):
        tf = tensorflow
    else:
        tf.disable_v2_behavior()
    command, given = sys.argv[1], sys.argv[2]
    if command == "summaries":
        with open(given, "rb") as file:
            arrays = unpacked(pickle.load(file))
        with tf.Graph().as_default() as graph, tf.Session() as session:
            ops = build(tf, arrays)
            result = {"nodes": nodes(graph), "summaries": session.run(ops)}
        with open(sys.argv[3], "wb") as file:
            pickle.dump(result, file, protocol=4)
    elif command == "write":
        write(tf, given)
    else:
        with open(sys.argv[3], "w") as file:
            json.dump(events(tf, given), file)


if __name__ == "__main__":
    _main()
