// torch.distributions, said in Python: the distributions that policies and variational models use. Arguments are not
// validated, since Dynamo switches validation off. In: the helpers' `torch`. Out: the classes, one text for all submodules.
import { BASE } from "./base";
import { COMPOSED } from "./composed";
import { CONSTRAINTS } from "./constraints";
import { CONTINUOUS } from "./continuous";
import { DISCRETE } from "./discrete";
import { POSITIVE } from "./positive";

export const DISTRIBUTIONS_TEXT = BASE + CONSTRAINTS + CONTINUOUS + DISCRETE + COMPOSED + POSITIVE;

/** names that torch.distributions has beside them: what they make is unknown */
export const OTHER_DISTRIBUTIONS: ReadonlySet<string> = new Set(
  (
    "ContinuousBernoulli FisherSnedecor Geometric HalfCauchy InverseGamma Kumaraswamy LKJCholesky LogisticNormal " +
    "LowRankMultivariateNormal Multinomial Pareto RelaxedBernoulli VonMises Weibull Wishart AbsTransform CatTransform " +
    "CorrCholeskyTransform CumulativeDistributionTransform IndependentTransform LowerCholeskyTransform " +
    "PositiveDefiniteTransform PowerTransform ReshapeTransform SoftmaxTransform SoftplusTransform StackTransform " +
    "StickBreakingTransform biject_to transform_to identity_transform"
  ).split(" "),
);
