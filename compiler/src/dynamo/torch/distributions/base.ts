// torch.distributions: what all distributions are, and the helpers of their parameters. Python text.

export const BASE = `import math


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
