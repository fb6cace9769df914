// How a root module that its file never calls is analysed, as reports say it.
export const IN_EVAL = "in eval() without grad";
export const IN_TRAINING = "in train() with grad";
