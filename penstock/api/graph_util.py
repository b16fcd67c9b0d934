"""``tf.graph_util``: GraphDefs taken apart and frozen; explicit re-exports, no logic."""

from penstock.foundation.graph.graphdef import import_graph_def as import_graph_def
from penstock.storage.export.frozen import (
    convert_variables_to_constants as convert_variables_to_constants,
)
from penstock.storage.export.sub_graph import (
    extract_sub_graph as extract_sub_graph,
    must_run_on_cpu as must_run_on_cpu,
    remove_training_nodes as remove_training_nodes,
    tensor_shape_from_node_def_name as tensor_shape_from_node_def_name,
)
