"""Programs with lookup tables, written so that TensorFlow 1.15 runs them as well.

``python lookup_programs.py FOLDER`` runs them in TensorFlow and prints what they gave as JSON.
"""

import json
import os
import sys


def _plain(value):
    """Plain lists of what a session gave."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "indices"):
        return [_plain(part) for part in (value.indices, value.values, value.dense_shape)]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


def _entries(session, table):
    """Keys and values in order of keys: tables export in orders of their own."""
    keys, values = (v.tolist() for v in session.run(table.export()))
    return sorted(_plain([list(pair) for pair in zip(keys, values)]))


def _nodes(graph):
    """Names, types and inputs of all nodes."""
    return [
        [op.name, op.type, [t.name for t in op.inputs], [c.name for c in op.control_inputs]]
        for op in graph.get_operations()
    ]


def texts(tf, s, folder):
    """The public functions of strings and sets, for the nodes that they make."""
    words = tf.constant(["a b", " C,d "])
    numbers, more = tf.constant([[1, 2]]), tf.constant([[2, 3]])
    sparse = tf.SparseTensor([[0, 0]], [1], [1, 2])
    made = [
        tf.string_split(words), tf.string_split(words, ",", skip_empty=False),
        tf.strings.split(words), tf.strings.split(words, sep=",", maxsplit=1, name="q"),
        tf.as_string([1.5]), tf.string_strip(words), tf.strings.lower(words),
        tf.strings.upper(words, "utf-8"), tf.strings.length(words, unit="UTF8_CHAR"),
        tf.substr(words, [0, 1], [1, 2]), tf.regex_replace(words, "a", "b"),
        tf.regex_replace(words, tf.constant("a"), "b"), tf.reduce_join(words),
        tf.reduce_join([words, words], axis=[0, 1], separator=" "),
        tf.reduce_join([["x"]], 0, keep_dims=True, name="k"),
        tf.strings.unsorted_segment_join(words, [0, 0], 1, separator=","),
        tf.string_to_hash_bucket(words, 10), tf.string_to_hash_bucket_fast(words, 10),
        tf.string_to_hash_bucket_strong(words, 10, [1, 2]), tf.encode_base64(words, pad=True),
        tf.decode_base64(["YQ"]), tf.sets.union(numbers, more), tf.sets.difference(sparse, numbers),
        tf.sets.difference(numbers, more, aminusb=False), tf.sets.intersection(sparse, sparse),
        tf.sets.size(sparse),
    ]  # fmt: skip
    return s.run(made)


def static(tf, s, folder):
    lookup = tf.contrib.lookup
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    before = [s.run(table.size())]
    s.run(tf.tables_initializer())
    s.run(tf.tables_initializer())
    keys = tf.constant([["a", "z"], ["b", ""]])
    sparse = tf.SparseTensor([[0, 0], [1, 2]], ["b", "q"], [2, 3])
    return [before, s.run([table.lookup(keys), table.lookup(sparse)]), _entries(s, table)]


def vocabulary(tf, s, folder):
    lookup = tf.contrib.lookup
    words = tf.constant(["b", "c", "unknown", "other", ""])
    path = os.path.join(folder, "words.txt")
    tables = [
        lookup.index_table_from_file(path),
        lookup.index_table_from_file(path, num_oov_buckets=5),
        lookup.index_table_from_file(path, vocab_size=2, default_value=7),
        lookup.index_table_from_tensor(["c", "b"], num_oov_buckets=3),
        lookup.IdTableWithHashBuckets(None, 9, hasher_spec=lookup.StrongHashSpec([3, 4])),
    ]
    ids = tf.constant([0, 2, 9, -1], tf.int64)
    back = [
        lookup.index_to_string_table_from_file(path),
        lookup.index_to_string_table_from_tensor(["x", "y", "z"], default_value="?"),
    ]
    numbers = lookup.index_table_from_tensor([10, 20], num_oov_buckets=4, dtype=tf.int64)
    core = tf.lookup.StaticVocabularyTable(
        tf.lookup.TextFileInitializer(
            path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER), 2)  # fmt: skip
    s.run(tf.tables_initializer())
    found = [table.lookup(words) for table in tables] + [t.lookup(ids) for t in back]
    found += [numbers.lookup(tf.constant([20, 30, -5], tf.int64)), core.lookup(words)]
    return s.run(found + [t.size() for t in tables] + [numbers.size(), core.size()])


def columns(tf, s, folder):
    lookup = tf.contrib.lookup
    path = os.path.join(folder, "pairs.txt")
    kinds = [
        (tf.string, 0, tf.int64, 1),
        (tf.int64, 1, tf.string, 0),
        (tf.string, 0, tf.float32, 2),
    ]
    made = []
    for key, at, value, where in kinds:
        start = lookup.TextFileInitializer(path, key, at, value, where, delimiter=",")
        made.append(lookup.HashTable(start, "" if value == tf.string else -1))
    s.run(tf.tables_initializer())
    return [_entries(s, table) for table in made]


def mutable(tf, s, folder):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    words, more = tf.constant(["a", "b", "a"]), tf.constant(["c", "b"])
    add = table.insert(words, tf.constant([1, 2, 3], tf.int64))
    again = table.insert(more, tf.constant([7, 8], tf.int64))
    steps = []
    for step in (add, again, table.remove(tf.constant(["a", "nobody"])), add):
        s.run(step)
        steps.append([s.run([table.size(), table.lookup(words)]), _entries(s, table)])
    path = tf.train.Saver().save(s, os.path.join(folder, "mutable"))
    s.run(table.remove(words))
    tf.train.Saver().restore(s, path)
    return steps + [_entries(s, table)]


def vectors(tf, s, folder):
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, [0.0, -1.0])
    keys = tf.constant([[4, 5]], tf.int64)
    s.run(table.insert(keys, tf.constant([[[1.0, 2.0], [3.0, 4.0]]])))
    return [s.run(table.lookup(tf.constant([[5], [6], [4]], tf.int64))), _entries(s, table)]


def dense(tf, s, folder):
    table = tf.contrib.lookup.MutableDenseHashTable(
        tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1, initial_num_buckets=4)  # fmt: skip
    keys = tf.constant([1, 9, 17, 3], tf.int64)
    s.run(table.insert(keys, tf.constant([10, 90, 170, 30], tf.int64)))
    exported = s.run(table.export())
    path = tf.train.Saver().save(s, os.path.join(folder, "dense"))
    s.run(table.remove(tf.constant([9, 3], tf.int64)))
    gone = s.run([table.size(), table.lookup(tf.constant([1, 9, 3, 8], tf.int64))])
    tf.train.Saver().restore(s, path)
    return [exported, gone, s.run([table.size(), table.lookup(keys)])]


def words_of_buckets(tf, s, folder):
    table = tf.contrib.lookup.MutableDenseHashTable(
        tf.string, tf.int64, -1, empty_key="", deleted_key="-", initial_num_buckets=16)  # fmt: skip
    keys = tf.constant(["a", "bc", "a longer key of many bytes", "12345678"])
    s.run(table.insert(keys, tf.constant([1, 2, 3, 4], tf.int64)))
    return s.run(table.export())


def in_datasets(tf, s, folder):
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=2)
    data = tf.data.Dataset.from_tensor_slices(["b", "x", "a", "b"])
    data = data.map(table.lookup).filter(lambda i: tf.not_equal(i, 0)).batch(2)
    iterator = data.make_initializable_iterator()
    batch = iterator.get_next()
    s.run(tf.tables_initializer())
    s.run(iterator.initializer)
    return [s.run(batch), s.run(batch)]


def in_control_flow(tf, s, folder):
    lookup = tf.contrib.lookup
    table = lookup.MutableHashTable(tf.int64, tf.int64, -1)
    fixed = lookup.index_to_string_table_from_tensor(["x", "y"])
    s.run(tf.tables_initializer())
    key = tf.placeholder(tf.int64, [])
    chosen = tf.cond(key > 0, lambda: fixed.lookup(key), lambda: tf.constant("none"))

    def body(i):
        with tf.control_dependencies([table.insert([i], [i * i])]):
            return i + 1

    end = tf.while_loop(lambda i: i < 5, body, [tf.constant(0, tf.int64)])
    first = s.run([chosen, end], {key: 1})
    return [first, s.run(chosen, {key: 0}), s.run(chosen, {key: 9}), _entries(s, table)]


def failures(tf, s, folder):
    lookup = tf.contrib.lookup

    def kind(make):
        try:
            s.run(make())
        except tf.errors.OpError as error:
            return type(error).__name__
        return "none"

    def from_file(name, key=(tf.string, -2), value=(tf.int64, -1), **more):
        start = lookup.TextFileInitializer(os.path.join(folder, name), *key, *value, **more)
        return lookup.HashTable(start, "" if value[0] == tf.string else -1).init

    empty = lookup.HashTable(lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    twice = lookup.KeyValueTensorInitializer(["a", "a"], [1, 2])
    number = ((tf.string, 0), (tf.int64, 1))
    return [
        kind(lambda: empty.lookup(tf.constant(["a"]))),
        kind(empty.export),
        kind(lambda: lookup.HashTable(twice, -1).init),
        kind(lambda: from_file("nothing.txt")),
        kind(lambda: from_file("empty.txt")),
        kind(lambda: from_file("gap.txt")),
        kind(lambda: from_file("twice.txt")),
        kind(lambda: from_file("words.txt", vocab_size=9)),
        kind(lambda: from_file("words.txt", *number)),
        kind(lambda: from_file("bad.txt", *number)),
        kind(lambda: from_file("pairs.txt", *number, delimiter=",,")),
        kind(lambda: from_file("crlf.txt")),
    ]


PROGRAMS = [
    texts, static, vocabulary, columns, mutable, vectors, dense, words_of_buckets, in_datasets,
    in_control_flow, failures,
]  # fmt: skip
FILES = {
    "words.txt": b"a\nb\nc\n", "pairs.txt": b"a,1,1.5\nb,2,-2e3\n", "empty.txt": b"",
    "gap.txt": b"a\n\nb\n", "twice.txt": b"a\na\n", "bad.txt": b"a\tx\n", "crlf.txt": b"a\r\nb\r\n",
}  # fmt: skip


def results(tf, folder):
    """What each program gives, by its name."""
    for name, content in FILES.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    found = {}
    for program in PROGRAMS:
        with tf.Graph().as_default(), tf.Session() as session:
            found[program.__name__] = _plain(program(tf, session, folder))
            # A mapped function takes other inputs here: tables are known to it by name.
            if program.__name__ not in ("in_control_flow", "in_datasets"):
                found[program.__name__ + " nodes"] = _nodes(session.graph)
    return found


if __name__ == "__main__":
    import tensorflow

    print(json.dumps(results(tensorflow, sys.argv[1])))
