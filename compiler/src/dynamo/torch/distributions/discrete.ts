// torch.distributions over counts and choices. Python text.

export const DISCRETE = `

class _FromLogits(Distribution):
    binary = False

    def _set(self, probs, logits):
        if (probs is None) == (logits is None):
            raise ValueError("one of probs and logits must be given, not both")
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


class Binomial(_FromLogits):
    binary = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if probs is not None:
            total_count, probs = broadcast_all(total_count, probs)
        elif logits is not None:
            total_count, logits = broadcast_all(total_count, logits)
        self._set(probs, logits)
        self.total_count = total_count.type_as(logits if probs is None else probs)
        super().__init__(self.param_shape)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        n, logits = self.total_count, self.logits
        # its gradient at 0 is a half, as that of the softplus that it is a part of
        positive = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2
        ways, hits, misses = torch.lgamma(n + 1), torch.lgamma(value + 1), torch.lgamma(n - value + 1)
        softplus = n * positive + n * torch.log1p(torch.exp(-torch.abs(logits)))
        return value * logits - hits - misses - (softplus - ways)


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
        index, log_probs = torch.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return log_probs.gather(-1, index[..., :1]).squeeze(-1)

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
