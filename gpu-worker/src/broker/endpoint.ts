// Endpoints that a worker may bind: ipc in a place of its user's own, or TCP with keys. Errors say what to do instead.
import { statSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";

/** sun_path holds 108 bytes on Linux, 104 on macOS, its closing NUL included */
const MAX_SOCKET_PATH = 103;
const PROBE_MS = 1_000;

/** Throws an Error that says what is wrong with an endpoint; keys: whether a key folder was given. */
export async function checkEndpoint(endpoint: string, keys: boolean): Promise<void> {
  if (endpoint.startsWith("tcp://")) {
    if (!keys) throw new Error("a TCP endpoint needs --keys DIR; 'fuselens worker pair --keys DIR' makes keys");
    return;
  }
  const path = /^ipc:\/\/(.+)$/s.exec(endpoint)?.[1];
  if (path === undefined)
    throw new Error(`--bind takes ipc://PATH or tcp://ADDRESS:PORT, not '${endpoint}'; other transports have no keys`);
  if (path.startsWith("@"))
    throw new Error("an abstract ipc name (ipc://@...) is open to every user of this machine; name a path");
  if (path === "*") return;
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH)
    throw new Error(`the socket's path has ${Buffer.byteLength(path)} bytes, more than ${MAX_SOCKET_PATH}; name a shorter one`); // biome-ignore format: one message
  checkFolder(dirname(path));
  if (await answers(path)) throw new Error(`another worker serves ${endpoint} already; stop it or name another path`);
}

function checkFolder(folder: string): void {
  let mode: number;
  try {
    mode = statSync(folder).mode;
  } catch (e) {
    throw new Error(
      `no folder ${folder} for the socket (${(e as NodeJS.ErrnoException).code}); make it with mode 0700`,
    );
  }
  // where others may write, they could put a socket of theirs in its place; the sticky bit forbids that
  if (process.platform !== "win32" && (mode & 0o022) !== 0 && (mode & 0o1000) === 0)
    throw new Error(`others may write to ${folder}, where the socket would be; 'chmod 700 ${folder}' closes it`);
}

/** whether somebody listens on a socket; libzmq would take it from them without a word */
function answers(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ path });
    const done = (taken: boolean) => {
      socket.destroy();
      resolve(taken);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
    socket.setTimeout(PROBE_MS, () => done(true));
  });
}

/** what a failed bind means to its user */
export function bindError(endpoint: string, e: unknown): Error {
  const { code } = e as NodeJS.ErrnoException;
  const why = e instanceof Error ? e.message : String(e);
  const hint =
    code === "EADDRINUSE" || /in use/i.test(why)
      ? "; another program has it: stop that one or name another port (tcp://ADDRESS:* takes a free one)"
      : code === "EACCES" || /permission/i.test(why)
        ? "; this user may not use it: name a path of yours, or a port above 1024"
        : "";
  return new Error(`can't bind ${endpoint}: ${why}${hint}`);
}
