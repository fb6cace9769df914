// The worker process. As a worker: `--bind ENDPOINT [--keys DIR] [--cache DIR] [--parent PID] [--python PROGRAM [--gpus N]]`; prints one line of JSON
// ({"endpoint": ...}) when it serves. `pair` makes client keys. As an executor child: `--executor=cpu`.
// Each of the three loads its own part alone: a cold executor has a tenth of a second.
const executor = process.argv.slice(2).find(a => a.startsWith("--executor="));
const argv = process.argv.slice(2);
const run = executor
  ? import("./cpu/executor").then(m => m.runExecutor())
  : argv[0] === "pair"
    ? import("./pair").then(m => m.pair(argv.slice(1)))
    : import("./serve").then(m => m.serve(argv));
run.catch((e: unknown) => {
  process.stderr.write(`fuselens worker: ${e instanceof Error ? e.message : String(e)}\n`);
  process.exit(2);
});
