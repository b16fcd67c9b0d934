"""The formulas of the optimizers, as functions on tensors.

The variable and its slots come first, which a formula changes in place, then the op's other inputs
by their names; hyper-parameters arrive as Python numbers.

Source: the update rules as TensorFlow's op documentation states them.
"""

from __future__ import annotations

import cmath
import math

import torch


def gradient_descent(var, alpha, delta):
    var.sub_(delta, alpha=alpha)


def _shrink(prox, rate, l1, l2):
    """The proximal step: soft threshold by ``rate * l1``, then scale for ``l2``."""
    if l1 > 0:
        prox = prox.sign() * (prox.abs() - rate * l1).clamp_min_(0)
    return prox / (1 + l2 * rate)


def proximal_gradient_descent(var, alpha, l1, l2, delta):
    var.copy_(_shrink(var - delta * alpha, alpha, l1, l2))


def adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    accum.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    update = (accum_update + epsilon).sqrt_().mul_((accum + epsilon).rsqrt_()).mul_(grad)
    var.sub_(update, alpha=lr)
    accum_update.mul_(rho).addcmul_(update, update, value=1 - rho)


def adagrad(var, accum, lr, grad, update_slots):
    if update_slots:
        accum.addcmul_(grad, grad)
    var.sub_(accum.rsqrt().mul_(grad), alpha=lr)


def check_strengths(lr, l1, l2, lr_power=0.0, l2_shrinkage=0.0):
    """Refuses what TensorFlow refuses, NaN included."""
    for name, value in (("l1", l1), ("l2", l2), ("l2 shrinkage", l2_shrinkage)):
        if not value >= 0:
            raise ValueError(f"{name} regularization strength must not be negative; found {value}")
    if not lr > 0:
        raise ValueError(f"lr must be positive; found {lr}")
    if not lr_power <= 0:
        raise ValueError(f"lr_power must not be positive; found {lr_power}")


def proximal_adagrad(var, accum, lr, l1, l2, grad):
    check_strengths(lr, l1, l2)
    accum.addcmul_(grad, grad)
    rate = accum.rsqrt().mul_(lr)
    var.copy_(_shrink(var - grad * rate, rate, l1, l2))


def adagrad_da(
    var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step
):
    gradient_accumulator.add_(grad)
    gradient_squared_accumulator.addcmul_(grad, grad)
    total = gradient_accumulator
    if l1 > 0:
        total = total.sign() * (total.abs() - l1 * global_step).clamp_min_(0)
    var.copy_(total * -lr / (gradient_squared_accumulator.sqrt() + l2 * global_step * lr))


def momentum(var, accum, lr, grad, momentum, use_nesterov):
    accum.mul_(momentum).add_(grad)
    if use_nesterov:
        var.sub_(grad, alpha=lr).sub_(accum, alpha=lr * momentum)
    else:
        var.sub_(accum, alpha=lr)


def adam_rate(beta1_power, beta2_power, lr):
    """The step size with both bias corrections in it; not finite, as in TF, where one is none."""
    if isinstance(beta1_power, complex):
        return lr * cmath.sqrt(1 - beta2_power) / (1 - beta1_power)
    if beta1_power == 1 or beta2_power > 1:
        return math.nan if beta2_power >= 1 else math.copysign(math.inf, lr)
    return lr * math.sqrt(1 - beta2_power) / (1 - beta1_power)


def adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov):
    rate = adam_rate(beta1_power, beta2_power, lr)
    m.lerp_(grad, 1 - beta1)
    v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    direction = (m * beta1).add_(grad, alpha=1 - beta1) if use_nesterov else m
    var.addcdiv_(direction, v.sqrt().add_(epsilon), value=-rate)


def ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    m.lerp_(grad, 1 - beta1)
    torch.maximum(v.mul_(beta2), grad.abs(), out=v)
    var.addcdiv_(m, v + epsilon, value=-adam_rate(beta1_power, 0.0, lr))


def rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad):
    ms.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    mom.mul_(momentum).addcmul_(grad, (ms + epsilon).rsqrt_(), value=lr)
    var.sub_(mom)


def centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
    ms.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    mg.mul_(rho).add_(grad, alpha=1 - rho)
    spread = (ms - mg * mg).add_(epsilon)
    mom.mul_(momentum).addcmul_(grad, spread.rsqrt_(), value=lr)
    var.sub_(mom)


def add_sign(var, m, lr, alpha, sign_decay, beta, grad):
    m.mul_(beta).add_(grad, alpha=1 - beta)
    agreement = grad.sign().mul_(m.sign())
    var.sub_(agreement.mul_(sign_decay).add_(alpha).mul_(grad), alpha=lr)


def power_sign(var, m, lr, logbase, sign_decay, beta, grad):
    m.mul_(beta).add_(grad, alpha=1 - beta)
    agreement = grad.sign().mul_(m.sign())
    var.sub_(agreement.mul_(logbase * sign_decay).exp_().mul_(grad), alpha=lr)


def _ftrl(var, accum, linear, grad, shrunk, lr, l1, l2, lr_power):
    def scale(accumulated):
        return accumulated.sqrt() if lr_power == -0.5 else accumulated.pow(-lr_power)

    before = scale(accum)
    after = scale(accum.addcmul_(grad, grad))
    linear.add_(shrunk).sub_((after - before).div_(lr).mul_(var))
    numerator = linear.sign().mul_(l1).sub_(linear) if l1 else linear.neg()
    quotient = numerator.div_(after.div_(lr).add_(2 * l2))
    var.copy_(torch.where(linear.abs() > l1, quotient, 0))


def ftrl(var, accum, linear, grad, lr, l1, l2, lr_power):
    _ftrl(var, accum, linear, grad, grad, lr, l1, l2, lr_power)


def ftrl_v2(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power):
    shrunk = torch.add(grad, var, alpha=2 * l2_shrinkage)
    _ftrl(var, accum, linear, grad, shrunk, lr, l1, l2, lr_power)
