"""Calls of library functions in imported GraphDefs."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef

import penstock as tf

_FLOAT = "attr { key: 'T' value { type: DT_FLOAT } }"
_LIBRARY = f"""
library {{
  function {{
    signature {{ name: 'twice_and_split' input_arg {{ name: 'a' type: DT_FLOAT }}
      output_arg {{ name: 'left' type: DT_FLOAT }} output_arg {{ name: 'right' type: DT_FLOAT }} }}
    node_def {{ name: 'axis' op: 'Const' attr {{ key: 'dtype' value {{ type: DT_INT32 }} }}
      attr {{ key: 'value' value {{ tensor {{
        dtype: DT_INT32 tensor_shape {{}} int_val: 0 }} }} }} }}
    node_def {{ name: 'sum' op: 'Add' input: 'a' input: 'a' {_FLOAT} }}
    node_def {{ name: 'parts' op: 'Split' input: 'axis:output:0' input: 'sum:z:0' {_FLOAT}
      attr {{ key: 'num_split' value {{ i: 2 }} }} }}
    ret {{ key: 'left' value: 'parts:output:0' }} ret {{ key: 'right' value: 'parts:output:1' }}
  }}
  function {{
    signature {{ name: 'outer' input_arg {{ name: 'b' type: DT_FLOAT }}
      output_arg {{ name: 'out' type_attr: 'U' }} attr {{ name: 'U' type: 'type' }} }}
    node_def {{ name: 'call' op: 'PartitionedCall' input: 'b'
      attr {{ key: 'f' value {{ func {{ name: 'twice_and_split' }} }} }} }}
    node_def {{ name: 'late' op: 'NoOp' input: '^call' }}
    node_def {{ name: 'difference' op: 'Sub' input: 'call:output:1' input: 'call:output:0'
      attr {{ key: 'T' value {{ placeholder: 'U' }} }} }}
    ret {{ key: 'out' value: 'difference:z:0' }}
    control_ret {{ key: 'c' value: 'late' }}
  }}
}}
"""
_NODES = """
node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
node { name: 'first' op: 'NoOp' }
node { name: 'y' op: 'outer' input: 'x' input: '^first'
  attr { key: 'U' value { type: DT_FLOAT } } }
node { name: 'left' op: 'StatefulPartitionedCall' input: 'x:0'
  attr { key: 'f' value { func { name: 'twice_and_split' } } } }
"""


def _message(nodes: str = _NODES, library: str = _LIBRARY) -> Any:
    return text_format.Parse(nodes + library, GraphDef())


def test_bodies_run_in_place_of_calls() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(_message(), name="")
        found = sess.run(["y:0", "left:0", "left:1"], {"x:0": [1.0, 2.0, 5.0, 9.0]})
    assert [value.tolist() for value in found] == [[8.0, 14.0], [2.0, 4.0], [10.0, 18.0]]
    ops = {op.name: op for op in graph.get_operations()}
    assert ops["y"].type == ops["y/call"].type == "IdentityN"
    assert ops["y/call/parts"].type == "Split"
    assert [c.name for c in ops["y"].control_inputs] == ["y/late", "first"]
    assert ops["y/difference"].control_inputs[0].name == "first"


def test_a_prefix_holds_for_bodies() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        (y,) = tf.import_graph_def(_message(), return_elements=["y:0"], name="in")
        assert y.name == "in/y:0"
        assert sess.run(y, {"in/x:0": [1.0, 2.0]}).tolist() == [2.0]


def test_calls_that_cannot_be() -> None:
    absent = _message(_NODES.replace("twice_and_split", "no_such"))
    many = _message(_NODES.replace("input: 'x:0'", "input: 'x:0' input: 'x'"))
    for message, pattern in ((absent, "no_such"), (many, "2 tensor")):
        with tf.Graph().as_default(), pytest.raises(ValueError, match=pattern):
            tf.import_graph_def(message)


def test_a_function_that_calls_itself() -> None:
    message = _message()
    message.library.function[1].node_def[0].attr["f"].func.name = "outer"
    with tf.Graph().as_default(), pytest.raises(ValueError, match="without end"):
        tf.import_graph_def(message)
