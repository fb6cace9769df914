export * from "./frames";
export * from "./jobs";
export * from "./messages";
