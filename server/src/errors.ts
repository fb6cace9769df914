/** Something the user can put right (a missing file, a wrong option): one line on stderr, exit status 2. */
export class UsageError extends Error {}
