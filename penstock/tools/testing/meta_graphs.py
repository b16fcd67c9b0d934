"""MetaGraphs compared: what says that two describe one graph."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.proto_functions import get_collection_proto_type


def assert_meta_graph_protos_equal(tester: Any, a: Any, b: Any) -> None:
    """Checks that two ``MetaGraphDef`` describe the same, in whatever order.

    Args:
      tester: a test case.
      a, b: the messages.
    """
    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    for key in sorted(a.collection_def):
        _check_collection(tester, key, a.collection_def[key], b.collection_def[key])
    pair = [type(a)() for _ in (a, b)]
    for copy, given in zip(pair, (a, b), strict=True):
        copy.CopyFrom(given)
        copy.ClearField("collection_def")
        # What a program is made by differs between those who write.
        copy.meta_info_def.Clear()
        copy.graph_def.ClearField("versions")
    for copy in pair:
        nodes = sorted(copy.graph_def.node, key=lambda node: str(node.name))
        del copy.graph_def.node[:]
        copy.graph_def.node.extend(nodes)
    tester.assertEqual(*pair)


def _check_collection(tester: Any, key: str, a: Any, b: Any) -> None:
    kind = get_collection_proto_type(key)
    if kind is None or not a.bytes_list.value:
        tester.assertEqual(a, b)
        return
    tester.assertEqual(
        *(sorted(str(kind.FromString(each)) for each in one.bytes_list.value) for one in (a, b))
    )
