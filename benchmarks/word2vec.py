"""``python -m benchmarks.word2vec``: words a second beside gensim, and what the vectors are worth.

The same words (files or folders, and Python's reference), 100 dimensions, windows of 5, 5 noise
words, threshold 1e-3, words that occur 5 times or more; by turns, a process each: Penstock's graph
by one thread that runs steps and by as many as there are cores, gensim with as many workers.
Rates are raw words a second, elapsed and of processor time, the thinning and the reading of lists
included, compiling vocabularies not. ``--readings`` below 20 are for rates alone.

gensim is looked for in the Python of ``--gensim``; without one its rows are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from penstock.models.texts import read_texts
from penstock.models.word2vec import answered
from penstock.models.word2vec_embeddings import Embeddings
from penstock.models.word2vec_text import Passage, python_passages

GENSIM = """
import json, sys, time
from gensim.models import Word2Vec
text, vectors, flavor, readings, workers = sys.argv[1:]
passages = [line.split() for line in open(text, encoding="utf-8")]
model = Word2Vec(vector_size=100, window=5, min_count=5, negative=5, sample=1e-3,
                 sg=int(flavor == "skip-gram"), workers=int(workers))
model.build_vocab(passages)
began = time.perf_counter(), time.process_time()
model.train(passages, total_examples=len(passages), epochs=int(readings))
print(json.dumps([time.perf_counter() - began[0], time.process_time() - began[1]]))
model.wv.save_word2vec_format(vectors)
"""

PENSTOCK = """
import json, sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import numpy as np, torch
import penstock as tf
from penstock.models import word2vec_in_graph as in_graph
from penstock.models.word2vec_embeddings import Embeddings
from penstock.models.word2vec_text import encode, vocabulary
text, vectors, flavor, readings, loops = sys.argv[1:]
torch.set_num_threads(1)
passages = [line.split() for line in open(text, encoding="utf-8")]
numbers = vocabulary(passages, 5)
words = encode(passages, numbers)
counts = np.bincount(words.words, minlength=len(numbers))
cbow = flavor == "cbow"
settings = in_graph.fitted(in_graph.Settings(
    cbow=cbow, learning_rate=0.05 if cbow else 0.025, groups=8 if cbow else 16), counts)
total = int(readings) * in_graph.steps_of_a_reading(settings, counts)
step = tf.train.get_or_create_global_step()
network = in_graph.Network(settings, words, counts, tf.cast(step, tf.float32) / total)
with tf.control_dependencies([network.train_op]):
    counted = tf.assign_add(step, 1)
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    train = session.make_callable([counted.op])
    began = time.perf_counter(), time.process_time()
    def loop(steps):
        for _ in range(steps):
            train()
    with ThreadPoolExecutor(int(loops)) as threads:
        for _ in range(int(readings)):
            steps, _ = session.run([network.steps, network.begin])
            list(threads.map(loop, [steps // int(loops)] * int(loops)))
    print(json.dumps([time.perf_counter() - began[0], time.process_time() - began[1]]))
    Embeddings(list(numbers), session.run(network.embeddings)).write(Path(vectors))
"""


def _passages(texts: list[str]) -> list[Passage]:
    return [passage for text in texts for passage in read_texts(text)] + python_passages()


def turn(python: str, program: str, words: list[str], threads: int) -> tuple[float, float]:
    """Seconds of a process's training: elapsed, and of its threads."""
    done = subprocess.run(
        [python, "-c", program, *words, str(threads)], check=True, stdout=subprocess.PIPE,
        text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    elapsed, used = json.loads(done.stdout.splitlines()[-1])
    return elapsed, used


def main() -> None:
    """Prints a table for each flavor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", nargs="*", help="files or folders beside Python's reference")
    parser.add_argument("--gensim", help="a Python that has gensim")
    parser.add_argument("--analogies", type=Path, help="questions-words.txt")
    parser.add_argument("--readings", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    systems = {
        "Penstock, 1 thread": (sys.executable, PENSTOCK, 1),
        f"Penstock, {cores} threads": (sys.executable, PENSTOCK, cores),
    }
    if args.gensim:
        systems[f"gensim, {cores} workers"] = (args.gensim, GENSIM, cores)
    passages = _passages(args.texts)
    raw = sum(map(len, passages)) * args.readings
    with tempfile.TemporaryDirectory() as name:
        text, vectors = Path(name) / "text", Path(name) / "vectors"
        text.write_text("".join(f"{' '.join(p)}\n" for p in passages), encoding="utf-8")
        for flavor in ("skip-gram", "cbow"):
            found: dict[str, list[tuple[float, float]]] = {system: [] for system in systems}
            last = {}
            for _ in range(args.rounds):
                for system, (python, program, threads) in systems.items():
                    words = [str(text), str(vectors), flavor, str(args.readings)]
                    found[system].append(turn(python, program, words, threads))
                    if args.analogies:
                        last[system] = answered(Embeddings.read(vectors), args.analogies)[-1]
            for system, times in found.items():
                elapsed, used = (statistics.median(row[k] for row in times) for k in (0, 1))
                print(f"{flavor:10} {system:20} {raw / elapsed:10,.0f} words/s"
                      f" {raw / used:10,.0f} a CPU second"
                      f"  {' '.join(last.get(system, '').split())}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
