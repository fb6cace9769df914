// torch.distributions, said in Python: the distributions that policies and variational models use. Arguments are not
// validated, since Dynamo switches validation off. In: the helpers' `torch`. Out: the classes, one text for all submodules.

const BASE = `import math


class Distribution:
    has_rsample = False
    arg_constraints = {}
    _validate_args = False

    def __init__(self, batch_shape=torch.Size(), event_shape=torch.Size(), validate_args=None):
        self._batch_shape, self._event_shape = batch_shape, event_shape

    @staticmethod
    def set_default_validate_args(value):
        pass

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    @property
    def stddev(self):
        return self.variance.sqrt()

    def _extended_shape(self, sample_shape=torch.Size()):
        return torch.Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    def sample_n(self, n):
        return self.sample((n,))

    def rsample(self, sample_shape=torch.Size()):
        raise NotImplementedError

    def log_prob(self, value):
        raise NotImplementedError

    def prob(self, value):
        return torch.exp(self.log_prob(value))

    def perplexity(self):
        return torch.exp(self.entropy())


class ExponentialFamily(Distribution):
    pass


def broadcast_all(*values):
    if any(isinstance(v, torch.Tensor) for v in values):
        like = next(v for v in values if isinstance(v, torch.Tensor))
        values = [v if isinstance(v, torch.Tensor) else torch.tensor(v, dtype=like.dtype, device=like.device) for v in values]
    else:
        values = [torch.tensor(v, dtype=torch.get_default_dtype()) for v in values]
    return torch.broadcast_tensors(*values)


def logits_to_probs(logits, is_binary=False):
    return torch.sigmoid(logits) if is_binary else torch.nn.functional.softmax(logits, dim=-1)


def clamp_probs(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    clamped = clamp_probs(probs)
    return torch.log(clamped) - torch.log1p(-clamped) if is_binary else torch.log(clamped)


def _sum_rightmost(value, dims):
    if dims == 0:
        return value
    return value.reshape(value.shape[:-dims] + (-1,)).sum(-1)
`;

const CONTINUOUS = `

class _LocationScale(Distribution):
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size())

    @property
    def mean(self):
        return self.loc

    def expand(self, batch_shape, _instance=None):
        return type(self)(self.loc.expand(batch_shape), self.scale.expand(batch_shape))


class Normal(_LocationScale, ExponentialFamily):
    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return self.scale

    @property
    def variance(self):
        return self.stddev.pow(2)

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        eps = torch.empty(shape, dtype=self.loc.dtype, device=self.loc.device).normal_()
        return self.loc + eps * self.scale

    def log_prob(self, value):
        var = self.scale**2
        return -((value - self.loc) ** 2) / (2 * var) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value):
        return 0.5 * (1 + torch.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value):
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)


class Laplace(_LocationScale):
    @property
    def variance(self):
        return 2 * self.scale.pow(2)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        u = torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device) * 2 - 1
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value):
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def entropy(self):
        return 1 + torch.log(2 * self.scale)


class Gumbel(_LocationScale):
    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))
        return self.loc - self.scale * torch.log(-torch.log(u))

    def log_prob(self, value):
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()


class Uniform(Distribution):
    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size())

    @property
    def mean(self):
        return (self.high + self.low) / 2

    @property
    def variance(self):
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape=torch.Size()):
        u = torch.rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value):
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return torch.log(inside) - torch.log(self.high - self.low)

    def entropy(self):
        return torch.log(self.high - self.low)


class Exponential(ExponentialFamily):
    has_rsample = True

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size())

    @property
    def mean(self):
        return self.rate.reciprocal()

    @property
    def variance(self):
        return self.rate.pow(-2)

    def rsample(self, sample_shape=torch.Size()):
        return torch.empty(self._extended_shape(sample_shape), dtype=self.rate.dtype, device=self.rate.device).exponential_() / self.rate

    def log_prob(self, value):
        return self.rate.log() - self.rate * value

    def entropy(self):
        return 1.0 - torch.log(self.rate)


class MultivariateNormal(Distribution):
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if scale_tril is None:
            of = covariance_matrix if covariance_matrix is not None else torch.linalg.inv(precision_matrix)
            scale_tril = torch.linalg.cholesky(of)
        shape = torch.broadcast_shapes(scale_tril.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(shape + loc.shape[-1:])
        self.scale_tril = self._unbroadcasted_scale_tril = scale_tril
        super().__init__(self.loc.shape[:-1], self.loc.shape[-1:])

    @property
    def mean(self):
        return self.loc

    @property
    def covariance_matrix(self):
        return self.scale_tril @ self.scale_tril.mT

    @property
    def variance(self):
        return self.scale_tril.pow(2).sum(-1)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        eps = torch.empty(shape, dtype=self.loc.dtype, device=self.loc.device).normal_()
        return self.loc + (self.scale_tril @ eps.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self):
        return self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        diff = (value - self.loc).unsqueeze(-1)
        solved = torch.linalg.solve_triangular(self.scale_tril, diff, upper=False)
        distance = solved.squeeze(-1).pow(2).sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self):
        return 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
`;

const DISCRETE = `

class _FromLogits(Distribution):
    binary = False

    def _set(self, probs, logits):
        if (probs is None) == (logits is None):
            raise ValueError("Either \`probs\` or \`logits\` must be specified, but not both.")
        self._probs, self._logits = probs, logits

    @property
    def probs(self):
        return logits_to_probs(self._logits, self.binary) if self._probs is None else self._probs

    @property
    def logits(self):
        return probs_to_logits(self._probs, self.binary) if self._logits is None else self._logits

    @property
    def param_shape(self):
        return (self._logits if self._probs is None else self._probs).size()


class Bernoulli(_FromLogits, ExponentialFamily):
    binary = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        if probs is not None:
            (probs,) = broadcast_all(probs)
        if logits is not None:
            (logits,) = broadcast_all(logits)
        self._set(probs, logits)
        super().__init__(self.param_shape)

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        return (self.probs >= 0.5).to(self.probs)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        logits, value = broadcast_all(self.logits, value)
        return -torch.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return torch.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Categorical(_FromLogits):
    def __init__(self, probs=None, logits=None, validate_args=None):
        if probs is not None:
            probs = probs / probs.sum(-1, keepdim=True)
        elif logits is not None:
            logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._set(probs, logits)
        self._num_events = self.param_shape[-1]
        super().__init__(self.param_shape[:-1])

    @property
    def mode(self):
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape=torch.Size()):
        sample_shape = torch.Size(sample_shape)
        flat = self.probs.reshape(-1, self._num_events)
        samples = torch.multinomial(flat, sample_shape.numel(), True).T
        return samples.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        value = value.long().unsqueeze(-1)
        value, log_pmf = torch.broadcast_tensors(value, self.logits)
        return log_pmf.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)


class OneHotCategorical(Distribution):
    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:])

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    mean = probs

    @property
    def mode(self):
        return torch.nn.functional.one_hot(self.probs.argmax(dim=-1), self.probs.shape[-1]).to(self.probs)

    def sample(self, sample_shape=torch.Size()):
        indices = self._categorical.sample(sample_shape)
        return torch.nn.functional.one_hot(indices, self._categorical._num_events).to(self.probs)

    def log_prob(self, value):
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()


class OneHotCategoricalStraightThrough(OneHotCategorical):
    has_rsample = True

    def rsample(self, sample_shape=torch.Size()):
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class RelaxedOneHotCategorical(Distribution):
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:])

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(torch.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        return torch.softmax((self.logits - torch.log(-torch.log(u))) / self.temperature, -1)
`;

const COMPOSED = `

class Independent(Distribution):
    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        n = reinterpreted_batch_ndims
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        shape = base_distribution.batch_shape + base_distribution.event_shape
        split = len(base_distribution.batch_shape) - n
        super().__init__(shape[:split], shape[split:])

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    def sample(self, sample_shape=torch.Size()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)


class Transform:
    event_dim = 0

    def __init__(self, cache_size=0):
        self._cache_size = cache_size

    def __call__(self, x):
        return self._call(x)

    @property
    def inv(self):
        return _Inverse(self)


class _Inverse(Transform):
    def __init__(self, of):
        super().__init__()
        self._of = of

    def _call(self, y):
        return self._of._inverse(y)

    def _inverse(self, x):
        return self._of._call(x)

    def log_abs_det_jacobian(self, x, y):
        return -self._of.log_abs_det_jacobian(y, x)


class TanhTransform(Transform):
    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - torch.nn.functional.softplus(-2.0 * x))


class SigmoidTransform(Transform):
    def _call(self, x):
        return clamp_probs(torch.sigmoid(x))

    def _inverse(self, y):
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -torch.nn.functional.softplus(-x) - torch.nn.functional.softplus(x)


class ExpTransform(Transform):
    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class AffineTransform(Transform):
    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale = self.scale
        size = torch.log(torch.abs(scale)) if isinstance(scale, torch.Tensor) else torch.full_like(x, math.log(abs(scale)))
        return _sum_rightmost(size, self.event_dim)


class ComposeTransform(Transform):
    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = parts

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = 0
        for part in self.parts:
            y = part(x)
            total = total + part.log_abs_det_jacobian(x, y)
            x = y
        return total


class TransformedDistribution(Distribution):
    def __init__(self, base_distribution, transforms, validate_args=None):
        self.base_dist = base_distribution
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        super().__init__(base_distribution.batch_shape, base_distribution.event_shape)

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            x = self.base_dist.sample(sample_shape)
            for transform in self.transforms:
                x = transform(x)
            return x

    def rsample(self, sample_shape=torch.Size()):
        x = self.base_dist.rsample(sample_shape)
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value):
        total, y = 0.0, value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            total = total - _sum_rightmost(transform.log_abs_det_jacobian(x, y), len(self.event_shape))
            y = x
        return total + self.base_dist.log_prob(y)


class LogNormal(TransformedDistribution):
    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale), ExpTransform())


class MixtureSameFamily(Distribution):
    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape)

    @property
    def mean(self):
        probs = self.mixture_distribution.probs
        for _ in self.event_shape:
            probs = probs.unsqueeze(-1)
        return torch.sum(probs * self.component_distribution.mean, dim=-1 - len(self.event_shape))

    def log_prob(self, value):
        value = value.unsqueeze(-1 - len(self.event_shape))
        weights = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(self.component_distribution.log_prob(value) + weights, dim=-1)


_KL = {}


def register_kl(p, q):
    def register(f):
        _KL[p, q] = f
        return f
    return register


def kl_divergence(p, q):
    for a in type(p).__mro__:
        for b in type(q).__mro__:
            if (a, b) in _KL:
                return _KL[a, b](p, q)
    raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")


@register_kl(Normal, Normal)
def _kl_normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    t1 = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + t1 - 1 - ratio.log())


@register_kl(Categorical, Categorical)
def _kl_categorical(p, q):
    return (p.probs * (p.logits - q.logits)).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_one_hot(p, q):
    return _kl_categorical(p._categorical, q._categorical)


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli(p, q):
    softplus = torch.nn.functional.softplus
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    return t1 + (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))


@register_kl(Independent, Independent)
def _kl_independent(p, q):
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(MultivariateNormal, MultivariateNormal)
def _kl_multivariate(p, q):
    solve = torch.linalg.solve_triangular
    spread = solve(q.scale_tril, p.scale_tril, upper=False).pow(2).sum((-2, -1))
    shift = solve(q.scale_tril, (q.loc - p.loc).unsqueeze(-1), upper=False).squeeze(-1).pow(2).sum(-1)
    return q._half_log_det() - p._half_log_det() + 0.5 * (spread + shift - p.event_shape[0])
`;

export const DISTRIBUTIONS_TEXT = BASE + CONTINUOUS + DISCRETE + COMPOSED;
