// torch.distributions.constraints: names for sets of values, which classes of distributions mention. Nothing is checked
// against them. Python text.

export const CONSTRAINTS = `

class Constraint:
    is_discrete = False
    event_dim = 0

    def __call__(self, *args, **kwargs):
        return self

    def check(self, value):
        return torch.ones_like(value, dtype=torch.bool)


def dependent_property(fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
    return property if fn is None else property(fn)


def is_dependent(constraint):
    return False


dependent = boolean = one_hot = nonnegative_integer = positive_integer = integer_interval = Constraint()
real = real_vector = positive = nonnegative = unit_interval = interval = half_open_interval = simplex = Constraint()
greater_than = greater_than_eq = less_than = multinomial = independent = cat = stack = square = Constraint()
lower_triangular = lower_cholesky = corr_cholesky = symmetric = positive_definite = positive_semidefinite = Constraint()
`;
