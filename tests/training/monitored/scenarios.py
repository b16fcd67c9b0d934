"""Programs that use training sessions, and what they did, in order: for TensorFlow and Penstock.

Each scenario is a function ``(tf, folder) -> list of lines``; it runs under both systems (and so
under Python 3.7).  As a program, ``python scenarios.py OUTPUT.json`` runs all under TensorFlow 1.15
and writes what happened.
"""

import json
import logging
import os
import re
import sys
import tempfile

LOGGERS = {"tensorflow": "tensorflow", "penstock": "penstock"}
# Lines of the log that both systems must have.
ESSENTIAL = re.compile(
    r"Graph was finalized\.|Running local_init_op\.|Done running local_init_op\.|Create Checkpoint"
    r"SaverHook\.|Saving checkpoints for \d+|Starting standard services\.|Starting queue runners\."
    r"|Model diverged|Restored model|Waiting for |global_step/sec|value ="
)
SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


def recorder(tf, trace, name="hook", **at):
    """A hook that records its calls; ``at`` has functions to call at some of them."""

    class Recorder(tf.train.SessionRunHook):
        def begin(self):
            trace.append(f"{name}.begin")
            if "begin" in at:
                at["begin"]()

        def after_create_session(self, session, coord):
            trace.append(f"{name}.after_create_session")
            if "after_create_session" in at:
                at["after_create_session"](session, coord)

        def before_run(self, run_context):
            trace.append(f"{name}.before_run stop={run_context.stop_requested}")
            return at["before_run"](run_context) if "before_run" in at else None

        def after_run(self, run_context, run_values):
            trace.append(f"{name}.after_run {plain(run_values.results)}")
            if "after_run" in at:
                at["after_run"](run_context, run_values)

        def end(self, session):
            trace.append(f"{name}.end")
            if "end" in at:
                at["end"](session)

    return Recorder()


def plain(value):
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value if value is None or isinstance(value, str) else float(value)


def attempt(trace, what, function, *args, **kwargs):
    """Calls; records the result, or the type of the error."""
    try:
        trace.append(f"{what} -> {plain(function(*args, **kwargs))}")
    except BaseException as error:
        trace.append(f"{what} raised {type(error).__name__}")


def counting(tf):
    """A graph that counts steps: (global step, op that adds one)."""
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def reading_first(tf):
    """As ``counting``; what hooks fetch as the global step is read before one is added.

    Nothing else would order the two, and TensorFlow does either.
    """
    step = tf.train.get_or_create_global_step()
    read = step + 0
    tf.add_to_collection("global_step_read_op_cache", read)
    with tf.control_dependencies([read]):
        return step, tf.assign_add(step, 1)


def once(function):
    """Calls ``function`` the first time only."""
    left = [True]

    def call(*args):
        if left:
            left.pop()
            return function(*args)
        return None

    return call


def raiser(error):
    def fail(*_):
        raise error

    return fail


def aborted(tf):
    return tf.errors.AbortedError(None, None, "a task was restarted")


def unavailable(tf):
    return tf.errors.UnavailableError(None, None, "a task is gone")


class Log(logging.Handler):
    def __init__(self, trace):
        super().__init__()
        self.trace = trace

    def emit(self, record):
        found = ESSENTIAL.match(record.getMessage())
        line = found and f"log: {found.group()}"
        # How often one looks while one waits is not compared.
        if line and self.trace[-1:] != [line]:
            self.trace.append(line)


def logged(tf, trace):
    """A context in which essential lines of the log are recorded."""
    import contextlib

    @contextlib.contextmanager
    def context():
        logger = logging.getLogger(LOGGERS[tf.__name__.split(".")[0].split("_core")[0]])
        handler, level = Log(trace), logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)

    return context()


# ---- the end of a loop -------------------------------------------------------------------------


@scenario
def stop_at_step(tf, folder):
    trace = []
    _, train = counting(tf)
    hooks = [recorder(tf, trace, "a"), tf.train.StopAtStepHook(3), recorder(tf, trace, "b")]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        trace.append(f"finalized {tf.get_default_graph().finalized}")
        while not sess.should_stop():
            trace.append(f"run -> {plain(sess.run(train))}")
        attempt(trace, "run after stop", sess.run, train)
    trace.append(f"finalized {tf.get_default_graph().finalized} graph {sess.graph}")
    return trace


@scenario
def stop_at_step_num_steps_and_recovery(tf, folder):
    trace = []
    _, train = counting(tf)
    fail = once(raiser(aborted(tf)))
    count = [0]

    def after_run(context, values):
        count[0] += 1
        if count[0] == 3:
            fail()

    hooks = [tf.train.StopAtStepHook(num_steps=4), recorder(tf, trace, after_run=after_run)]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        while not sess.should_stop():
            trace.append(f"run -> {plain(sess.run(train))}")
    return trace


@scenario
def end_of_data(tf, folder):
    trace = []
    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next()
    with tf.train.MonitoredSession(hooks=[recorder(tf, trace)]) as sess:
        while not sess.should_stop():
            trace.append(f"run -> {plain(sess.run(element))}")
    trace.append(f"closed {sess.should_stop()}")
    return trace


@scenario
def end_of_data_without_with(tf, folder):
    trace = []
    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1)).get_next()
    sess = tf.train.MonitoredSession(hooks=[recorder(tf, trace)])
    attempt(trace, "first", sess.run, element)
    attempt(trace, "second", sess.run, element)
    trace.append(f"should_stop {sess.should_stop()}")
    attempt(trace, "close", sess.close)
    attempt(trace, "close again", sess.close)
    attempt(trace, "should_stop", sess.should_stop)
    return trace


@scenario
def request_stop_in_before_run(tf, folder):
    trace = []
    _, train = counting(tf)
    hooks = [
        recorder(tf, trace, "a", before_run=lambda c: c.request_stop()),
        recorder(tf, trace, "b"),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        while not sess.should_stop():
            trace.append(f"run -> {plain(sess.run(train))}")
    return trace


@scenario
def stop_iteration_in_block(tf, folder):
    trace = []
    with tf.train.MonitoredSession(hooks=[recorder(tf, trace)]):
        raise StopIteration
    trace.append("went on")
    return trace


# ---- errors ------------------------------------------------------------------------------------


@scenario
def error_in_step(tf, folder):
    trace = []
    bad = tf.check_numerics(tf.constant(float("nan")), "bad")

    def block():
        with tf.train.MonitoredSession(hooks=[recorder(tf, trace)]) as sess:
            attempt(trace, "run", sess.run, bad)
            trace.append(f"should_stop {sess.should_stop()}")
            sess.run(bad)

    attempt(trace, "block", block)
    trace.append(f"finalized {tf.get_default_graph().finalized}")
    return trace


def _error_in(tf, where, make_error=lambda: ValueError("bad hook")):
    trace = []
    _, train = counting(tf)

    def block():
        hooks = [
            recorder(tf, trace, "a"),
            recorder(tf, trace, "b", **{where: raiser(make_error())}),
            recorder(tf, trace, "c"),
        ]
        with tf.train.MonitoredSession(hooks=hooks) as sess:
            trace.append(f"run -> {plain(sess.run(train))}")

    attempt(trace, "block", block)
    trace.append(f"finalized {tf.get_default_graph().finalized}")
    return trace


@scenario
def error_in_begin(tf, folder):
    return _error_in(tf, "begin")


@scenario
def error_in_after_create_session(tf, folder):
    return _error_in(tf, "after_create_session")


@scenario
def error_in_before_run(tf, folder):
    return _error_in(tf, "before_run")


@scenario
def error_in_after_run(tf, folder):
    return _error_in(tf, "after_run")


@scenario
def error_in_end(tf, folder):
    return _error_in(tf, "end")


@scenario
def out_of_range_in_after_run(tf, folder):
    return _error_in(tf, "after_run", lambda: tf.errors.OutOfRangeError(None, None, "end"))


@scenario
def nan_loss(tf, folder):
    trace = []
    for fails in (True, False):
        tf.reset_default_graph()
        loss = tf.constant(float("nan"))

        def block(fails=fails, loss=loss):
            hooks = [tf.train.NanTensorHook(loss, fail_on_nan_loss=fails)]
            with logged(tf, trace), tf.train.MonitoredSession(hooks=hooks) as sess:
                while not sess.should_stop():
                    sess.run(loss)

        attempt(trace, "block", block)
    return trace


# ---- lost tasks --------------------------------------------------------------------------------


def _lost_in(tf, folder, where, error, kind="MonitoredSession", checkpoint_dir=None):
    trace = []
    _, train = counting(tf)
    fail = once(raiser(error))
    count = [0]

    def at(*args):
        count[0] += 1
        if count[0] == 2 or where == "after_create_session":
            fail()

    hook = recorder(tf, trace, "b", **{where: at})
    hooks = [recorder(tf, trace, "a"), hook]

    def block():
        if kind == "MonitoredTrainingSession":
            sess = tf.train.MonitoredTrainingSession(
                checkpoint_dir=checkpoint_dir, hooks=hooks, save_checkpoint_steps=1
            )
        else:
            sess = getattr(tf.train, kind)(hooks=hooks)
        with sess:
            for _ in range(3):
                trace.append(f"run -> {plain(sess.run(train))}")

    attempt(trace, "block", block)
    return trace


@scenario
def lost_in_before_run(tf, folder):
    return _lost_in(tf, folder, "before_run", aborted(tf))


@scenario
def lost_in_after_run(tf, folder):
    return _lost_in(tf, folder, "after_run", unavailable(tf))


@scenario
def lost_in_after_create_session(tf, folder):
    return _lost_in(tf, folder, "after_create_session", unavailable(tf))


@scenario
def lost_and_restored(tf, folder):
    return _lost_in(
        tf, folder, "after_run", aborted(tf), "MonitoredTrainingSession", checkpoint_dir=folder
    )


@scenario
def lost_in_singular_session(tf, folder):
    return _lost_in(tf, folder, "after_run", aborted(tf), "SingularMonitoredSession")


@scenario
def lost_in_end(tf, folder):
    return _error_in(tf, "end", lambda: aborted(tf))


@scenario
def lost_while_created(tf, folder):
    trace = []
    _, train = counting(tf)
    fail = once(raiser(unavailable(tf)))

    class Creator(tf.train.SessionCreator):
        inner = tf.train.ChiefSessionCreator()

        def create_session(self):
            trace.append("create")
            fail()
            return self.inner.create_session()

    hooks = [recorder(tf, trace)]
    with tf.train.MonitoredSession(session_creator=Creator(), hooks=hooks) as sess:
        trace.append(f"run -> {plain(sess.run(train))}")
    return trace


def _reported_by_thread(tf, error):
    trace = []
    _, train = counting(tf)

    @once
    def report(coord):
        try:
            raise error
        except Exception as raised:
            coord.request_stop(raised)

    hooks = [recorder(tf, trace, after_create_session=lambda sess, coord: report(coord))]

    def block():
        with tf.train.MonitoredSession(hooks=hooks) as sess:
            steps = 0
            while not sess.should_stop() and steps < 2:
                trace.append(f"run -> {plain(sess.run(train))}")
                steps += 1

    attempt(trace, "block", block)
    return trace


@scenario
def lost_in_thread(tf, folder):
    return _reported_by_thread(tf, aborted(tf))


@scenario
def error_in_thread(tf, folder):
    return _reported_by_thread(tf, ValueError("in a thread"))


@scenario
def end_of_data_in_thread(tf, folder):
    return _reported_by_thread(tf, tf.errors.OutOfRangeError(None, None, "end"))


@scenario
def lost_in_thread_while_step_fails(tf, folder):
    trace = []
    step, train = counting(tf)
    bad = tf.check_numerics(tf.constant(float("nan")), "bad")
    coords = []
    hooks = [recorder(tf, trace, after_create_session=lambda sess, coord: coords.append(coord))]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        try:
            raise aborted(tf)
        except tf.errors.AbortedError as error:
            coords[-1].request_stop(error)
        attempt(trace, "run", sess.run, [bad])
        trace.append(f"sessions {len(coords)}")
        attempt(trace, "run", sess.run, train)
    return trace


# ---- step functions ----------------------------------------------------------------------------


@scenario
def step_functions(tf, folder):
    trace = []
    step, train = counting(tf)
    lose = once(raiser(aborted(tf)))

    def good(step_context):
        trace.append(f"raw {plain(step_context.session.run(train))}")
        return step_context.run_with_hooks(train)

    def loses(step_context):
        lose()
        return step_context.run_with_hooks(train)

    class Owner:
        def method(self, step_context):
            return step_context.run_with_hooks(fetches=train)

    def wrong(context):
        return None

    def stops(step_context):
        step_context.request_stop()

    for kind in ("MonitoredSession", "SingularMonitoredSession"):
        with getattr(tf.train, kind)(hooks=[recorder(tf, trace)]) as sess:
            attempt(trace, "good", sess.run_step_fn, good)
            attempt(trace, "method", sess.run_step_fn, Owner().method)
            attempt(trace, "wrong", sess.run_step_fn, wrong)
            attempt(trace, "loses", sess.run_step_fn, loses)
            attempt(trace, "stops", sess.run_step_fn, stops)
            while not sess.should_stop():
                sess.run_step_fn(stops)
    return trace


# ---- what hooks add ----------------------------------------------------------------------------


@scenario
def fetches_and_feeds(tf, folder):
    trace = []
    x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
    both = x * 10.0 + y
    args = tf.train.SessionRunArgs

    def session(*requests):
        hooks = [
            recorder(tf, trace, f"h{i}", before_run=lambda c, r=r: r)
            for i, r in enumerate(requests)
        ]
        return tf.train.MonitoredSession(hooks=hooks)

    with session(args(None, {x: 1.0}), args([x, {"y": y}]), None, args(both)) as sess:
        attempt(trace, "run", sess.run, {"b": both, "l": [x, y]}, {y: 2.0})
        attempt(trace, "fed twice", sess.run, both, {x: 2.0, y: 2.0})
    with session(args(None, {x: 1.0}), args(None, {x: 1.0, y: 1.0})) as sess:
        attempt(trace, "two hooks", sess.run, both)
    with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {x: 3.0, y: 4.0})]) as sess:
        attempt(trace, "feed fn", sess.run, both)
    return trace


@scenario
def options_and_metadata(tf, folder):
    trace = []
    _, train = counting(tf)
    full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=90000)

    def look(context, values):
        trace.append(
            f"level {values.options.trace_level} timeout {values.options.timeout_in_ms}"
            f" stats {bool(values.run_metadata.step_stats.dev_stats)}"
        )

    def ask(context):
        return tf.train.SessionRunArgs(None, options=full) if level[0] else None

    level = [False]
    with tf.train.MonitoredSession(
        hooks=[recorder(tf, trace, before_run=ask, after_run=look)]
    ) as sess:
        sess.run(train)
        level[0] = True
        sess.run(train)
        level[0] = False
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.SOFTWARE_TRACE)
        sess.run(train, options=options, run_metadata=metadata)
        trace.append(f"given {bool(metadata.step_stats.dev_stats)}")
    return trace


@scenario
def session_used_in_hook(tf, folder):
    trace = []
    step, train = counting(tf)

    def look(context):
        args = context.original_args
        trace.append(f"args {args.fetches is train} {args.feed_dict}")
        trace.append(f"inside {plain(context.session.run(step))}")

    hooks = [recorder(tf, trace, before_run=look)]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        sess.run(train)
        with tf.Graph().as_default():
            inner_step, inner_train = counting(tf)
            inner_hooks = [recorder(tf, trace, "inner"), tf.train.StopAtStepHook(2)]
            with tf.train.MonitoredSession(hooks=inner_hooks) as inner:
                while not inner.should_stop():
                    trace.append(f"inner run -> {plain(inner.run(inner_train))}")
        sess.run(train)
    return trace


@scenario
def final_ops(tf, folder):
    trace = []
    step, train = counting(tf)
    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1)).get_next()
    good = tf.train.FinalOpsHook({"step": step})
    with tf.train.MonitoredSession(hooks=[good]) as sess:
        sess.run(train)
        trace.append(f"before {good.final_ops_values}")
    trace.append(f"after {plain(good.final_ops_values)}")

    def block():
        with tf.train.MonitoredSession(hooks=[tf.train.FinalOpsHook(element)]) as sess:
            sess.run(element)

    attempt(trace, "ended", block)
    return trace


@scenario
def logging_tensors(tf, folder):
    trace = []
    value = tf.constant([1.0, 2e-7], name="value")
    made = tf.train.LoggingTensorHook
    for kwargs in (
        {"every_n_iter": 2}, {"at_end": True}, {"every_n_iter": 2, "at_end": True},
        {"every_n_secs": 1000}, {"every_n_iter": 0}, {}, {"every_n_iter": 1, "every_n_secs": 1},
    ):  # fmt: skip

        def run(kwargs=kwargs):
            hooks = [made({"value": "value:0"}, **kwargs)]
            with logged(tf, trace), tf.train.MonitoredSession(hooks=hooks) as sess:
                for _ in range(3):
                    sess.run(value)

        attempt(trace, str(sorted(kwargs.items())), run)
    shown = []
    formatted = made(["value"], every_n_iter=1, formatter=lambda v: shown.append(sorted(v)) or "x")
    with tf.train.MonitoredSession(hooks=[formatted]) as sess:
        sess.run(value)
    trace.append(f"formatted {shown}")
    split = tf.split(value, 2, name="pieces")
    attempt(trace, "ambiguous", made(["pieces"], every_n_iter=1).begin)
    attempt(trace, "named", made(["pieces:1"], every_n_iter=1).begin)
    attempt(trace, "missing", made(["nothing"], every_n_iter=1).begin)
    with tf.Graph().as_default():
        attempt(trace, "foreign", made([split[0]], every_n_iter=1).begin)
    return trace


@scenario
def timers(tf, folder):
    trace = []
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    for step in (5, 5, 6, 8, 9, 20):
        due = timer.should_trigger_for_step(step)
        trace.append(f"{step} {due} {timer.last_triggered_step()}")
        if due:
            trace.append(f"steps {timer.update_last_triggered_step(step)[1]}")
    timer.reset()
    trace.append(f"reset {timer.last_triggered_step()}")
    timer = tf.train.SecondOrStepTimer(every_secs=1000.0)
    timer.update_last_triggered_step(1)
    trace.append(f"soon {timer.should_trigger_for_step(2)}")
    attempt(trace, "both", tf.train.SecondOrStepTimer, 1.0, 1)
    attempt(trace, "none", tf.train.SecondOrStepTimer)
    return trace


@scenario
def refused_hooks(tf, folder):
    trace = []
    train = tf.train
    attempt(trace, "stop", train.StopAtStepHook)
    attempt(trace, "stop both", train.StopAtStepHook, 1, 2)
    attempt(trace, "saver", train.CheckpointSaverHook, folder)
    attempt(
        trace,
        "saver and scaffold",
        train.CheckpointSaverHook,
        folder,
        save_steps=1,
        saver=1,
        scaffold=2,
    )
    attempt(trace, "counter", train.StepCounterHook, every_n_secs=1)
    attempt(trace, "counter none", train.StepCounterHook, None)
    attempt(trace, "summary", train.SummarySaverHook, 1)
    attempt(trace, "summary both", train.SummarySaverHook, 1, scaffold=1, summary_op=1)
    attempt(trace, "summary when", train.SummarySaverHook, scaffold=train.Scaffold())
    attempt(trace, "stop without step", train.StopAtStepHook(1).begin)
    attempt(trace, "counter without step", train.StepCounterHook().begin)
    attempt(trace, "waiter without step", train.GlobalStepWaiterHook(1).begin)
    attempt(trace, "scaffold", train.Scaffold, copy_from_scaffold=1)
    attempt(trace, "manager", train.SessionManager, ready_for_local_init_op=1)
    tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
    tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
    attempt(trace, "two init ops", train.Scaffold().finalize)
    return trace


# ---- files -------------------------------------------------------------------------------------


def files(folder):
    names = [
        re.sub(r"events\.out.*", "events", os.path.relpath(os.path.join(d, f), folder))
        for d, _, found in os.walk(folder) for f in found
    ]  # fmt: skip
    # Two event files made in one second are one in TensorFlow; numbers of data files are free.
    return sorted({re.sub(r"\.data-.*", ".data", n) for n in names if ".tmp" not in n})


def events(tf, folder):
    """What the event files of a folder hold, without times."""
    lines = []
    for name in sorted(os.listdir(folder)):
        if "events.out" not in name:
            continue
        for event in tf.train.summary_iterator(os.path.join(folder, name)):
            kind = event.WhichOneof("what")
            detail = ""
            if kind == "session_log":
                detail = str(event.session_log.status)
                detail += " " + os.path.basename(event.session_log.checkpoint_path)
            elif kind == "summary":
                detail = str([value.tag for value in event.summary.value])
            elif kind == "tagged_run_metadata":
                detail = event.tagged_run_metadata.tag
            lines.append(f"event {kind} {event.step} {detail}")
    return lines


def _training(tf, folder, trace, steps, **kwargs):
    tf.reset_default_graph()
    step, train = reading_first(tf)
    tf.summary.scalar("double", step * 2)
    begun = tf.train.MonitoredTrainingSession
    with logged(tf, trace), begun(checkpoint_dir=folder, **kwargs) as sess:
        trace.append(f"begins with {plain(sess.run(step))}")
        for _ in range(steps):
            if sess.should_stop():
                break
            sess.run(train)


def clear_writers(tf):
    tf.summary.FileWriterCache.clear()


@scenario
def training_by_default(tf, folder):
    trace = []
    _training(tf, folder, trace, 3)
    _training(tf, folder, trace, 2)
    clear_writers(tf)
    return trace + files(folder) + events(tf, folder)


@scenario
def training_every_few_steps(tf, folder):
    trace = []
    _training(
        tf,
        folder,
        trace,
        5,
        save_checkpoint_steps=2,
        save_summaries_steps=3,
        log_step_count_steps=None,
    )
    _training(
        tf,
        folder,
        trace,
        2,
        save_checkpoint_secs=None,
        save_summaries_secs=None,
        log_step_count_steps=1,
    )
    clear_writers(tf)
    state = tf.train.get_checkpoint_state(folder)
    trace.append("all %s" % [os.path.basename(p) for p in state.all_model_checkpoint_paths])
    return trace + files(folder) + events(tf, folder)


@scenario
def training_with_summary_dir(tf, folder):
    trace = []
    other = os.path.join(folder, "summaries")
    _training(tf, None, trace, 2, summary_dir=other, save_summaries_steps=1)
    clear_writers(tf)
    return trace + files(folder) + events(tf, other)


@scenario
def order_of_default_hooks(tf, folder):
    trace = []
    order = []
    step, train = counting(tf)
    mine, chief = recorder(tf, trace, "mine"), recorder(tf, trace, "chief")
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=folder, hooks=[mine], chief_only_hooks=[chief]
    ) as sess:
        order.extend(type(h).__name__ for h in sess._hooks)
        sess.run(train)
    clear_writers(tf)
    return order + trace


@scenario
def listeners(tf, folder):
    trace = []
    step, train = counting(tf)

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            trace.append("begin")

        def before_save(self, session, value):
            trace.append(f"before_save {value} {session.run(step)}")

        def after_save(self, session, value):
            trace.append(f"after_save {value}")
            return value >= 4

        def end(self, session, value):
            trace.append(f"end {value}")

    saver_hook = tf.train.CheckpointSaverHook(folder, save_steps=2, listeners=[Listener()])
    attempt(trace, "no saver", saver_hook._get_saver)
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    hooks = [saver_hook, recorder(tf, trace)]
    with tf.train.SingularMonitoredSession(hooks=hooks, checkpoint_dir=folder) as sess:
        trace.append(f"raw {plain(sess.raw_session().run(step))}")
        while not sess.should_stop():
            trace.append(f"run -> {plain(sess.run(train))}")
    clear_writers(tf)
    return trace + files(folder)


@scenario
def profiler(tf, folder):
    _, train = reading_first(tf)
    hook = tf.train.ProfilerHook(save_steps=2, output_dir=folder)
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        for _ in range(5):
            sess.run(train)
    clear_writers(tf)
    found = events(tf, folder)
    for name in files(folder):
        if name.startswith("timeline"):
            with open(os.path.join(folder, name)) as file:
                found.append("{} {}".format(name, bool(json.load(file)["traceEvents"])))
    return [line for line in found if "graph" not in line]


@scenario
def checkpoint_file(tf, folder):
    trace = []
    step, train = counting(tf)
    with tf.train.SingularMonitoredSession() as sess:
        sess.run([train])
        saver = tf.train.Saver() if not tf.get_default_graph().finalized else None
        trace.append(f"saver {saver}")
    tf.reset_default_graph()
    step, train = counting(tf)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        path = saver.save(sess, os.path.join(folder, "m"))
    with tf.train.SingularMonitoredSession(checkpoint_filename_with_path=path) as sess:
        trace.append(f"step {plain(sess.run(step))}")
    attempt(
        trace,
        "both",
        tf.train.SingularMonitoredSession,
        checkpoint_filename_with_path=path,
        checkpoint_dir=folder,
    )
    return trace


@scenario
def scaffold_pieces(tf, folder):
    trace = []
    v = tf.Variable(tf.constant(1.0), name="v")
    fed = tf.placeholder_with_default(2.0, [], name="fed")
    w = tf.Variable(fed, name="w")
    local = tf.Variable(v.initialized_value() + 1.0, collections=["local_variables"], name="local")
    table = tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(["a"], [7]), -1)
    found = table.lookup(tf.constant(["a"]))

    def init_fn(scaffold, session):
        trace.append(f"init_fn {plain(session.run(w))}")
        trace.append(f"saver {type(scaffold.saver).__name__}")

    first = tf.train.Scaffold(init_fn=init_fn, init_feed_dict={fed: 5.0})
    second = tf.train.Scaffold(copy_from_scaffold=first)
    creator = tf.train.ChiefSessionCreator(second)
    with logged(tf, trace), tf.train.MonitoredSession(creator) as sess:
        trace.append(f"values {plain(sess.run([v, w, local]))}")
        trace.append(f"table {plain(sess.run(found)[0])}")
    trace.append(f"init {second.init_op.name}")
    return trace


# ---- queue runners and waiting -----------------------------------------------------------------


@scenario
def queue_runners(tf, folder):
    trace = []
    tf.train.get_or_create_global_step()
    element = tf.train.input_producer(tf.constant([1, 2, 3]), num_epochs=1, shuffle=False).dequeue()
    with tf.train.MonitoredSession(hooks=[recorder(tf, trace)]) as sess:
        while not sess.should_stop():
            trace.append(f"run -> {plain(sess.run(element))}")
    return trace


@scenario
def waiter(tf, folder):
    trace = []
    step, train = counting(tf)
    ran = []

    class Ahead(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            for _ in range(3):
                session.run(train)
            ran.append(1)

    hooks = [Ahead(), tf.train.GlobalStepWaiterHook(2), recorder(tf, trace)]
    with logged(tf, trace), tf.train.MonitoredSession(hooks=hooks) as sess:
        trace.append(f"run -> {plain(sess.run(train))}")
        trace.append(f"run -> {plain(sess.run(train))}")
    return trace


@scenario
def session_manager(tf, folder):
    trace = []
    v = tf.Variable(1.0, name="v")
    local = tf.Variable(2.0, collections=["local_variables"], name="local")
    init = tf.global_variables_initializer()
    ready = tf.report_uninitialized_variables()
    ready_global = tf.report_uninitialized_variables(tf.global_variables())
    local_init = tf.local_variables_initializer()
    saver = tf.train.Saver([v])
    make = tf.train.SessionManager
    plain_manager = make(ready_op=ready, recovery_wait_secs=1)
    attempt(trace, "nothing", plain_manager.prepare_session, "")
    attempt(trace, "local missing", plain_manager.prepare_session, "", init_op=init)
    manager = make(local_init, ready, ready_global, recovery_wait_secs=1)
    sess = manager.prepare_session("", init_op=init)
    trace.append(f"values {plain(sess.run([v, local]))}")
    sess.run(v.assign(9.0))
    with logged(tf, trace):
        sess, done = manager.recover_session("", saver, folder)
        trace.append(f"recovered {done}")
        attempt(trace, "wait", manager.wait_for_session, "", max_wait_secs=1.5)
    with tf.Session() as other:
        other.run([init])
        other.run(v.assign(9.0))
        saver.save(other, os.path.join(folder, "model"), global_step=3)
    with logged(tf, trace):
        sess, done = manager.recover_session("", saver, folder)
        trace.append(f"recovered {done} {plain(sess.run([v, local]))}")
        last = [os.path.basename(p) for p in saver.last_checkpoints]
        trace.append(f"last {last}")
        sess = manager.prepare_session("", init, saver, folder, init_fn=lambda s: trace.append("!"))
        trace.append(f"prepared {plain(sess.run(v))}")
    attempt(
        trace,
        "both",
        manager.prepare_session,
        "",
        init,
        saver,
        checkpoint_dir=folder,
        checkpoint_filename_with_path=folder,
    )
    return trace


@scenario
def ready_op_that_reads(tf, folder):
    trace = []
    v = tf.Variable(1.0, name="v")
    init = tf.global_variables_initializer()
    assertion = tf.assert_variables_initialized()
    manager = tf.train.SessionManager(ready_op=assertion, recovery_wait_secs=1)
    attempt(trace, "no init", manager.prepare_session, "", init_op=tf.no_op())
    attempt(trace, "init", lambda: manager.prepare_session("", init_op=init).run(v))
    return trace


# ---- Supervisor --------------------------------------------------------------------------------


def _supervised(tf, **kwargs):
    tf.reset_default_graph()
    step, train = counting(tf)
    tf.summary.scalar("double", step * 2)
    return step, train, tf.train.Supervisor(**kwargs)


@scenario
def supervisor(tf, folder):
    trace = []
    for round_ in range(2):
        # A thread that saves at once as well could note an older checkpoint as the latest.
        step, train, sv = _supervised(
            tf, logdir=folder, save_summaries_secs=1000, save_model_secs=0
        )
        with logged(tf, trace), sv.managed_session() as sess:
            trace.append(f"begins with {plain(sess.run(step))}")
            while not sv.should_stop():
                if sess.run(train) >= 3 + round_:
                    sv.saver.save(sess, sv.save_path, global_step=sv.global_step)
                    sv.request_stop()
        trace.append(f"should_stop {sv.should_stop()} finalized {tf.get_default_graph().finalized}")
    # The thread that counts steps may log at any time.
    trace = [line for line in trace if "/sec" not in line]
    return trace + [n for n in files(folder) if not re.search("ckpt-[012]", n)]


@scenario
def supervisor_errors(tf, folder):
    trace = []

    def raising(error):
        step, train, sv = _supervised(tf, logdir=folder, save_model_secs=0, save_summaries_secs=0)
        with sv.managed_session() as sess:
            sess.run(train)
            raise error

    attempt(trace, "value", raising, ValueError("x"))
    attempt(trace, "end", raising, tf.errors.OutOfRangeError(None, None, "end"))
    attempt(trace, "aborted", raising, aborted(tf))
    _, _, sv = _supervised(tf)
    with sv.managed_session() as sess:
        attempt(trace, "no writer", sv.summary_computed, sess, b"")
        trace.append(f"services {sv.start_standard_services(sess)}")
    tf.reset_default_graph()
    counting(tf)
    attempt(trace, "no device", tf.train.Supervisor, is_chief=False)
    tf.reset_default_graph()
    with tf.device("/job:ps"):
        counting(tf)
    sv = tf.train.Supervisor(is_chief=False, logdir=folder)
    trace.append(f"path {sv.save_path} writer {sv.summary_writer} secs {sv.save_model_secs}")
    attempt(trace, "services", sv.start_standard_services, None)
    return trace


@scenario
def supervisor_threads(tf, folder):
    trace = []
    step, train, sv = _supervised(
        tf, logdir=folder, summary_op=None, save_model_secs=0, save_summaries_secs=0
    )
    calls = []
    merged = tf.get_collection(tf.GraphKeys.SUMMARIES)[0]
    with sv.managed_session() as sess:
        sess.run(train)
        thread = sv.loop(None, lambda: calls.append(1) or sv.request_stop())
        sv.coord.join([thread])
        sv.summary_computed(sess, sess.run(merged))
        sv.summary_computed(sess, sess.run(merged), global_step=17)
    trace.append(f"calls {len(calls)}")
    trace.append(f"summary_op {sv.summary_op}")
    return trace + events(tf, folder)


@scenario
def train_loop(tf, folder):
    trace = []
    step, train, sv = _supervised(tf, logdir=folder, save_model_secs=0, save_summaries_secs=0)
    lose = once(raiser(aborted(tf)))

    def step_fn(sess, word, last=None):
        value = sess.run(train)
        trace.append(f"{word} {value}")
        sv.saver.save(sess, sv.save_path, global_step=sv.global_step)
        if value == 2:
            lose()
        if value >= last:
            sv.request_stop()

    attempt(trace, "loop", tf.train.basic_train_loop, sv, step_fn, ["step"], {"last": 4})
    return trace


# ---- nodes -------------------------------------------------------------------------------------


def nodes(tf):
    graph = tf.get_default_graph()
    return [
        "{} {} ({}) ^({}) @{}".format(
            op.name, op.type, ", ".join(t.name for t in op.inputs),
            ", ".join(sorted(c.name for c in op.control_inputs)), op.device,
        )
        for op in graph.get_operations()
    ] + [
        "{}: {}".format(key, [getattr(item, "name", "") for item in graph.get_collection(key)])
        for key in sorted(k for k in graph.get_all_collection_keys() if isinstance(k, str))
        if key not in ("savers",) and not key.startswith("__")
    ]  # fmt: skip


def model(tf, resource=False):
    """Variables of several kinds, a table, a summary and an optimizer."""
    with tf.variable_scope("model", use_resource=resource):
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.get_variable("w", [3, 2])
        y = tf.matmul(x, w)
    tf.get_variable("seen", [], collections=["local_variables"], trainable=False)
    table = tf.contrib.lookup.HashTable(
        tf.contrib.lookup.KeyValueTensorInitializer(["a"], [7]), -1, name="table"
    )
    table.lookup(tf.constant(["a"]))
    loss = tf.reduce_mean(tf.square(y))
    tf.summary.scalar("loss", loss)
    step = tf.train.get_or_create_global_step()
    return tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)


@scenario
def nodes_without_directory(tf, folder):
    model(tf)
    with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(3)]):
        return nodes(tf)


@scenario
def nodes_with_directory(tf, folder):
    model(tf)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder):
        found = nodes(tf)
    clear_writers(tf)
    return found


@scenario
def nodes_of_resource_variables(tf, folder):
    with tf.variable_scope("", use_resource=True):
        model(tf, resource=True)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder):
        found = nodes(tf)
    clear_writers(tf)
    return found


@scenario
def nodes_of_empty_graph(tf, folder):
    with tf.train.MonitoredSession():
        return nodes(tf)


@scenario
def nodes_of_singular_session(tf, folder):
    tf.Variable(1.0, name="v")
    with tf.train.SingularMonitoredSession():
        return nodes(tf)


@scenario
def nodes_of_supervisor(tf, folder):
    model(tf)
    tf.train.Supervisor(logdir=folder)
    return nodes(tf)


@scenario
def nodes_of_supervisor_without_variables(tf, folder):
    tf.constant(1.0)
    tf.train.Supervisor()
    return nodes(tf)


def run_all(tf, names=None):
    results = {}
    for name in names or sorted(SCENARIOS):
        tf.reset_default_graph()
        folder = tempfile.mkdtemp()
        try:
            lines = SCENARIOS[name](tf, folder)
        except BaseException as error:
            import traceback

            traceback.print_exc()
            lines = [f"SCENARIO FAILED: {error!r}"]
        results[name] = [str(line).replace(folder, "FOLDER") for line in lines]
    return results


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.logging.set_verbosity("ERROR")
    found = run_all(tensorflow, sys.argv[2:])
    with open(sys.argv[1], "w") as output:
        json.dump(found, output, indent=1, sort_keys=True)
        output.write("\n")
