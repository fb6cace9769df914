// What scipy.linalg gives to constructors: factors of matrices, which flows of invertible layers start from. Python text over
// numpy; the values are not worked out.
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

/** module name → text */
export const SCIPY: Readonly<Record<string, string>> = { "scipy.linalg": SCIPY_LINALG };
