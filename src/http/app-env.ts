import type { Principal } from "../core/principal.ts";
import type { Dispatch } from "../dispatch/dispatch.ts";
import type { InnerCaller, Ports } from "../dispatch/ports.ts";
import type { Runtime } from "../runtime.ts";

/** What the middleware chain of app.ts has put on every request before a route sees it. */
export interface AppEnv {
  Bindings: Env;
  Variables: {
    ports: Ports;
    directory: Runtime["directory"];
    secretBindings: Runtime["secretBindings"];
    /** The resolver: plain words in, ranked rows out. */
    ask: Runtime["ask"];
    dispatch: Dispatch;
    principal: Principal;
    /** PUBLIC_URL, else the origin of the request; no trailing slash. */
    origin: string;
    trace: string;
    /** Present when a row of this deployment made the request from inside. */
    inner: InnerCaller | undefined;
  };
}
