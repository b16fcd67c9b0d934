"""Where programs import hyper-parameters from: explicit re-exports, no logic."""

from penstock.contrib.training.hparams import HParams as HParams, parse_values as parse_values
