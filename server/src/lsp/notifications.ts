// Notifications of our own, to clients that said they read them (`rich`).

/** `fuselens/analysed`: an answer for this version of a document is there */
export interface Analysed {
  readonly uri: string;
  readonly version: number;
  /** of the clock, the compile alone */
  readonly milliseconds: number;
  readonly preset: string;
  readonly target: string;
}

export const ANALYSED = "fuselens/analysed";
