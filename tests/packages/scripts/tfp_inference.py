"""TensorFlow Probability's inference: chains on a Gaussian, variational inference, time series.

Names that begin with ``~`` are of draws, which the two sides draw otherwise.
"""

import json

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

tfd, tfb = tfp.distributions, tfp.bijectors
found = {}


def case(name):
    """Runs a function in a graph of its own and keeps what it returns."""

    def run(function):
        tf.reset_default_graph()
        tf.set_random_seed(3)
        with tf.Session() as session:
            answer = function(session)
        found[name] = json.loads(json.dumps(answer, default=lambda v: np.asarray(v).tolist()))
        return function

    return run


COV = np.array([[1.0, 0.5], [0.5, 2.0]], np.float32)
MEAN = np.array([1.0, -1.0], np.float32)


def target():
    d = tfd.MultivariateNormalFullCovariance(MEAN, COV)
    return d.log_prob


def moments(x):
    return {"~mean": x.mean(0), "~cov": np.cov(x.T)}


@case("hmc")
def _(s):
    k = tfp.mcmc.HamiltonianMonteCarlo(target(), step_size=0.5, num_leapfrog_steps=4, seed=5)
    st, kr = tfp.mcmc.sample_chain(
        1500, np.zeros([4, 2], np.float32), kernel=k, num_burnin_steps=200
    )
    x, acc = s.run([st, kr.is_accepted])
    r = moments(x.reshape(-1, 2))
    r["~acc"] = acc.mean()
    r["shape"] = x.shape
    return r


@case("hmc_adaptive")
def _(s):
    k = tfp.mcmc.SimpleStepSizeAdaptation(
        tfp.mcmc.HamiltonianMonteCarlo(target(), step_size=0.1, num_leapfrog_steps=4, seed=5), 150
    )
    st, kr = tfp.mcmc.sample_chain(
        1500, np.zeros([4, 2], np.float32), kernel=k, num_burnin_steps=200
    )
    x, st = s.run([st, kr.new_step_size])
    r = moments(x.reshape(-1, 2))
    r["~step"] = st[-1] / 2
    return r


@case("dual_averaging")
def _(s):
    k = tfp.mcmc.DualAveragingStepSizeAdaptation(
        tfp.mcmc.HamiltonianMonteCarlo(target(), step_size=0.1, num_leapfrog_steps=4, seed=5), 150
    )
    st, kr = tfp.mcmc.sample_chain(
        1000, np.zeros([4, 2], np.float32), kernel=k, num_burnin_steps=200
    )
    return moments(s.run(st).reshape(-1, 2))


@case("nuts")
def _(s):
    k = tfp.mcmc.NoUTurnSampler(target(), step_size=0.5, max_tree_depth=4, seed=5)
    st, kr = tfp.mcmc.sample_chain(
        600, np.zeros([4, 2], np.float32), kernel=k, num_burnin_steps=100
    )
    x = s.run(st)
    return moments(x.reshape(-1, 2))


@case("rwm")
def _(s):
    k = tfp.mcmc.RandomWalkMetropolis(target(), seed=5)
    st, kr = tfp.mcmc.sample_chain(
        4000, np.zeros([8, 2], np.float32), kernel=k, num_burnin_steps=200
    )
    return moments(s.run(st).reshape(-1, 2))


@case("mala")
def _(s):
    k = tfp.mcmc.MetropolisAdjustedLangevinAlgorithm(target(), step_size=0.5, seed=5)
    st, kr = tfp.mcmc.sample_chain(
        2500, np.zeros([8, 2], np.float32), kernel=k, num_burnin_steps=200
    )
    return moments(s.run(st).reshape(-1, 2))


@case("slice")
def _(s):
    k = tfp.mcmc.SliceSampler(target(), step_size=1.0, max_doublings=5, seed=5)
    st, kr = tfp.mcmc.sample_chain(
        1000, np.zeros([8, 2], np.float32), kernel=k, num_burnin_steps=100
    )
    return moments(s.run(st).reshape(-1, 2))


@case("replica")
def _(s):
    k = tfp.mcmc.ReplicaExchangeMC(
        target(),
        inverse_temperatures=[1.0, 0.5, 0.2],
        make_kernel_fn=lambda target_log_prob_fn, seed: tfp.mcmc.HamiltonianMonteCarlo(
            target_log_prob_fn, step_size=0.5, num_leapfrog_steps=3, seed=seed
        ),
        seed=5,
    )
    st = tfp.mcmc.sample_chain(
        1500, np.zeros([2], np.float32), kernel=k, num_burnin_steps=100, trace_fn=None
    )
    return moments(s.run(st).reshape(-1, 2))


@case("transformed")
def _(s):
    g = tfd.Gamma(3.0, 2.0)
    k = tfp.mcmc.TransformedTransitionKernel(
        tfp.mcmc.HamiltonianMonteCarlo(g.log_prob, step_size=0.5, num_leapfrog_steps=4, seed=5),
        [tfb.Exp()],
    )
    st = tfp.mcmc.sample_chain(
        2000, np.ones([4], np.float32), kernel=k, num_burnin_steps=100, trace_fn=None
    )
    x = s.run(st)
    return {"~m": [x.mean(), x.var()]}


@case("annealed")
def _(s):
    w, st, kr = tfp.mcmc.sample_annealed_importance_chain(
        num_steps=300,
        proposal_log_prob_fn=tfd.MultivariateNormalDiag([0.0, 0.0], [1.0, 1.0]).log_prob,
        target_log_prob_fn=lambda x: target()(x) + 1.0,
        current_state=tf.zeros([500, 2]),
        make_kernel_fn=lambda t: tfp.mcmc.HamiltonianMonteCarlo(
            t, step_size=0.3, num_leapfrog_steps=2, seed=5
        ),
    )
    v = s.run(tf.reduce_logsumexp(w) - np.log(500.0))
    return {"~logz": v}


@case("leapfrog")
def _(s):
    from tensorflow_probability.python.mcmc.internal import leapfrog_integrator as li

    i = li.SimpleLeapfrogIntegrator(target(), [0.1], 5)
    r = i([tf.constant([[0.3, 0.4]])], [tf.constant([[1.0, -1.0]])])
    return {"v": s.run(tf.nest.flatten([r[0], r[1]]))}


@case("diagnostics")
def _(s):
    x = np.cumsum(np.random.RandomState(0).randn(200, 3), 0).astype(np.float32)
    return {
        "ess": s.run(tfp.mcmc.effective_sample_size(x)),
        "rhat": s.run(tfp.mcmc.potential_scale_reduction(x[:, :, None], 1)),
    }


@case("vi")
def _(s):
    loc = tf.Variable([0.0, 0.0], name="loc")
    tf.Variable(np.float32([[0.5, 0.0], [0.0, 0.5]]), name="raw")
    q = tfd.MultivariateNormalTriL(
        loc, tfp.bijectors.FillTriangular().forward(tf.Variable([0.5, 0.0, 0.5], name="t"))
    )
    loss = tfp.vi.monte_carlo_variational_loss(target(), q, sample_size=50, seed=4)
    opt = tf.train.AdamOptimizer(0.05).minimize(loss)
    s.run(tf.global_variables_initializer())
    for _ in range(300):
        s.run([loss, opt])[0]
    return {
        "~loc": s.run(loc),
        "~cov": s.run(q.covariance()),
        "names": [v.name for v in tf.global_variables()],
    }


@case("fit_surrogate")
def _(s):
    loc = tf.Variable([0.0, 0.0], name="loc", use_resource=True)
    sc = tfp.util.DeferredTensor(
        tf.nn.softplus, tf.Variable([0.5, 0.5], use_resource=True, name="s")
    )
    q = tfd.MultivariateNormalDiag(loc, sc)
    losses = tfp.vi.fit_surrogate_posterior(
        target(), q, tf.train.AdamOptimizer(0.05), num_steps=300, sample_size=20, seed=4
    )
    s.run(tf.global_variables_initializer())
    losses = s.run(losses)
    return {"shape": losses.shape, "~loc": s.run(loc)}


@case("csiszar")
def _(s):
    u = tf.constant([-1.0, 0.0, 0.5, 2.0])
    n = [
        "kl_reverse",
        "kl_forward",
        "jensen_shannon",
        "arithmetic_geometric",
        "total_variation",
        "pearson",
        "squared_hellinger",
        "triangular",
        "log1p_abs",
        "jeffreys",
        "chi_square",
    ]
    return {k: s.run(getattr(tfp.vi, k)(u)) for k in n}


@case("optimizer")
def _(s):
    def f(x):
        return tfp.math.value_and_gradient(
            lambda x: tf.reduce_sum(
                (x - np.float32([1.0, 2.0])) ** 2 * np.float32([1.0, 10.0]), -1
            ),
            x,
        )

    r = s.run(tfp.optimizer.bfgs_minimize(f, tf.zeros([2]), tolerance=1e-6))
    r2 = s.run(tfp.optimizer.lbfgs_minimize(f, tf.zeros([2]), tolerance=1e-6))
    r3 = s.run(
        tfp.optimizer.nelder_mead_minimize(
            lambda x: tf.reduce_sum((x - np.float32([1.0, 2.0])) ** 2),
            initial_vertex=tf.zeros([2]),
            func_tolerance=1e-7,
        )
    )
    return {
        "bfgs": r.position,
        "it": r.num_iterations,
        "lbfgs": r2.position,
        "nm": r3.position,
        "conv": [bool(r.converged), bool(r2.converged), bool(r3.converged)],
    }


@case("proximal")
def _(s):
    x = np.random.RandomState(0).randn(100, 3).astype(np.float32)
    y = (x.dot([1.0, -2.0, 0.0]) + np.random.RandomState(1).randn(100) * 2 > 0).astype(np.float32)
    r = tfp.glm.fit(x, y, tfp.glm.Bernoulli(), l2_regularizer=0.1)
    r2 = tfp.glm.fit_sparse(
        x,
        y,
        tfp.glm.Bernoulli(),
        model_coefficients_start=np.zeros(3, np.float32),
        tolerance=1e-3,
        l1_regularizer=0.05,
        maximum_iterations=10,
    )
    return {"fit": s.run(r[0]), "it": s.run(r[3]), "sparse": s.run(r2[0])}


@case("ode")
def _(s):
    r = tfp.math.ode.BDF(rtol=1e-4, atol=1e-5).solve(
        lambda t, y: -y * [1.0, 2.0], 0.0, tf.constant([1.0, 1.0]), solution_times=[0.5, 1.0]
    )
    return {"y": s.run(r.states)}


@case("stats")
def _(s):
    x = np.random.RandomState(0).randn(50, 3).astype(np.float32)
    c = tf.constant(x)
    return {
        "corr": s.run(tfp.stats.correlation(c)),
        "cov": s.run(tfp.stats.covariance(c)),
        "auto": s.run(tfp.stats.auto_correlation(c, axis=0))[:5],
        "perc": s.run(tfp.stats.percentile(c, [10.0, 50.0], axis=0)),
        "q": s.run(tfp.stats.quantiles(c, 4, axis=0)),
        "hist": s.run(
            tfp.stats.histogram(
                c,
                [-2.0, -1.0, 0.0, 1.0, 2.0],
                extend_lower_interval=True,
                extend_upper_interval=True,
            )
        ),
        "stddev": s.run(tfp.stats.stddev(c)),
        "bins": s.run(
            tfp.stats.find_bins(
                c, [-2.0, 0.0, 2.0], extend_lower_interval=True, extend_upper_interval=True
            )
        )[:3],
    }


@case("math")
def _(s):
    m = tf.constant([[4.0, 1.0], [1.0, 3.0]])
    x = tf.constant([[0.1, 0.7], [2.0, 3.0]])
    d = tfp.math.dense_to_sparse(tf.constant([[0, 1], [2, 0]]))
    return {
        "pc": s.run(tfp.math.pivoted_cholesky(m, 2, 1e-3)),
        "lse": s.run(tfp.math.log_add_exp(x, 1.0)),
        "si": s.run(tfp.math.softplus_inverse(x)),
        "interp": s.run(
            tfp.math.batch_interp_regular_1d_grid(x[0], 0.0, 1.0, tf.constant([0.0, 1.0, 4.0]))
        ),
        "rs": s.run(tfp.math.reduce_weighted_logsumexp(x, axis=1)),
        "lu": s.run(tfp.math.lu_reconstruct(*tf.linalg.lu(m))),
        "dj": s.run(tfp.math.diag_jacobian(x, sample_shape=[2], fn=lambda x: x**2)[1]),
        "sp": s.run(d.values),
        "ces": s.run(tfp.math.clip_by_value_preserve_gradient(x, 0.5, 2.0)),
        "rf": s.run(tfp.math.random_rademacher([4], seed=3)).shape,
        "kern": s.run(tfp.math.psd_kernels.MaternThreeHalves(1.0, 2.0).matrix(x, x)),
        "kern2": s.run(tfp.math.psd_kernels.RationalQuadratic(1.0, 2.0).matrix(x, x)),
        "cum": s.run(tfp.math.log_cumsum_exp(x)) if hasattr(tfp.math, "log_cumsum_exp") else 0,
    }


@case("sts")
def _(s):
    y = (
        np.arange(40) * 0.1
        + np.sin(np.arange(40) * 2 * np.pi / 7)
        + 0.1 * np.random.RandomState(0).randn(40)
    ).astype(np.float32)
    model = tfp.sts.Sum(
        [
            tfp.sts.LocalLinearTrend(observed_time_series=y),
            tfp.sts.Seasonal(7, observed_time_series=y),
        ],
        observed_time_series=y,
    )
    params = [np.float32(0.1)] * len(model.parameters)
    ssm = model.make_state_space_model(40, params)
    f = tfp.sts.forecast(model, y, [np.full([1], 0.1, np.float32)] * len(params), 5)
    c = tfp.sts.decompose_by_component(model, y, [np.full([1], 0.1, np.float32)] * len(params))
    return {
        "names": [p.name for p in model.parameters],
        "lp": s.run(ssm.log_prob(y[:, None])),
        "fm": s.run(f.mean()),
        "fs": s.run(f.stddev()),
        "joint": s.run(model.joint_log_prob(y)(*params)),
        "comp": [s.run(v.mean())[:4] for v in c.values()],
    }


@case("sts_vi")
def _(s):
    y = (np.arange(30) * 0.1 + 0.1 * np.random.RandomState(0).randn(30)).astype(np.float32)
    model = tfp.sts.Sum([tfp.sts.LocalLinearTrend(observed_time_series=y)], observed_time_series=y)
    loss, dists = tfp.sts.build_factored_variational_loss(model, y)
    opt = tf.train.AdamOptimizer(0.1).minimize(loss)
    s.run(tf.global_variables_initializer())
    losses = [s.run([loss, opt])[0] for _ in range(60)]
    return {
        "~fell": float(np.mean(losses[:5]) > np.mean(losses[-5:])),
        "names": [v.name for v in tf.trainable_variables()],
    }


@case("kalman")
def _(s):
    d = tfd.LinearGaussianStateSpaceModel(
        5,
        tf.linalg.LinearOperatorIdentity(2),
        tfd.MultivariateNormalDiag(scale_diag=tf.ones([2]) * 0.1),
        tf.linalg.LinearOperatorFullMatrix([[1.0, 0.5]]),
        tfd.MultivariateNormalDiag(scale_diag=[0.5]),
        tfd.MultivariateNormalDiag(scale_diag=[1.0, 1.0]),
    )
    x = np.float32([[0.1], [0.2], [0.4], [0.1], [0.0]])
    r = s.run(list(d.forward_filter(x)))
    sm = s.run(list(d.posterior_marginals(x)))
    return {"f": list(r), "s": list(sm)}


@case("edward2")
def _(s):
    ed = tfp.experimental.edward2 if hasattr(tfp.experimental, "edward2") else tfp.edward2

    def model():
        w = ed.Normal(0.0, 1.0, name="w")
        return ed.Normal(w * 2.0, 1.0, name="y")

    lj = ed.make_log_joint_fn(model)
    z = ed.Normal(2.0, 1e-6, name="z")
    return {"lj": s.run(lj(w=0.5, y=1.0)), "~v": s.run(z), "z+1": s.run(z + 1.0 > 2.0)}


@case("trainable")
def _(s):
    x = tf.constant(np.random.RandomState(0).randn(6, 3).astype(np.float32))
    with tf.variable_scope("a", initializer=tf.constant_initializer(0.1)):
        d = tfp.trainable_distributions.multivariate_normal_tril(x, 2)
        d2 = tfp.trainable_distributions.normal(x)
    s.run(tf.global_variables_initializer())
    return {
        "names": [v.name for v in tf.global_variables()],
        "lp": s.run(d.log_prob(np.zeros([6, 2], np.float32))),
        "lp2": s.run(d2.log_prob(np.zeros([6], np.float32))),
    }


@case("mcqmc")
def _(s):
    return {
        "h": s.run(tfp.mcmc.sample_halton_sequence(3, 5, randomized=False)),
        "exp": s.run(tfp.monte_carlo.expectation(lambda x: x**2, tf.constant([1.0, 2.0]))),
        "w": s.run(tfp.util.TransformedVariable(2.0, tfb.Exp()).initial_value)
        if hasattr(tfp.util, "TransformedVariable")
        and hasattr(tfp.util.TransformedVariable, "initial_value")
        else 0,
    }


print(json.dumps(found))
