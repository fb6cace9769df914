// torch.distributions, said in Python: the distributions that policies and variational models use. Arguments are not
// validated, since Dynamo switches validation off. In: the helpers' `torch`. Out: the classes, one text for all submodules.
import { BASE } from "./base";
import { COMPOSED } from "./composed";
import { CONSTRAINTS } from "./constraints";
import { CONTINUOUS } from "./continuous";
import { DISCRETE } from "./discrete";
import { POSITIVE } from "./positive";

export const DISTRIBUTIONS_TEXT = BASE + CONSTRAINTS + CONTINUOUS + DISCRETE + COMPOSED + POSITIVE;
