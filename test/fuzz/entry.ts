// A program of the fuzzers: its exit status is what `main` gives, 2 where that throws.

export function runAsProgram(main: () => Promise<number>): void {
  main().then(
    status => {
      process.exitCode = status;
    },
    (e: unknown) => {
      console.error(e instanceof Error ? e.stack : e);
      process.exitCode = 2;
    },
  );
}
