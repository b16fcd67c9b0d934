"""The programs behind ``penstock train NAME``: each a command over a model of ``penstock.models``.

``catalogue`` lists them, without importing any. A program builds its model's graph and hands it to
``training``, which keeps checkpoints and TensorBoard's logs in the run's folder, shows a bar, and
goes on from where the last run of the folder stopped; started as a task of a cluster
(``penstock train NAME --ps 2 --workers 3``) it takes its part there.
"""
