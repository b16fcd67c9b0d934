"""What notebooks show of graphs and of what belongs to them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

import penstock as tf
from penstock.foundation.graph import drawing

_SVG = "{http://www.w3.org/2000/svg}"


def _boxes(html: str) -> dict[str, tuple[float, float, float]]:
    """Left end, top and width of each box, by its title."""
    svg = ET.fromstring(html[html.index("<svg") :])
    rects = svg.findall(f"{_SVG}rect")
    texts = [text for text in svg.findall(f"{_SVG}text") if text.find(f"{_SVG}title") is not None]
    assert len(rects) == len(texts)
    return {
        str(text.find(f"{_SVG}title").text): tuple(float(rect.get(k)) for k in ("x", "y", "width"))  # type: ignore[union-attr, arg-type, misc]
        for rect, text in zip(rects, texts, strict=True)
    }


def test_a_small_graph() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.identity(x, name="y")
        with tf.control_dependencies([y]):
            tf.no_op(name="done")
    html = graph._repr_html_()
    assert html.startswith("<div><b>Graph</b>: 3 nodes; 1 Placeholder, 1 Identity, 1 NoOp</div>")
    boxes = _boxes(html)
    assert list(boxes) == ["x", "y", "done"]
    tops = [top for _, top, _ in boxes.values()]
    assert tops == sorted(tops) and len(set(tops)) == 3
    assert html.count("<path") == 2
    assert tf.Graph()._repr_html_() == "<div><b>Graph</b>: 0 nodes</div>"


def test_a_large_graph_is_drawn_by_scopes_and_boxes_do_not_overlap() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4, 8])
        for layer in range(9):
            with tf.name_scope(f"layer{layer}"):
                for part in range(4):
                    with tf.name_scope(f"part{part}"):
                        x = tf.nn.relu(tf.matmul(x, tf.zeros([8, 8])) + 1.0)
    boxes = _boxes(graph._repr_html_())
    assert len(boxes) <= drawing.MOST and "layer3/part2" in boxes
    rows: dict[float, list[tuple[float, float]]] = {}
    for left, top, width in boxes.values():
        rows.setdefault(top, []).append((left, left + width))
    for row in rows.values():
        row.sort()
        assert all(end < start for (_, end), (start, _) in zip(row, row[1:], strict=False))


def test_more_than_fits_and_loops() -> None:
    with tf.Graph().as_default() as graph:
        for number in range(drawing.MOST + 5):
            tf.constant(1.0, name=f"c{number}")
    html = graph._repr_html_()
    assert len(_boxes(html)) == drawing.MOST and "and 5 more" in html
    with tf.Graph().as_default() as graph:
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    assert "while/Merge" in _boxes(graph._repr_html_())


def test_names_are_text() -> None:
    page = drawing.table([("<script>", "a&b")], ("<b>",))
    assert "<script>" not in page and "&lt;script&gt;" in page and "a&amp;b" in page


def test_other_objects() -> None:
    with tf.Graph().as_default():
        x = tf.constant([1.0], name="x")
        y = tf.square(x, name="y")
        page = y._repr_html_()
        for part in ("y:0", "float32", "(1,)", "Square of x:0", "test_drawing.py"):
            assert part in page
        sess = tf.Session()
        assert re.fullmatch(
            r"<tf\.Session of the graph 0x\w+ of 2 nodes.*, 0 programs>", repr(sess)
        )
        sess.run(y)
        assert "1 programs" in repr(sess) and "this process" in sess._repr_html_()
        sess.close()
        assert "closed" in repr(sess) and "closed" in sess._repr_html_()
        assert "elements" in tf.data.Dataset.range(3)._repr_html_()
    spec = tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:1", "b:2"]})
    assert "<td" in spec._repr_html_() and "b:2" in spec._repr_html_()
    assert repr(spec) == str(spec)


@pytest.mark.parametrize("name", ["Graph", "Session"])
def test_drawing_adds_nothing(name: str) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.constant(1.0)
        before = len(graph.get_operations()), graph.mutation_version
        {"Graph": graph, "Session": sess}[name]._repr_html_()
        assert (len(graph.get_operations()), graph.mutation_version) == before
