import { replayInput } from "../core/arguments.ts";
import type { CallInput } from "../core/call.ts";
import type { LedgerEvent, ReceiptData } from "../core/event.ts";
import { unknownKey, type Refusal } from "../core/failure.ts";
import { REDACTED } from "../core/redact.ts";
import type { Ports } from "./ports.ts";

/** What running an invocation again would run, and whether the row is still what it was. */
export type Replay =
  | { outcome: "refused"; refusal: Refusal }
  | {
      outcome: "planned";
      key: string;
      input: CallInput;
      text: string;
      kind: "body" | "args";
      recorded: string;
      current: string;
      matches: boolean;
      /** The refusal of a replay that does not force, when the contract changed. */
      changed: Refusal;
    };

export async function planReplay(ports: Ports, invocation: string): Promise<Replay> {
  const event = await ports.ledger.find(invocation);
  if (event?.kind !== "INVOKE" || event.key === null)
    return refused(404, "unknown_invocation", NO_RECEIPT);
  const data = receiptData(event);
  const text = data.input ?? (data.input_ref ? await ports.blobs.get(data.input_ref) : null);
  if (text === null)
    return refused(409, "replay_input_missing", "The stored input is gone; send it anew.");
  if (text.includes(REDACTED)) {
    return refused(
      409,
      "replay_input_redacted",
      "The input held a secret, which no ledger keeps; send it anew.",
    );
  }
  const capability = await ports.capabilities.resolve(event.key, { fresh: true });
  if (!capability?.row.enabled) {
    return {
      outcome: "refused",
      refusal: unknownKey(event.key, await ports.capabilities.near(event.key)),
    };
  }
  const recorded = data.fingerprints.contract;
  const current = capability.fingerprint;
  return {
    outcome: "planned",
    key: event.key,
    input: replayInput(data.input_kind, text),
    text,
    kind: data.input_kind,
    recorded,
    current,
    matches: recorded === current,
    changed: {
      status: 409,
      error: `contract_changed:${recorded}!=${current}`,
      hint: "The row is not what it was. Read its contract, then replay with force: true or call it anew.",
    },
  };
}

/** The receipt inside an INVOKE event. */
export function receiptData(event: LedgerEvent): ReceiptData {
  return event.data as unknown as ReceiptData;
}

const NO_RECEIPT = "The ledger holds no receipt of that id.";

function refused(status: 404 | 409, error: string, hint: string): Replay {
  return { outcome: "refused", refusal: { status, error, hint } };
}
