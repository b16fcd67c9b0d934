"""Many tasks as one session: masters and workers, how jobs are started, how they would train.

In: a cluster's description.  Out: sessions on targets; processes; predictions.
"""
