/** A run of base64 shorter than this meets random data too often. */
const MIN_BASE64_RUN = 8;

/** Every way in which a value commonly comes back: as it is, JSON, URL, form, and base64 at any offset. */
export function spellings(value: string): Set<string> {
  const json = JSON.stringify(value).slice(1, -1);
  const slashed = json.replaceAll("/", "\\/");
  const url = encodeURIComponent(value.toWellFormed());
  const strict = url.replace(/[!'()*]/g, percent);
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const spelled = new Set([value, url, strict, form, strict.replaceAll("%20", "+")]);
  for (const text of [url, strict, form]) spelled.add(text.replace(/%[0-9A-F]{2}/g, lower));
  for (const text of [json, slashed]) {
    spelled.add(text);
    spelled.add(text.replace(/[^\x20-\x7e]/g, unicodeEscape));
    spelled.add(text.replace(/[<>&'=]|[^\x20-\x7e]/g, unicodeEscape));
    // The same once more inside a JSON string, as when a JSON document is quoted in another.
    spelled.add(JSON.stringify(text).slice(1, -1));
  }
  for (const text of [...base64Spellings(value), ...base64Spellings(`${value}:`)]) {
    spelled.add(text);
    spelled.add(text.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return spelled;
}

/**
 * The whole base64 form with and without padding, and for a value in the middle of longer data the part
 * that is the same whatever stands around it: at each of the three offsets, less the characters that
 * share bits with a neighbour.
 */
function base64Spellings(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  const whole = Buffer.from(bytes).toString("base64");
  const forms = [whole, whole.replace(/=+$/, "")];
  for (const offset of [0, 1, 2]) {
    const shifted = new Uint8Array(offset + bytes.length);
    shifted.set(bytes, offset);
    const lead = offset === 0 ? 0 : offset + 1;
    const run = Buffer.from(shifted)
      .toString("base64")
      .slice(lead, Math.floor((shifted.length * 8) / 6));
    if (run.length >= MIN_BASE64_RUN) forms.push(run);
  }
  return forms;
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}

function lower(text: string): string {
  return text.toLowerCase();
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
