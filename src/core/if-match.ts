/**
 * Whether an If-Match header names the state that a resource is in; `version` null: there is no resource.
 * A weak tag counts too: a proxy that compresses an answer weakens its tag, and here the tag is the
 * number of a state, the same whatever form the bytes had.
 */
export function matchesVersion(header: string, version: number | null): boolean {
  if (version === null) return false;
  return header.split(",").some((part) => {
    const tag = part.trim();
    return tag === "*" || /^(?:W\/)?"?(\d+)"?$/.exec(tag)?.[1] === String(version);
  });
}
