// The version that the command line and the language server name; that of package.json, which a test compares.
export const VERSION = "0.1.0";
