// How a root module that its file never calls is analysed, as reports say it.
export const IN_EVAL = "in eval() without grad";
/** its own code takes gradients */
export const IN_EVAL_WITH_GRAD = "in eval() with grad";
export const IN_TRAINING = "in train() with grad";
