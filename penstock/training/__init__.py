"""Training: input pipelines, optimizers, sessions that recover, replicas, estimators.

In: losses and data.  Out: steps that update variables, and loops that run them.
"""
