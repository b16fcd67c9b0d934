"""The machine that this process runs on: what it has, and what of it can be used.

    hardware      processor, cores, memory, and a name of all that for caches
    instructions  the names of instruction sets, from what /proc/cpuinfo says
    load          what the cores do now, and how much of that is others' work
    cgroups       the limits that a container sets
    gpus          GPUs that the operating system shows
    compilers     C++ compilers, and Python's headers
    spare         whether there is enough for a compiler beside a step
    proc          reading such files

Everything is read from the operating system when it is asked for; nothing here imports torch or
NumPy, so that it can be asked before they are.  Functions that read files take the ``root`` under
which ``proc`` and ``sys`` lie; a file that is missing or makes no sense says nothing.
"""
