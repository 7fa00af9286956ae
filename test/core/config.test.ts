import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, parseConfig } from "../../src/core/config.ts";
import { VERSION } from "../../src/core/version.ts";

const KEY = { TERMINAL_KEY: "0123456789abcdef" };

describe("the configuration", () => {
  it("has a default for everything but the owner key, and is frozen", () => {
    const config = parseConfig(KEY);
    expect(config).toMatchObject({
      DISCOVERY: "public",
      TIME_ZONE: "America/Los_Angeles",
      HTTP_TIMEOUT_MS: 30_000,
      MAX_RESPONSE_BYTES: 1_048_576,
      ALLOW_PRIVATE_HOSTS: [],
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it("reads lists, numbers and origins", () => {
    const config = parseConfig({
      ...KEY,
      ALLOW_PRIVATE_HOSTS: " 127.0.0.1:9093, [::1]:80 ",
      HTTP_TIMEOUT_MS: "250",
      PUBLIC_URL: "https://rowcall.example.com/",
    });
    expect(config).toMatchObject({
      ALLOW_PRIVATE_HOSTS: ["127.0.0.1:9093", "[::1]:80"],
      HTTP_TIMEOUT_MS: 250,
      PUBLIC_URL: "https://rowcall.example.com",
    });
  });

  it("takes an empty value as absent", () => {
    expect(parseConfig({ ...KEY, HTTP_TIMEOUT_MS: "", PUBLIC_URL: "" }).HTTP_TIMEOUT_MS).toBe(
      30_000,
    );
  });

  it.each([
    ["TERMINAL_KEY", undefined, "TERMINAL_KEY is missing"],
    ["TERMINAL_KEY", "short", "TERMINAL_KEY must be at least 16 characters"],
    ["MCP_TOKEN", "short", "MCP_TOKEN must be at least 16 characters"],
    ["DISCOVERY", "maybe", "DISCOVERY must be public or credentialed"],
    ["TIME_ZONE", "Mars/Base", "TIME_ZONE must be an IANA time zone"],
    ["HTTP_TIMEOUT_MS", "-5", "HTTP_TIMEOUT_MS must be a whole number"],
    ["HTTP_TIMEOUT_MS", "0", "HTTP_TIMEOUT_MS must be from 1 to 300000"],
    ["MAX_RESPONSE_BYTES", "1e9", "MAX_RESPONSE_BYTES must be a whole number"],
    ["ALLOW_PRIVATE_HOSTS", "localhost", "ALLOW_PRIVATE_HOSTS must be host:port"],
    ["PUBLIC_URL", "rowcall.example.com", "PUBLIC_URL must be an http(s) origin"],
    ["PUBLIC_URL", "https://rowcall.example.com/sub", "PUBLIC_URL must be an http(s) origin"],
  ])("refuses %s = %s by name and rule", (name, value, message) => {
    const vars = { ...KEY, [name]: value };
    expect(() => parseConfig(vars)).toThrow(ConfigError);
    expect(() => parseConfig(vars)).toThrow(message);
  });

  it("names every bad value at once and shows none of them", () => {
    try {
      parseConfig({ TERMINAL_KEY: "hush-hush", DISCOVERY: "loud-and-clear" });
      expect.unreachable();
    } catch (error) {
      expect(String(error)).toContain("TERMINAL_KEY");
      expect(String(error)).toContain("DISCOVERY");
      expect(String(error)).not.toMatch(/hush|loud/);
    }
  });
});

it("the version in the code is that of package.json", () => {
  const manifest = JSON.parse(
    readFileSync(path.join(import.meta.dirname, "../../package.json"), "utf8"),
  ) as { version: string };
  expect(VERSION).toBe(manifest.version);
});
