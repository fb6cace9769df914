"""A training step: a forward graph's code, what it keeps, and the backward graph's code, beside autograd's.

A step is {forward: {code}, backward: {code}, saved, eager}; the last `saved` results of the forward graph are the first
inputs of the backward graph, sizes before tensors; after them it takes a gradient per result that has one.
"""


class Step:
    """`run(args)`: results and gradients of the generated code. `rival(forward)(args)`: the same by autograd."""

    def __init__(self, step, name):
        import torch

        from fuselens_worker.benchmark import fill, load

        self.forward = load(step["forward"]["code"], f"{name}_forward")
        self.backward = load(step["backward"]["code"], f"{name}_backward")
        self.saved = step["saved"]
        torch.manual_seed(1)
        self.tangents = fill(self.backward.get_args())[self.saved :]

    def args(self, eager=None):
        """Inputs of the forward graph; `eager` is its text, whose names tell weights."""
        from fuselens_worker.benchmark import fill, load, names_of

        return fill(self.forward.get_args(), names_of(load(eager, "fuselens_eager").forward if eager else None))

    def run(self, args):
        results = list(self.forward.call(list(args)))
        kept = results[len(results) - self.saved :] if self.saved else []
        kept.sort(key=lambda value: not isinstance(value, int))
        results = results[: len(results) - self.saved]
        return results, list(self.backward.call([*kept, *self.tangents]))

    def rival(self, forward, wanted):
        """`forward` under autograd; the inputs given to what it returns require gradients where `wanted` says so."""
        import torch

        def step(args):
            results = forward(*args)
            results = list(results) if isinstance(results, (tuple, list)) else [results]
            ends = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
            leaves = [a for a, w in zip(args, wanted) if w]
            tangents = [t.reshape(e.shape) for t, e in zip(self.tangents, ends)]
            if len(self.tangents) != len(ends):
                raise ValueError(f"{len(ends)} results have gradients, {len(self.tangents)} were expected")
            return results, list(torch.autograd.grad(ends, leaves, tangents, allow_unused=True))

        return step

    def exact(self, forward, args, wanted):
        """Results and gradients of `forward` in float64, in one list."""
        tangents, self.tangents = self.tangents, wide(self.tangents)
        try:
            results, gradients = self.rival(forward, wanted)(wide(args))
        finally:
            self.tangents = tangents
        return [r.detach() for r in results] + [g for g in gradients if g is not None]


def wide(args):
    """The same in float64, as leaves where they were."""
    import torch

    return [a.detach().double().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args]


def leaves(args, wanted):
    """Copies of the inputs that autograd differentiates by."""
    from fuselens_worker.benchmark import fresh

    return [a.detach().requires_grad_(True) if w else a for a, w in zip(fresh(args), wanted)]
