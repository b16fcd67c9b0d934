"""Strings that are parsed out of single records go on as any other string."""

from __future__ import annotations

import penstock as tf


def _bytes(text: bytes) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[text]))


def test_a_scalar_string_of_one_example_is_compared_and_reshaped() -> None:
    example = tf.train.Example(features=tf.train.Features(feature={"form": _bytes(b"raw")}))
    with tf.Graph().as_default(), tf.Session() as session:
        serialized = tf.placeholder(tf.string)
        parsed = tf.parse_single_example(serialized, {"form": tf.FixedLenFeature((), tf.string)})
        found = [parsed["form"], tf.reshape(parsed["form"], [1]), tf.equal(parsed["form"], "raw")]
        text, row, same = session.run(found, {serialized: example.SerializeToString()})
        assert (text, row.tolist(), bool(same)) == (b"raw", [b"raw"], True)


def test_a_scalar_string_of_a_sequence_example_is_reshaped() -> None:
    example = tf.train.SequenceExample(context=tf.train.Features(feature={"form": _bytes(b"png")}))
    with tf.Graph().as_default(), tf.Session() as session:
        serialized = tf.placeholder(tf.string)
        context, _ = tf.parse_single_sequence_example(
            serialized, {"form": tf.FixedLenFeature((), tf.string)}
        )
        row = tf.reshape(context["form"], [1])
        assert session.run(row, {serialized: example.SerializeToString()}).tolist() == [b"png"]
