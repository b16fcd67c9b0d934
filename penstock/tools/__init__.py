"""What looks at graphs and steps, and what frames a program: profiles, debuggers, tests, flags.

In: graphs, traces, arguments.  Out: reports.
"""
