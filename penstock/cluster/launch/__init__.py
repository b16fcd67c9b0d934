"""Starting a job's tasks: local processes, a Ray cluster, and manifests for Kubernetes.

A job is a script that runs as several tasks (parameter servers, workers, a chief, an evaluator).
Each task is told who it is by ``TF_CONFIG`` and by flags (``job``); what to start, restart and
stop is decided by a state machine (``supervisor``) that does no I/O; ``local`` and ``on_ray`` carry
its decisions out.  ``manifests`` and its siblings write the same job for Kubernetes.

Nothing here imports the rest of Penstock: a task's script does.
"""
