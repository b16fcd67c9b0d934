"""An ensemble of boosted trees that grows layer by layer.

State: the trees, a weight each, how far each has grown, which nodes were pruned into which; a stamp
that moves with every change; one lock.  A tree is one list a field over its nodes.  A split keeps
the value that its node had as a leaf, since examples whose way ended there have that value cached.

Sums are of float32 in the order of TensorFlow 1.15, so that its trees are these.

Source: Ponomareva et al., "TF Boosted Trees: A scalable TensorFlow based framework for gradient
boosting" (2017).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)
_ENOUGH_FOR_BIAS = np.float32(0.01)
_F = np.float32


class Split(NamedTuple):
    """The best split of a node that was found."""

    feature: int
    threshold: int
    gain: Any
    left: Any
    right: Any


@dataclass
class Tree:
    """A tree: of each node its split, or -1 for the feature of a leaf; its value and gain."""

    feature: list[int] = field(default_factory=list)
    threshold: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    value: list[Any] = field(default_factory=list)
    gain: list[Any] = field(default_factory=list)
    weight: Any = _F(1.0)
    layers: int = 0
    finished: bool = False
    pruned: list[tuple[int, Any]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.feature)

    def add(self, value: Any) -> int:
        """A new leaf; its number."""
        for each in (self.threshold, self.left, self.right):
            each.append(0)
        self.feature.append(-1)
        self.value.append(_F(value))
        self.gain.append(_F(0.0))
        return len(self) - 1

    def split(self, node: int, split: Split, rate: Any) -> None:
        """Makes a leaf a split with two new leaves."""
        value = self.value[node]
        left = self.add(value + split.left * rate)
        right = self.add(value + split.right * rate)
        self.feature[node], self.threshold[node] = split.feature, split.threshold
        self.left[node], self.right[node], self.gain[node] = left, right, split.gain

    def walk(self, nodes: Any, features: Any) -> Any:
        """The leaves that examples come to.

        Args:
          nodes: [batch], where each begins.
          features: [features, batch], the bucket of each.
        """
        feature, threshold = np.array(self.feature), np.array(self.threshold)
        left, right = np.array(self.left), np.array(self.right)
        nodes, batch = nodes.copy(), np.arange(features.shape[1])
        while True:
            open_ = feature[nodes] >= 0
            if not open_.any():
                return nodes
            rows, here = batch[open_], nodes[open_]
            low = features[feature[here], rows] <= threshold[here]
            nodes[open_] = np.where(low, left[here], right[here])

    def prune(self) -> None:
        """Makes splits that lose leaves again, from the lowest, and keeps where each node went."""
        gone: dict[int, int] = {}
        self._prune_below(0, gone)
        if not gone:
            return
        kept = [node for node in range(len(self)) if node not in gone]
        number = {node: i for i, node in enumerate(kept)}
        for node in range(len(self)):
            last, change = node, _F(0.0)
            while last in gone:
                change += self.value[gone[last]] - self.value[last]
                last = gone[last]
            self.pruned.append((number[last], change))
        for each in (self.feature, self.threshold, self.left, self.right, self.value, self.gain):
            each[:] = [each[node] for node in kept]
        for node in range(len(self)):
            if self.feature[node] >= 0:
                self.left[node] = number[self.left[node]]
                self.right[node] = number[self.right[node]]

    def _prune_below(self, node: int, gone: dict[int, int]) -> None:
        if self.feature[node] < 0:
            return
        below = self.left[node], self.right[node]
        for each in below:
            self._prune_below(each, gone)
        if self.gain[node] < 0 and all(self.feature[each] < 0 for each in below):
            gone.update(dict.fromkeys(below, node))
            self.feature[node] = -1
            self.gain[node] = _F(0.0)


class TreeEnsemble:
    """Trees that are grown in steps.

    Args:
      name: for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.RLock()
        self.initialized = False
        self.reset()

    def reset(self) -> None:
        """Forgets all trees."""
        self.stamp = -1
        self.trees: list[Tree] = []
        self.trees_attempted = self.layers_attempted = 0
        self.last_layer = (0, 0)

    def states(self) -> tuple[int, int, int, int, tuple[int, int]]:
        """Stamp, numbers of trees, of finished trees and of layers, range of the last layer."""
        finished = len(self.trees)
        if self.trees and not self.trees[-1].finished:
            finished -= 1
        start, end = self.last_layer
        return self.stamp, len(self.trees), finished, self.layers_attempted, (start, max(1, end))

    # ---- growing -------------------------------------------------------------------------------

    def center(self, logit: Any) -> bool:
        """Moves the root of the first tree; whether it may have to be moved again."""
        self.stamp += 1
        if not self.trees:
            self._new_tree(logit)
            return True
        tree = self.trees[0]
        again = bool(abs(_F(logit) / tree.value[0]) > _ENOUGH_FOR_BIAS)
        tree.value[0] = tree.value[0] + _F(logit)
        return again

    def _new_tree(self, value: Any = 0.0) -> Tree:
        tree = Tree()
        tree.add(value)
        self.trees.append(tree)
        return tree

    def grow(self, splits: dict[int, Split], depth: int, rate: Any, pruning: int) -> None:
        """Splits leaves of the last tree; begins the next one when it is deep enough.

        Args:
          splits: the best split of each node.
          depth: how many layers a tree gets.
          rate: what the values of leaves are multiplied with.
          pruning: one of the numbers above.
        """
        self.layers_attempted += 1
        if not self.trees or not self.trees[-1].layers:
            self.trees_attempted += 1
        tree = self.trees[-1] if self.trees else self._new_tree()
        first = len(tree)
        for node in sorted(splits):
            if pruning != PRE_PRUNING or splits[node].gain >= 0:
                tree.split(node, splits[node], _F(rate))
        self.stamp += 1
        if len(tree) > first:
            self.last_layer = (first, len(tree))
            tree.layers += 1
            if tree.layers >= depth:
                if pruning == POST_PRUNING:
                    tree.prune()
                tree.finished = True
                self._new_tree()
                self.last_layer = (0, 1)

    # ---- predicting ----------------------------------------------------------------------------

    def predict(self, features: Any) -> Any:
        """The logits of examples.

        Args:
          features: [features, batch], the bucket of each.

        Returns:
          [batch, 1].
        """
        batch = features.shape[1]
        logits = np.zeros(batch, np.float32)
        for tree in self.trees:
            leaves = tree.walk(np.zeros(batch, np.int64), features)
            logits += tree.weight * np.array(tree.value, np.float32)[leaves]
        return logits[:, None]

    def predict_from(self, trees: Any, nodes: Any, features: Any) -> tuple[Any, Any, Any]:
        """What logits change by since examples came to a node of a tree.

        Args:
          trees, nodes: [batch]; a node below 0 is that of no tree yet.
          features: [features, batch].

        Returns:
          The changes [batch, 1], and where examples are now.
        """
        trees, nodes = trees.astype(np.int64), nodes.astype(np.int64)
        total = np.zeros(len(trees), np.float32)
        if not self.trees:
            return total[:, None], trees, np.zeros_like(nodes)
        change = np.zeros(len(trees), np.float32)
        for number in range(int(trees.min(initial=0)), len(self.trees)):
            here = np.flatnonzero(trees == number)
            if not len(here):
                continue
            tree = self.trees[number]
            value = np.array(tree.value, np.float32)
            known = here[nodes[here] >= 0]
            self._correct(tree, known, nodes, change)
            change[known] -= value[nodes[known]]
            nodes[here] = np.maximum(nodes[here], 0)
            nodes[here] = tree.walk(nodes[here], features[:, here])
            change[here] += value[nodes[here]]
            total[here] += tree.weight * change[here]
            if number + 1 < len(self.trees):
                change[here] = 0.0
                trees[here], nodes[here] = number + 1, -1
        return total[:, None], trees, nodes

    @staticmethod
    def _correct(tree: Tree, known: Any, nodes: Any, change: Any) -> None:
        """Moves examples from nodes that were pruned."""
        if not tree.pruned:
            return
        moved = np.array([each for each, _ in tree.pruned])
        by = np.array([each for _, each in tree.pruned], np.float32)
        before = nodes[known]
        nodes[known] = moved[before]
        change[known] += by[before]


def best_splits(
    features: Sequence[int], found: Sequence[tuple[Any, Any, Any, Any, Any]]
) -> dict[int, Split]:
    """The split of largest gain of each node; of equal ones that of the smallest feature.

    Args:
      features: the features' numbers.
      found: of each feature its nodes, gains, thresholds, and the values left and right.
    """
    best: dict[int, Split] = {}
    for feature, (nodes, gains, thresholds, left, right) in zip(features, found, strict=True):
        for i, node in enumerate(nodes.tolist()):
            known = best.get(node)
            if known is None or (-gains[i], feature) < (-known.gain, known.feature):
                best[node] = Split(feature, int(thresholds[i]), gains[i], left[i], right[i])
    return best
