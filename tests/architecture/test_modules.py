"""Imports stand at the top of modules, no modules import each other, and none reaches inside."""

from __future__ import annotations

import ast
from collections import Counter

from tests.architecture import modules

# What is slow to import or optional is imported where it is needed; so is all of a command's work.
LATE = {
    "PIL", "simplejpeg", "fsspec", "ray", "grpc", "scipy", "tensorboard", "torch",
    "sklearn", "matplotlib", "gymnasium",
}  # fmt: skip
LATE_ROOMS = ("penstock.cli.", "penstock.cluster.launch.")

# Private names that TensorFlow's programs know, and those of Python and torch.
THEIRS = {
    "_add_control_input", "_add_control_inputs", "_apply_op", "_as_graph_element",
    "_as_node_def_input", "_as_ref", "_asdict", "_AsTensor", "_attr_scope", "_back_prop", "_C",
    "_call", "_can_use_cholesky", "_cdata", "_collections", "_component_specs",
    "_control_flow_context", "_create_slots", "_current_frames", "_dense_shape", "_devices",
    "_distributed_container", "_element_spec", "_exit", "_external_values", "_fields", "_finish",
    "_FixControlInputsAndContext", "_from_components", "_from_proto_fn",
    "_get_control_flow_context", "_get_partitions", "_get_save_slice_info", "_get_variable_list",
    "_getframe", "_grad_state", "_gradients_applied", "_graph_def_versions", "_graph_element",
    "_indices", "_initial_value", "_initializer_op", "_InitializeValues", "_iterator_resource",
    "_local_results", "_make", "_name", "_names_in_use", "_nested_contexts", "_network_nodes",
    "_num_replicas_in_sync", "_Options", "_original_op", "_partitioned_vars", "_prepare",
    "_record_op_seen_by_control_dependencies", "_reduce", "_ref", "_remove_all_control_inputs",
    "_replace", "_resource", "_save_slice_info", "_scope", "_set_attr", "_set_control_flow_context",
    "_set_device", "_set_save_slice_info", "_shared_name", "_SUMMARY_COLLECTION", "_timeout",
    "_to_components", "_total_num_replicas", "_type_spec", "_unsafe_unfinalize",
    "_update_config_proto", "_update_input", "_use_count", "_use_locking", "_values",
    "_VARIABLE_COLLECTIONS", "_variant_tensor", "_vars",
}  # fmt: skip


def _arrows(in_functions: bool) -> dict[str, set[str]]:
    return {
        name: {
            other
            for other, in_function in modules.imports(name)
            if other in modules.files() and other != name and in_function <= in_functions
        }
        for name in modules.files()
    }


def test_no_circle_between_modules() -> None:
    assert modules.circles(_arrows(in_functions=False)) == []


def test_a_circle_is_found() -> None:
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}
    assert modules.circles(arrows) == [["a", "b", "c"]]


def test_imports_stand_at_the_top() -> None:
    late = [
        f"{name} imports {other} inside a function"
        for name in modules.files()
        if not name.startswith(LATE_ROOMS)
        for other, in_function in modules.imports(name)
        if in_function and other.partition(".")[0] not in LATE
    ]
    assert not late, "\n".join(late)


def _own_names(tree: ast.Module) -> set[str]:
    """The private names that a module gives to something itself."""
    own = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute) and _of_self(node):
            own.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            own.add(node.value)  # of __slots__
    return own


def _of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def test_private_names_stay_in_their_modules() -> None:
    found: Counter[str] = Counter()
    for name in modules.files():
        tree = modules.tree(name)
        own = _own_names(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or not node.attr.startswith("_"):
                continue
            private = not node.attr.startswith("__") and node.attr not in THEIRS
            if private and not _of_self(node) and node.attr not in own:
                root = ast.unparse(node.value).split(".")[0]
                if root not in ("torch", "aten"):
                    found[f"{name}: {node.attr}"] += 1
    assert not found, found.most_common()
