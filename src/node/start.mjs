/**
 * `npm start`: installs what is missing, then runs serve.ts under Node 24 and looks after it. Runs on
 * Node 20 without packages. Nothing that it started outlives it: it stops the server when its own parent
 * is gone, the server stops when this process is gone (the channel between them closes), and a runtime
 * whose server was killed is ended here.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { install, NODE } from "./install.mjs";

const PARENT_POLL_MS = 200;
const STOP_PATIENCE_MS = 15_000;

const stopping = new AbortController();
/** Process id of workerd, as the server reports it. */
let runtime;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stopping.abort());
if (process.env.npm_lifecycle_event) watchParent();

const installed = await install(stopping.signal);
if (stopping.signal.aborted) process.exit(0);
if (installed !== 0) process.exit(1);

const server = spawn(
  NODE,
  [
    "--disable-warning=ExperimentalWarning",
    fileURLToPath(new URL("serve.ts", import.meta.url)),
    // Node itself looks for an --env-file among all arguments before this mark.
    "--",
    ...process.argv.slice(process.argv[2] === "--" ? 3 : 2),
  ],
  { stdio: ["ignore", "inherit", "inherit", "ipc"] },
);
server.on("message", (message) => {
  runtime = message.runtime;
});
server.on("error", (error) => {
  console.error(`could not run ${NODE}: ${error.message}`);
  process.exit(1);
});
server.on("exit", (code, signal) => {
  if (signal && runtime) end(runtime);
  if (signal && !stopping.signal.aborted) console.error(`the server was ended by ${signal}`);
  process.exit(stopping.signal.aborted ? 0 : (code ?? 1));
});
stopping.signal.addEventListener("abort", () => {
  server.kill("SIGTERM");
  setTimeout(() => server.kill("SIGKILL"), STOP_PATIENCE_MS).unref();
});

/** npm stands between a shell and this script: when npm is killed outright, no signal comes through. */
function watchParent() {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) stopping.abort();
  }, PARENT_POLL_MS).unref();
}

function end(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}
