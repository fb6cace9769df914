// What scipy.linalg and scipy.stats give to constructors: factors of matrices, which flows of invertible layers start from, and
// samples that weights start from. Python text over numpy; the values are not worked out, moments of normal distributions are.
const SCIPY_LINALG = `
import numpy as np
from numpy.linalg import cholesky, det, eig, eigh, eigvalsh, inv, lstsq, norm, pinv, solve


def _unlike(like, *shape):
    made = np.random.rand(*shape)
    return made.astype(like.dtype) if like.dtype.kind == "f" else made


def lu(a, permute_l=False, **kwargs):
    a = np.asarray(a)
    n, m = a.shape
    k = min(n, m)
    low, up = _unlike(a, n, k), _unlike(a, k, m)
    return (low, up) if permute_l else (_unlike(a, n, n), low, up)


def qr(a, overwrite_a=False, lwork=None, mode="full", **kwargs):
    a = np.asarray(a)
    n, m = a.shape
    k = n if mode == "full" else min(n, m)
    return (_unlike(a, k, m),) if mode == "r" else (_unlike(a, n, k), _unlike(a, k, m))


def svd(a, full_matrices=True, compute_uv=True, **kwargs):
    a = np.asarray(a)
    n, m = a.shape
    k = min(n, m)
    if not compute_uv:
        return _unlike(a, k)
    return (_unlike(a, n, n), _unlike(a, k), _unlike(a, m, m)) if full_matrices else (_unlike(a, n, k), _unlike(a, k), _unlike(a, k, m))


def expm(A):
    a = np.asarray(A)
    return _unlike(a, *a.shape)


logm = sqrtm = expm


def hadamard(n, dtype=int):
    h = np.ones((1, 1))
    while h.shape[0] < n:
        h = np.concatenate([np.concatenate([h, h], 1), np.concatenate([h, -h], 1)], 0)
    return h


def toeplitz(c, r=None):
    c = np.asarray(c)
    return _unlike(c, c.size, c.size if r is None else np.asarray(r).size)


def block_diag(*arrs):
    arrs = [np.asarray(a) for a in arrs]
    return _unlike(arrs[0], sum([a.shape[0] for a in arrs]), sum([a.shape[1] for a in arrs]))
`;

const SCIPY_STATS = `
import math
import numpy as np


def _density(x):
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _below(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


class _Distribution:
    def __init__(self, moments=None, shapes=0):
        self._moments = moments or (lambda: (0.0, 1.0))
        self._shapes = shapes

    def __call__(self, *shapes, **kwargs):
        return _Frozen(self, shapes, kwargs)

    def _given(self, args, kwargs, size=False):
        names = ["a", "b"][:self._shapes] + ["loc", "scale"] + (["size"] if size else [])
        return {"loc": 0, "scale": 1, **dict(zip(names, args)), **kwargs}

    def rvs(self, *args, **kwargs):
        size = self._given(args, kwargs, True).get("size", 1)
        return np.random.rand(*(size if isinstance(size, (tuple, list)) else (size,)))

    def stats(self, *args, moments="mv", **kwargs):
        g = self._given(args, kwargs)
        mean, var = self._moments(*[g[n] for n in ["a", "b"][:self._shapes]])
        return g["loc"] + g["scale"] * mean, g["scale"] ** 2 * var

    def mean(self, *args, **kwargs):
        return self.stats(*args, **kwargs)[0]

    def var(self, *args, **kwargs):
        return self.stats(*args, **kwargs)[1]

    def std(self, *args, **kwargs):
        return math.sqrt(self.var(*args, **kwargs))


class _Frozen:
    def __init__(self, of, shapes, kwargs):
        self.dist, self.args, self.kwds = of, shapes, kwargs

    def rvs(self, size=1, random_state=None):
        return self.dist.rvs(*self.args, size=size, **self.kwds)

    def mean(self):
        return self.dist.mean(*self.args, **self.kwds)

    def var(self):
        return self.dist.var(*self.args, **self.kwds)

    def std(self):
        return self.dist.std(*self.args, **self.kwds)


def _truncated(a, b):
    inside = _below(b) - _below(a)
    mean = (_density(a) - _density(b)) / inside
    return mean, 1 + (a * _density(a) - b * _density(b)) / inside - mean * mean


norm = _Distribution()
truncnorm = _Distribution(_truncated, 2)
uniform = _Distribution(lambda: (0.5, 1 / 12))
`;

/** contractions in the order that torch.einsum takes; the order that opt_einsum looks for changes no value */
const OPT_EINSUM = `
class _Expression:
    def __init__(self, subscripts, constants):
        self.subscripts, self.constants = subscripts, constants

    def __call__(self, *arrays, **kwargs):
        given = iter(arrays)
        return contract(self.subscripts, *[next(given) if c is None else c for c in self.constants])


def contract(subscripts, *operands, **kwargs):
    if not isinstance(subscripts, str):
        return torch.einsum(subscripts, *operands)
    return torch.einsum(subscripts, *[o if isinstance(o, torch.Tensor) else torch.as_tensor(o) for o in operands])


def contract_expression(subscripts, *shapes, constants=(), **kwargs):
    return _Expression(subscripts, [s if i in constants else None for i, s in enumerate(shapes)])
`;

/** module name → text */
export const SCIPY: Readonly<Record<string, string>> = {
  "scipy.linalg": SCIPY_LINALG,
  "scipy.stats": SCIPY_STATS,
  opt_einsum: OPT_EINSUM,
};
