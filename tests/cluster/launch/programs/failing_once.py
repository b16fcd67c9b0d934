"""A worker that ends with a bad status after its first step; the one started again is done."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import penstock as tf

config = json.loads(os.environ["TF_CONFIG"])
job, index = config["task"]["type"], config["task"]["index"]
directory, how = Path(sys.argv[1]), sys.argv[2]


def main(_: list[str]) -> int:
    server = tf.train.Server(config["cluster"], job, index)
    with (directory / "pids").open("a") as file:
        file.write(f"{job} {index} {os.getpid()}\n")
    if job == "ps":
        server.join()
        return 0
    with tf.device("/job:ps/task:0"):
        count = tf.Variable(1)
    with tf.Session(server.target) as session:
        session.run(count.initializer)
        session.run(count.assign_add(1))
    return 3 if (directory / "pids").read_text().count("worker 0") == 1 else 0


if how == "app":
    tf.app.run(main, sys.argv[:1])
sys.exit(main([]))
