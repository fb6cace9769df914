// The worker process. As a worker: `--bind ENDPOINT [--keys DIR] [--cache DIR | --no-cache] [--parent PID]
// [--python PROGRAM [--gpus N] [--compile-processes N]]`; prints one line of JSON ({"endpoint": ...}) when it serves. `pair` makes client keys.
const argv = process.argv.slice(2);
const run =
  argv[0] === "pair" ? import("./pair").then(m => m.pair(argv.slice(1))) : import("./serve").then(m => m.serve(argv));
run.catch((e: unknown) => {
  process.stderr.write(`fuselens worker: ${e instanceof Error ? e.message : String(e)}\n`);
  process.exit(2);
});
