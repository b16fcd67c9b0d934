"""``python -m benchmarks.word2vec``: words a second beside gensim, and what the vectors are worth.

The same words (files or folders, and Python's reference), 100 dimensions, windows of 5, 5 noise
words, threshold 1e-3, words that occur 5 times or more; by turns, a process each: ``penstock train
word2vec`` by one thread that runs steps and by as many as there are cores, gensim with as many
workers. Rates are raw words a second, elapsed and of processor time, the thinning and the reading
of lists included, compiling vocabularies not; Penstock's are what the command says, with its
checkpoints and summaries. ``--readings`` below 20 are for rates alone.

gensim is looked for in the Python of ``--gensim``; without one its rows are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
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

# Words a second, elapsed and of processor time.
Rates = tuple[float, float]


def _passages(texts: list[str]) -> list[Passage]:
    return [passage for text in texts for passage in read_texts(text)] + python_passages()


def gensim(python: str, text: Path, vectors: Path, flavor: str, readings: int,
           workers: int) -> Rates:  # fmt: skip
    """Words a second of a process's training: elapsed, and of processor time."""
    words = [python, "-c", GENSIM, str(text), str(vectors), flavor, str(readings), str(workers)]
    elapsed, used = json.loads(_said(words).splitlines()[-1])
    raw = readings * len(text.read_text(encoding="utf-8").split())
    return raw / elapsed, raw / used


def penstock(text: Path, vectors: Path, flavor: str, readings: int, threads: int) -> Rates:
    """The same of ``penstock train word2vec``."""
    logdir = vectors.with_suffix(".run")
    shutil.rmtree(logdir, ignore_errors=True)
    words = [sys.executable, "-m", "penstock", "train", "word2vec", "--text", str(text),
             "--flavor", flavor, "--epochs", str(readings), "--threads", str(threads),
             "--logdir", str(logdir)]  # fmt: skip
    said = re.search(r"trained at ([\d,]+) words/s, ([\d,]+) a second of CPU", _said(words))
    assert said, "the command names its rate"
    shutil.copy(logdir / "vectors.txt", vectors)
    elapsed, used = (float(number.replace(",", "")) for number in said.groups())
    return elapsed, used


def _said(words: list[str]) -> str:
    done = subprocess.run(
        words, check=True, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    return done.stdout


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
    systems: dict[str, tuple[Callable[..., Rates], int]] = {
        "Penstock, 1 thread": (penstock, 1),
        f"Penstock, {cores} threads": (penstock, cores),
    }
    if args.gensim:
        systems[f"gensim, {cores} workers"] = (partial(gensim, args.gensim), cores)
    passages = _passages(args.texts)
    with tempfile.TemporaryDirectory() as name:
        text, vectors = Path(name) / "text", Path(name) / "vectors"
        text.write_text("".join(f"{' '.join(p)}\n" for p in passages), encoding="utf-8")
        for flavor in ("skip-gram", "cbow"):
            found: dict[str, list[Rates]] = {system: [] for system in systems}
            last = {}
            for _ in range(args.rounds):
                for system, (measured, threads) in systems.items():
                    found[system].append(measured(text, vectors, flavor, args.readings, threads))
                    if args.analogies:
                        last[system] = answered(Embeddings.read(vectors), args.analogies)[-1]
            for system, rates in found.items():
                elapsed, used = (statistics.median(row[k] for row in rates) for k in (0, 1))
                print(f"{flavor:10} {system:20} {elapsed:10,.0f} words/s {used:10,.0f} a CPU second"
                      f"  {' '.join(last.get(system, '').split())}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
