import type { PackedDraft } from "../core/event.ts";
import type { Guard } from "../dispatch/ports.ts";

/** A guard and a draft as the texts that cross the object's boundary; stubs.ts packs, ledger.ts reads. */
export interface Parcel {
  head: string;
  data: string | null;
}

export function packParcel(guard: Guard | null, draft: PackedDraft | null): Parcel {
  if (!draft) return { head: JSON.stringify({ guard, draft: null }), data: null };
  const { data, ...rest } = draft;
  return { head: JSON.stringify({ guard, draft: rest }), data };
}

export function readParcel(
  head: string,
  data: string | null,
): { guard: Guard | null; draft: PackedDraft | null } {
  const { guard, draft } = JSON.parse(head) as {
    guard: Guard | null;
    draft: Omit<PackedDraft, "data"> | null;
  };
  return { guard, draft: draft && data !== null ? { ...draft, data } : null };
}
