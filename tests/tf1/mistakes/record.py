"""Writes ``messages.json`` anew: ``python -m tests.tf1.mistakes.record``; look at what changed.

For each mistake what TensorFlow 1.15 says, without its traceback, and what Penstock says.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import penstock as tf
from tests.peers import TF115
from tests.tf1.mistakes import beginners

FILE = Path(__file__).with_name("messages.json")
_HERE = str(Path(beginners.__file__))


def plain(message: str) -> str:
    """A message without what differs: addresses, the file's place, what newer Pythons guess."""
    text = message.replace(_HERE, "beginners.py")
    text = re.sub(r"beginners\.py:\d+", "beginners.py:N", text)
    text = re.sub(r"\. Did you mean '\w+'\?$", "", text)
    return re.sub(r"0x[0-9a-f]+", "0x...", text)


def ours() -> dict[str, list[str]]:
    """What Penstock says."""
    return {name: [kind, plain(text)] for name, (kind, text) in beginners.said(tf).items()}


def theirs() -> dict[str, list[str]]:
    """What TensorFlow 1.15 says, its first line."""
    done = subprocess.run(
        [str(TF115), "-W", "ignore", _HERE],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=600, check=True,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip
    found = json.loads(done.stdout)
    first = {name: [kind, text.split("\n")[0]] for name, (kind, text) in found.items()}
    # Lines of TensorFlow's own sources tell nobody anything.
    return {
        n: [kind, re.sub(r" \(defined at .*?\)", "", text)] for n, (kind, text) in first.items()
    }


if __name__ == "__main__":
    of_115, here = theirs(), ours()
    rows = {name: {"tensorflow 1.15": of_115[name], "penstock": here[name]} for name in here}
    FILE.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
