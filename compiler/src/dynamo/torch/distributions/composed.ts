// torch.distributions made of others or over vectors: transforms, mixtures, divergences. Python text.

export const COMPOSED = `

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
    raise NotImplementedError(f"no divergence of {type(p).__name__} from {type(q).__name__} is registered")


@register_kl(Normal, Normal)
def _kl_normal(p, q):
    spread = (p.scale / q.scale).pow(2)
    shift = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (spread + shift - 1 - spread.log())


@register_kl(Categorical, Categorical)
def _kl_categorical(p, q):
    return (p.probs * (p.logits - q.logits)).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_one_hot(p, q):
    return _kl_categorical(p._categorical, q._categorical)


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli(p, q):
    softplus = torch.nn.functional.softplus
    of_ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    return of_ones + (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))


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
