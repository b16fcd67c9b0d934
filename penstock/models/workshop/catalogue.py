"""Which programs there are; nothing is imported, so that a list of them is shown at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A program of the workshop.

    Attributes:
      name: the command's.
      about: what it shows, a line.
      distributed: whether it runs as parameter servers and workers, too.
    """

    name: str
    about: str
    distributed: bool = False

    @property
    def module(self) -> str:
        """The module whose ``app`` is the command."""
        return f"penstock.models.workshop.{self.name.replace('-', '_')}"


PROGRAMS = (
    Program("ridge", "Ridge regression: in closed form, and by gradients.", distributed=True),
    Program("xor", "Exclusive or by two layers, every value watched by summaries."),
    Program("mnist", "Handwritten digits by softmax, layers or convolutions.", distributed=True),
    Program("word2vec", "Word vectors: skip-gram and CBOW, fed or in the graph.", distributed=True),
    Program("sentences", "Reviews for or against a film, by convolutions over word vectors."),
    Program("language-model", "The next word of a text, by LSTM layers."),
    Program("translate", "Sequences rewritten by an encoder, attention and a decoder."),
    Program("cartpole", "A pole balanced by policy gradients or deep Q-learning."),
    Program("image-nets", "Step times of AlexNet, VGG, GoogLeNet, OverFeat and Inception v3."),
)
