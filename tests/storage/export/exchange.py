"""Models written by one system and run by another; the half that both run, on any Python from 3.7.

As a script it is TensorFlow's half: ``exchange.py OURS THEIRS`` runs what Penstock wrote to OURS,
and writes its own to THEIRS, each with a ``results.json``.
"""

import json
import os
import sys

import numpy as np

STEPS = 6


def feeds():
    rng = np.random.RandomState(3)
    return rng.randn(16, 5).astype(np.float32), rng.randint(0, 3, 16).astype(np.int64)


def build(tf, use_resource):
    """A classifier of three layers with an embedding, partitioned weights and Adam."""
    tf.set_random_seed(7)
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.variable_scope("net", use_resource=use_resource):
        w1 = tf.get_variable(
            "w1", [5, 8], partitioner=tf.fixed_size_partitioner(2),
            initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1),
        )  # fmt: skip
        b1 = tf.get_variable("b1", [8], initializer=tf.zeros_initializer())
        table = tf.get_variable("table", [3, 8], initializer=tf.constant_initializer(0.1))
        w2 = tf.get_variable(
            "w2", [8, 6], initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=2)
        )
        w3 = tf.get_variable(
            "w3", [6, 3], initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=3)
        )
    hidden = tf.nn.relu(tf.matmul(x, tf.convert_to_tensor(w1)) + b1)
    hidden = hidden + tf.nn.embedding_lookup(table, tf.zeros([1], tf.int64))
    hidden = tf.nn.tanh(tf.matmul(tf.identity(hidden), w2))
    logits = tf.matmul(hidden, w3, name="logits")
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses, name="loss")
    step = tf.train.get_or_create_global_step()
    tf.train.AdamOptimizer(0.01).minimize(loss, global_step=step, name="train")
    tf.add_to_collection("words", "some words")
    tf.add_to_collection("numbers", 5)
    tf.add_to_collection("rates", 0.25)
    tf.add_to_collection("ends", loss)


def train(sess, scope=""):
    xs, labels = feeds()
    given = {scope + "x:0": xs, scope + "labels:0": labels}
    fetches = [scope + "loss:0", scope + "train"]
    return [float(sess.run(fetches, given)[0]) for _ in range(STEPS)]


def write(tf, folder):
    """Writes MetaGraphs with checkpoints, SavedModels and frozen graphs; what they gave."""
    results = {}
    for kind in ("ref", "resource"):
        with tf.Graph().as_default(), tf.Session() as sess:
            build(tf, kind == "resource")
            sess.run(tf.global_variables_initializer())
            saver = tf.train.Saver()
            train(sess)
            saver.save(sess, os.path.join(folder, kind))
            inputs = sess.graph.as_graph_def()
            frozen = tf.graph_util.convert_variables_to_constants(sess, inputs, ["logits"])
            tf.train.write_graph(inputs, folder, kind + ".graph.pb", as_text=False)
            tf.train.write_graph(frozen, folder, kind + ".frozen.pb", as_text=False)
            logits = sess.run("logits:0", {"x:0": feeds()[0]})
            results[kind] = {"logits": logits.tolist(), "losses": train(sess)}
            tf.train.export_meta_graph(
                os.path.join(folder, kind + ".pbtxt"), as_text=True, strip_default_attrs=True,
                saver_def=saver.as_saver_def(),
            )  # fmt: skip
    results["model"] = write_model(tf, folder, False)
    results["text_model"] = write_model(tf, folder, True)
    with open(os.path.join(folder, "results.json"), "w") as stream:
        json.dump(results, stream)
    return results


def write_model(tf, folder, as_text):
    """A SavedModel with strings, an asset, a main op and two MetaGraphs."""
    asset = os.path.join(folder, "labels.txt")
    with open(asset, "w") as stream:
        stream.write("a b c")
    name = "text_model" if as_text else "model"
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        words = tf.placeholder(tf.string, [None], name="words")
        w = tf.get_variable("w", [2, 2], initializer=tf.constant_initializer(1.5))
        names = tf.get_variable(
            "names", initializer=tf.constant([b"one", b"\xff\x00two"]), trainable=False
        )
        path = tf.constant(asset, name="path")
        seen = tf.Variable("none", name="seen", trainable=False, collections=["local_variables"])
        start = tf.group(tf.assign(seen, path))
        y = tf.matmul(x, w, name="y")
        chosen = tf.gather(names, tf.cast(x[0], tf.int32), name="chosen")
        same = tf.identity(words, name="same")
        sess.run(tf.global_variables_initializer())
        signature = tf.saved_model.predict_signature_def(
            {"x": x, "words": words}, {"y": y, "chosen": chosen, "same": same}
        )
        builder = tf.saved_model.Builder(os.path.join(folder, name))
        builder.add_meta_graph_and_variables(
            sess, ["serve"], {"serving_default": signature}, assets_collection=[path],
            main_op=start,
        )  # fmt: skip
        builder.add_meta_graph(["serve", "gpu"], {"other": signature}, strip_default_attrs=True)
        builder.save(as_text)
    return run_model(tf, os.path.join(folder, name))


def run_model(tf, folder):
    """What the two MetaGraphs give, and where the asset is."""
    results = []
    for tags, key in ((["serve"], "serving_default"), (["gpu", "serve"], "other")):
        with tf.Session(graph=tf.Graph()) as sess:
            loaded = tf.saved_model.load(sess, tags, folder)
            signature = loaded.signature_def[key]
            given = {
                signature.inputs["x"].name: [[0.0, 1.0], [2.0, 3.0]],
                signature.inputs["words"].name: [b"ab", b"\x00\xfe"],
            }
            fetches = [signature.outputs[k].name for k in ("y", "chosen", "same")]
            y, chosen, same = sess.run(fetches, given)
            with open(sess.run("seen:0").decode()) as stream:
                asset = stream.read()
            strings = [s.decode("latin1") for s in chosen.tolist() + same.tolist()]
            results.append([y.tolist(), strings, asset])
    return results


def run(tf, folder):
    """Runs what ``write`` wrote, in another system."""
    results = {}
    for kind in ("ref", "resource"):
        found = results[kind] = {}
        with tf.Graph().as_default(), tf.Session() as sess:
            saver = tf.train.import_meta_graph(os.path.join(folder, kind + ".meta"))
            saver.restore(sess, os.path.join(folder, kind))
            found["losses"] = train(sess)
            found["trainable"] = [v.op.name for v in tf.trainable_variables()]
            found["sizes"] = [v.shape.as_list() for v in tf.global_variables()]
            ends = [tensor.name for tensor in tf.get_collection("ends")]
            words = [w if isinstance(w, str) else w.decode() for w in tf.get_collection("words")]
            found["collections"] = [
                tf.get_collection("numbers"), tf.get_collection("rates"), ends, words,
            ]  # fmt: skip
        with tf.Graph().as_default(), tf.Session() as sess:
            saver = tf.train.import_meta_graph(
                os.path.join(folder, kind + ".pbtxt"), import_scope="in", clear_devices=True
            )
            saver.restore(sess, os.path.join(folder, kind))
            found["text_losses"] = train(sess, "in/")
        with tf.Graph().as_default(), tf.Session() as sess:
            graph_def = tf.GraphDef()
            with open(os.path.join(folder, kind + ".frozen.pb"), "rb") as stream:
                graph_def.ParseFromString(stream.read())
            tf.import_graph_def(graph_def, name="")
            found["logits"] = sess.run("logits:0", {"x:0": feeds()[0]}).tolist()
    for name in ("model", "text_model"):
        results[name] = run_model(tf, os.path.join(folder, name))
    return results


def graph_functions(tf, folder):
    """What ``tf.graph_util`` makes of the graphs in the folder."""
    for kind in ("ref", "resource"):
        graph_def = tf.GraphDef()
        with open(os.path.join(folder, kind + ".graph.pb"), "rb") as stream:
            graph_def.ParseFromString(stream.read())
        part = tf.graph_util.extract_sub_graph(graph_def, ["loss", "net/b1"])
        slim = tf.graph_util.remove_training_nodes(graph_def, ["logits"])
        tf.train.write_graph(part, folder, kind + ".part.pb", as_text=False)
        tf.train.write_graph(slim, folder, kind + ".slim.pb", as_text=False)
        host = [n.name for n in graph_def.node if tf.graph_util.must_run_on_cpu(n, True)]
        with open(os.path.join(folder, kind + ".host.json"), "w") as stream:
            json.dump(host, stream)


def write_unknown(tf, folder):
    """A MetaGraph with queues and conditionals, whose objects Penstock may not have."""
    with tf.Graph().as_default():
        value = tf.train.input_producer(tf.constant([1.0, 2.0]), shuffle=False).dequeue()
        x = tf.placeholder(tf.float32, [], name="x")
        tf.cond(x > 0.0, lambda: x * 2.0, lambda: x - 1.0)
        tf.identity(x + 1.0, name="known")
        tf.identity(value, name="unknown")
        tf.train.export_meta_graph(os.path.join(folder, "unknown.meta"))


def main(ours, theirs):
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity("ERROR")
    found = run(tf, ours)
    write(tf, theirs)
    graph_functions(tf, theirs)
    write_unknown(tf, theirs)
    with open(os.path.join(theirs, "found.json"), "w") as stream:
        json.dump(found, stream)


if __name__ == "__main__":
    main(*sys.argv[1:])
