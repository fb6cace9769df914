export * from "./frames";
export * from "./jobs";
export * from "./kernel_bytes";
export * from "./messages";
