"""Programs of ``tf.contrib.summary`` (``recorded``): nodes, what is written, errors."""

import glob
import os
import shutil
import tempfile
from contextlib import contextmanager

import numpy as np

from tests.contrib.recorded import refused


@contextmanager
def _directory():
    path = tempfile.mkdtemp()
    try:
        yield path
    finally:
        shutil.rmtree(path)


def _nodes(tf, directory):
    """Every node: name, type, device, inputs, controls, and what constants of strings say."""
    found = []
    for op in tf.get_default_graph().get_operations():
        row = [op.name, op.type, op.device, [t.name for t in op.inputs]]
        row.append([c.name for c in op.control_inputs])
        if op.type == "Const" and op.outputs[0].dtype == tf.string:
            row.append(op.get_attr("value").string_val[0].decode().replace(directory, "DIR"))
        if op.type == "SummaryWriter":
            row.append(op.get_attr("shared_name").decode().replace(directory, "DIR"))
        found.append(row)
    return found


def _events(tf, directory):
    """What the files of a directory hold; bytes of images by their size."""
    found = []
    for path in sorted(glob.glob(os.path.join(directory, "*"))):
        name = os.path.basename(path).split(".")
        rows = [name[:3] + name[-1:]]
        events = []
        for event in tf.train.summary_iterator(path):
            row = [event.step, event.WhichOneof("what")]
            for value in event.summary.value:
                row += [value.tag, value.WhichOneof("value"), value.HasField("metadata")]
                kind = row[-2]
                if kind == "simple_value":
                    row.append(value.simple_value)
                elif kind == "histo":
                    row += [list(value.histo.bucket), value.histo.sum]
                elif kind == "image":
                    row += [value.image.height, value.image.width, value.image.colorspace]
                elif kind == "audio":
                    row += [value.audio.sample_rate, value.audio.length_frames]
                else:
                    row.append(tf.make_ndarray(value.tensor).tolist())
            if event.graph_def:
                row.append(event.graph_def)
            events.append(row)
        # Those of one step are written in any order.
        found.append(rows + sorted(events, key=str))
    return found


def _everything(tf, package, x):
    """One summary of each kind; images and sounds too."""
    made = [package.scalar("loss", x), package.histogram("values", [1.0, 2.0], family="family")]
    made += [package.image("picture", tf.ones([2, 1, 1, 3]), max_images=1)]
    made += [package.audio("sound", tf.zeros([1, 10]), 44100.0, 1)]
    made += [package.generic("tensor", x), package.scalar("whole", 3, step=7)]
    made += [package.generic("text", tf.constant("words"), metadata=_metadata(tf), step=1)]
    return made


def _metadata(tf):
    from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

    made = SummaryMetadata()
    made.plugin_data.plugin_name = "text"
    return tf.constant(made.SerializeToString())


def case_nodes(tf):
    package = tf.contrib.summary
    with _directory() as directory:
        tf.train.get_or_create_global_step()
        x = tf.constant(2.0)
        found = [package.scalar("early", x).name, package.all_summary_ops()]
        writer = package.create_file_writer(directory, flush_millis=1000)
        package.create_file_writer(directory + "/b", 3, 4, ".end", name="named")
        with writer.as_default():
            made = [package.scalar("silent", x)]
            with package.always_record_summaries():
                made += _everything(tf, package, x)
                with tf.name_scope("scope"):
                    made += [package.scalar("of / odd", x), package.scalar("loss", x, family="f")]
                wrote = package.graph(tf.constant("g"), step=1)
                event = package.import_event(tf.constant("e"), name="given")
            with package.never_record_summaries():
                made += [package.scalar("never", x)]
            flushed = [package.flush(), package.flush(writer, name="flushing")]
        found += [m.name for m in made + [wrote, event] + flushed]
        found += [m.name for m in package.all_summary_ops() + tf.summary.all_v2_summary_ops()]
        found += [op.name for op in package.summary_writer_initializer_op()]
        found += [writer.init().name, writer.flush().name, writer.close().name]
        return found + _nodes(tf, directory)


def case_every_n_steps(tf):
    package = tf.contrib.summary
    with _directory() as directory:
        step = tf.train.get_or_create_global_step()
        writer = package.create_file_writer(directory)
        x = tf.constant(2.0)
        with package.create_file_writer("other").as_default():
            writer.set_as_default()  # until the end of the other one
            with package.record_summaries_every_n_global_steps(2), tf.device("cpu:0"):
                package.scalar("loss", x)
                package.image("picture", tf.zeros([1, 1, 1, 1]), step=4)
                package.generic("tensor", x, metadata=tf.constant(""))
            with package.record_summaries_every_n_global_steps(3, tf.constant(6)):
                package.histogram("other", [x])
        found = _nodes(tf, directory)
        advance = tf.assign_add(step, 1)
        with tf.Session() as sess:
            sess.run([tf.global_variables_initializer(), writer.init()])
            for _ in range(4):
                found.append(sess.run(package.all_summary_ops()))
                sess.run(advance)
            sess.run(package.flush(writer))
            found += _events(tf, directory)
        return found


def case_what_is_written(tf):
    package = tf.contrib.summary
    with _directory() as directory, package.create_file_writer(directory).as_default():
        step = tf.train.get_or_create_global_step()
        x, data = tf.placeholder(tf.float32), tf.placeholder(tf.string)
        with package.always_record_summaries():
            made = _everything(tf, package, x)
            graph, event = package.graph(data, step=1), package.import_event(data)
        with tf.Session() as sess:
            sess.run(step.initializer)
            package.initialize(graph=tf.GraphDef())
            found = [sess.run(made, {x: 3.0})]
            sess.run(graph, {data: b"\x22\x02\x08\x03"})
            given = tf.Event(step=99, wall_time=3.0, file_version="given")
            sess.run(event, {data: given.SerializeToString()})
            sess.run(tf.assign(step, 5))
            sess.run(made[:1], {x: [[4.0]]})
            sess.run(package.flush())
            return found + _events(tf, directory)


def case_writers_in_sessions(tf):
    package = tf.contrib.summary
    with _directory() as directory:
        writer = package.create_file_writer(directory)
        same = package.create_file_writer(directory, filename_suffix=".other")
        nowhere = package.create_file_writer("/dev/null/no")
        close = writer.close()
        with writer.as_default(), package.always_record_summaries():
            one = package.scalar("one", 1.0, step=1)
            bad = [package.histogram("bad", [1.0, np.nan], step=1)]
            bad += [package.image("bad", tf.zeros([1, 1, 1, 2]), step=1)]
        with same.as_default(), package.always_record_summaries():
            two = package.scalar("two", 2.0, step=2)
        found = []
        with tf.Session() as sess:
            for op in (one, writer.flush(), close):
                found.append(refused(lambda op=op: sess.run(op), "does not exist"))
            sess.run(writer.init())
            sess.run(same.init())
            sess.run([one, two])
            sess.run(writer.init())
            found += [refused(lambda op=op: sess.run(op)) for op in bad + [nowhere.init()]]
            sess.run(close)
            found.append(refused(lambda: sess.run(one), "does not exist"))
            found += _events(tf, directory)
        with tf.Session() as sess:  # a new session knows none
            found.append(refused(lambda: sess.run(one))[0])
        return found


def case_refused(tf):
    package = tf.contrib.summary
    found = [refused(lambda: package.initialize(), "No default"), package.flush().type]
    found.append(refused(lambda: package.import_event("x")))
    found.append(package.graph(tf.constant("x")).type)
    found.append(refused(lambda: package.graph(3), "graph() needs a tf.Tensor"))
    with _directory() as directory, package.create_file_writer(directory).as_default():
        found.append(refused(lambda: package.initialize(), "session must be passed"))
        found.append(refused(lambda: package.graph(tf.constant(3)), "does not match expected"))
        with package.always_record_summaries():
            for name, value, step in [
                ("x", 1.0, "a"), ("x", 1.0, 1.5), ("x", "text", 1), (None, 1.0, 1), ("", 1.0, 1),
                ("x", 1.0, tf.constant(3)),
            ]:  # fmt: skip
                found.append(refused(lambda n=name, v=value, s=step: package.scalar(n, v, step=s)))
            found.append(refused(lambda: package.image("x", 1, step=1)))
        nothing = package.create_file_writer(None)
        with nothing.as_default() as entered:
            found += [entered, nothing.init(), nothing.flush(), nothing.close()]
            found.append(package.should_record_summaries().name)
        found += [package.eval_dir("/a"), package.eval_dir("/a", "b")]
        writer = package.create_summary_file_writer(tf.constant(directory))
        return found + [writer.init().name, isinstance(writer, package.SummaryWriter)]


def case_databases(tf):
    package = tf.contrib.summary
    writer = package.create_db_writer("DIR/x.db", "experiment", "run", "user", name="base")
    found = [writer.flush().name] + _nodes(tf, "DIR")
    found.append(len(package.create_db_writer("y.db").init().inputs))
    for names in [("e", "r", "_u"), ("e", "a\x00b", "u"), ("<", "r", "u"), (3, "r", "u")]:
        found.append(refused(lambda n=names: package.create_db_writer("x.db", *n), "must match"))
    return found
