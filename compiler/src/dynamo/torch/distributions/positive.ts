// torch.distributions over positive numbers, shares and counts without a bound. Python text.

export const POSITIVE = `

class Gamma(ExponentialFamily):
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size())

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    def expand(self, batch_shape, _instance=None):
        return type(self)(self.concentration.expand(batch_shape), self.rate.expand(batch_shape))

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        return torch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)

    def log_prob(self, value):
        a, b = self.concentration, self.rate
        return a * torch.log(b) + (a - 1) * torch.log(value) - b * value - torch.lgamma(a)

    def entropy(self):
        a = self.concentration
        return a - torch.log(self.rate) + torch.lgamma(a) + (1.0 - a) * torch.digamma(a)


class Chi2(Gamma):
    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5)

    df = property(lambda self: self.concentration * 2)


class Dirichlet(ExponentialFamily):
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:])

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True))

    def rsample(self, sample_shape=()):
        return torch._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        a = self.concentration
        return ((a - 1.0) * torch.log(value)).sum(-1) + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    def entropy(self):
        a = self.concentration
        total, k = a.sum(-1), a.size(-1)
        spread = torch.lgamma(a).sum(-1) - torch.lgamma(total)
        return spread - (k - total) * torch.digamma(total) - ((a - 1.0) * torch.digamma(a)).sum(-1)


class Beta(ExponentialFamily):
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        both = broadcast_all(concentration1, concentration0)
        self._dirichlet = Dirichlet(torch.stack(both, -1))
        super().__init__(self._dirichlet._batch_shape)

    concentration1 = property(lambda self: self._dirichlet.concentration[..., 0])
    concentration0 = property(lambda self: self._dirichlet.concentration[..., 1])
    mean = property(lambda self: self.concentration1 / (self.concentration1 + self.concentration0))
    mode = property(lambda self: (self.concentration1 - 1) / (self.concentration1 + self.concentration0 - 2))

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()


class StudentT(Distribution):
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size())

    mean = property(lambda self: torch.where(self.df > 1, self.loc, float("nan")))
    mode = property(lambda self: self.loc)

    @property
    def variance(self):
        wide = self.scale.pow(2) * self.df / (self.df - 2)
        return torch.where(self.df > 2, wide, torch.where(self.df > 1, float("inf"), float("nan")))

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        x = torch.empty(shape, dtype=self.df.dtype, device=self.df.device).normal_()
        return self.loc + self.scale * x * torch.rsqrt(self._chi2.rsample(sample_shape) / self.df)

    def log_prob(self, value):
        y = (value - self.loc) / self.scale
        z = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        z = z + torch.lgamma(0.5 * self.df) - torch.lgamma(0.5 * (self.df + 1.0))
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - z


class Cauchy(_LocationScale):
    mode = property(lambda self: self.loc)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        return self.loc + torch.empty(shape, dtype=self.loc.dtype, device=self.loc.device).cauchy_() * self.scale

    def log_prob(self, value):
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()


class HalfNormal(Distribution):
    has_rsample = True

    def __init__(self, scale, validate_args=None):
        self.base_dist = Normal(0, scale)
        super().__init__(self.base_dist.batch_shape)

    scale = property(lambda self: self.base_dist.scale)
    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))

    def rsample(self, sample_shape=torch.Size()):
        return self.base_dist.rsample(sample_shape).abs()

    def log_prob(self, value):
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -float("inf"))


class Poisson(ExponentialFamily):
    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size())

    mean = property(lambda self: self.rate)
    variance = property(lambda self: self.rate)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return torch.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()


class NegativeBinomial(_FromLogits):
    binary = True

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        given = probs if probs is not None else logits
        self.total_count, given = broadcast_all(total_count, given)
        self._set(given if probs is not None else None, given if probs is None else None)
        super().__init__(self.param_shape)

    mean = property(lambda self: self.total_count * torch.exp(self.logits))
    variance = property(lambda self: self.mean / torch.sigmoid(-self.logits))

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            rate = Gamma(self.total_count, torch.exp(-self.logits)).sample(sample_shape)
            return torch.poisson(rate)

    def log_prob(self, value):
        logsigmoid = torch.nn.functional.logsigmoid
        shares = self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        ways = torch.lgamma(self.total_count + value) - torch.lgamma(1.0 + value) - torch.lgamma(self.total_count)
        return shares + ways


@register_kl(Gamma, Gamma)
def _kl_gamma(p, q):
    a, b = p.concentration, q.concentration
    rates = b * (p.rate / q.rate).log() + (q.rate / p.rate - 1) * a
    return rates + torch.lgamma(b) - torch.lgamma(a) + (a - b) * torch.digamma(a)


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    counts = torch.lgamma(total) - torch.lgamma(b.sum(-1)) - (torch.lgamma(a) - torch.lgamma(b)).sum(-1)
    return counts + ((a - b) * (torch.digamma(a) - torch.digamma(total).unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _kl_beta(p, q):
    return _kl_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Poisson, Poisson)
def _kl_poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)
`;
