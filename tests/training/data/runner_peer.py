"""MetaGraphs with queue runners, for Penstock and for TensorFlow 1.15 (Python 3.7).

::

    runner_peer.py write FILE    makes the pipeline and writes its MetaGraph
    runner_peer.py run FILE      reads one, starts its queue runners, prints what comes
"""

import json
import sys


def write(tf, path):
    """Writes a pipeline of two queues, one of them shared out of two lists, in a name scope."""
    with tf.Graph().as_default():
        with tf.name_scope("input"):
            number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
            batch = tf.train.batch([number, number * number], 4, allow_smaller_final_batch=True)
        letters = tf.FIFOQueue(9, tf.string, shapes=[[]], name="letters")
        runner = tf.train.QueueRunner(
            letters,
            [letters.enqueue_many([["a", "b"]])],
            queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError),
        )
        tf.train.add_queue_runner(runner)
        for tensor in [*batch, letters.dequeue_many(3)]:
            tf.add_to_collection("wanted", tensor)
        tf.train.export_meta_graph(path, as_text=False)


def run(tf, path, scope=None):
    """What comes out of the pipeline, and how it ends; with names in a scope if one is given."""
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(path, import_scope=scope)
        wanted = [t.name for t in tf.get_collection("wanted")]
        runners = [
            [r.name, len(r.enqueue_ops), r.close_op.name, r.cancel_op.name]
            + [t.__name__ for t in r.queue_closed_exception_types]
            for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        ]
        fetched = [graph.get_tensor_by_name(n) for n in wanted]
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coord)
            found = []
            try:
                while len(found) < 9:
                    found.append([v.tolist() for v in session.run(fetched[:2])])
            except tf.errors.OutOfRangeError as error:
                found.append(type(error).__name__)
            found.append([v.decode() for v in session.run(fetched[2]).tolist()])
            coord.request_stop()
            coord.join(threads)
            return [runners, wanted, found, len(threads)]


def main():
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    verb, path = sys.argv[1:3]
    if verb == "write":
        write(tf, path)
    else:
        print(json.dumps([run(tf, path), run(tf, path, "scope")]))


if __name__ == "__main__":
    main()
