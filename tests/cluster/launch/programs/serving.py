"""A task with a real server: notes its process, says that it serves, and waits to be stopped."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import penstock as tf

config = json.loads(os.environ["TF_CONFIG"])
job, index = config["task"]["type"], config["task"]["index"]
server = tf.train.Server(config["cluster"], job, index)
directory = Path(sys.argv[1])
with (directory / "pids").open("a") as file:
    file.write(f"{job} {index} {os.getpid()}\n")
if job == "ps":
    server.join()
# The job is done once the parameter server has run twice.
while (directory / "pids").read_text().count("ps 0") < 2:
    time.sleep(0.05)
