"""Programs run, state between steps, sessions.

In: what the compiler wrote, and values fed.  Out: values fetched; resources that outlive steps.
"""
