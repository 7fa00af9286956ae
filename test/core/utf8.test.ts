import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutUtf8, pageUtf8 } from "../../src/core/utf8.ts";

const text = fc.string({ unit: "grapheme", maxLength: 60 });

describe("cutting text by bytes", () => {
  it("keeps a beginning of at most that many bytes and splits no code point", () => {
    fc.assert(
      fc.property(text, fc.nat(80), (whole, maxBytes) => {
        const cut = cutUtf8(whole, maxBytes);
        expect(whole.startsWith(cut)).toBe(true);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes);
        const rest = [...whole.slice(cut.length)];
        expect([...cut, ...rest]).toEqual([...whole]);
        const next = rest[0] ?? "";
        if (next !== "") expect(Buffer.byteLength(cut + next)).toBeGreaterThan(maxBytes);
        expect(Buffer.byteLength(whole) - Buffer.byteLength(cut) > 0).toBe(cut !== whole);
      }),
    );
  });

  it("pages through the whole, whatever offset a page begins at", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 20 }), (whole, pageBytes) => {
        let seen = "";
        for (let offset: number | null = 0; offset !== null;) {
          const { page, next } = pageUtf8(whole, offset, pageBytes);
          seen += page;
          offset = next;
        }
        expect(seen).toBe(whole);
      }),
    );
  });
});
