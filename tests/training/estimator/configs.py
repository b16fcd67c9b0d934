"""What RunConfigs say under many TF_CONFIGs: for TensorFlow and Penstock (and Python 3.7).

As a program, ``python configs.py OUTPUT.json`` writes what TensorFlow 1.15's say.
"""

import itertools
import json
import os
import sys

_HOSTS = {"chief": ["c0:1"], "worker": ["w0:1", "w1:1"], "ps": ["p0:1", "p1:1"]}
_MASTER = {"master": ["m0:1"], "worker": ["w0:1"], "ps": ["p0:1"], "abc": ["a:1"]}
CLUSTERS = [
    None, {}, _HOSTS, _MASTER, {"chief": ["c0:1"]}, {"worker": ["w0:1"]},
    {"chief": ["c0:1", "c1:1"]}, {"chief": ["c0:1"], "master": ["m0:1"]},
]  # fmt: skip
TASKS = [
    None, {}, {"type": "worker"}, {"index": 0}, {"type": "chief", "index": 0},
    {"type": "worker", "index": 1}, {"type": "worker", "index": 5}, {"type": "ps", "index": "1"},
    {"type": "evaluator", "index": 0}, {"type": "evaluator", "index": -1},
    {"type": "master", "index": 0}, {"type": "abc", "index": 0}, {"type": "nobody", "index": 0},
    {"type": "worker", "index": 0},
]  # fmt: skip
MORE = [
    {}, {"session_master": "grpc://s:1", "eval_session_master": "grpc://e:1"},
    {"model_dir": "dir", "service": {"a": 1}}, {"environment": "cloud"},
    {"model_dir": ""}, {"service": 3},
]  # fmt: skip
PROPERTIES = (
    "task_type", "task_id", "is_chief", "master", "evaluation_master", "num_ps_replicas",
    "num_worker_replicas", "global_id_in_cluster", "model_dir", "service", "save_summary_steps",
    "save_checkpoints_steps", "save_checkpoints_secs", "tf_random_seed", "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours", "log_step_count_steps", "device_fn", "protocol",
    "train_distribute", "eval_distribute", "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
)  # fmt: skip
OF_CLUSTER = PROPERTIES[:10]
ARGUMENTS = [
    {}, {"save_checkpoints_steps": 5}, {"save_checkpoints_secs": 7}, {"save_checkpoints_steps": 0},
    {"save_checkpoints_steps": 5, "save_checkpoints_secs": 7}, {"save_checkpoints_secs": None},
    {"save_checkpoints_steps": -1}, {"keep_checkpoint_max": -1}, {"keep_checkpoint_max": None},
    {"log_step_count_steps": 0}, {"log_step_count_steps": None}, {"tf_random_seed": 1.5},
    {"model_dir": ""}, {"model_dir": "x"}, {"session_config": 1}, {"protocol": "grpc"},
    {"protocol": "http"}, {"keep_checkpoint_every_n_hours": 0}, {"save_summary_steps": -1},
    {"experimental_max_worker_delay_secs": 1.5}, {"session_creation_timeout_secs": 0},
    {"device_fn": 3}, {"save_summary_steps": None},
]  # fmt: skip
REPLACED = [
    {"save_checkpoints_steps": 5}, {"save_checkpoints_secs": 5}, {"save_checkpoints_secs": None},
    {"save_checkpoints_steps": 5, "save_checkpoints_secs": 5}, {"model_dir": "y"}, {"master": "z"},
    {"keep_checkpoint_max": -2}, {"device_fn": len}, {"tf_random_seed": 3},
]  # fmt: skip


def described(make, names=PROPERTIES):
    try:
        config = make()
    except Exception as error:
        return type(error).__name__
    said = {name: getattr(config, name) for name in names if hasattr(type(config), name)}
    if "service" in said and not hasattr(config, "_service"):
        del said["service"]
    said["cluster"] = {k: list(v) for k, v in config.cluster_spec.as_dict().items()}
    session = config.session_config
    said["filters"] = None if session is None else list(session.device_filters)
    said["session"] = None if session is None else str(session)
    return said


def all_configs(tf):
    kinds = {"estimator": tf.estimator.RunConfig, "learn": tf.contrib.learn.RunConfig}
    # What the older form has no value for there.
    learn = [n for n in OF_CLUSTER if n not in ("service", "global_id_in_cluster")]
    found = {}
    grid = list(itertools.product(CLUSTERS, TASKS, MORE[:1]))
    grid += itertools.product(CLUSTERS[:4], TASKS[4:9:2], MORE[1:])
    for cluster, task, more in grid:
        tf_config = dict(more)
        if cluster is not None:
            tf_config["cluster"] = cluster
        if task is not None:
            tf_config["task"] = task
        text = os.environ["TF_CONFIG"] = json.dumps(tf_config, sort_keys=True)
        for kind, make in kinds.items():
            if kind == "learn" and more.get("model_dir") == "":
                continue  # an empty name, which is refused here
            names = learn if kind == "learn" else OF_CLUSTER
            found[f"{kind} {text}"] = described(make, names)
    del os.environ["TF_CONFIG"]
    for kwargs in ARGUMENTS:
        key = f"made with {sorted(kwargs.items())}"
        found[key] = described(lambda kwargs=kwargs: kinds["estimator"](**kwargs))
    for kwargs in REPLACED:
        key = "replaced {}".format(
            sorted((k, getattr(v, "__name__", v)) for k, v in kwargs.items())
        )
        found[key] = described(lambda kwargs=kwargs: kinds["estimator"]().replace(**kwargs))
    return found


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.logging.set_verbosity("ERROR")
    with open(sys.argv[1], "w") as output:
        json.dump(all_configs(tensorflow), output, indent=0, sort_keys=True)
