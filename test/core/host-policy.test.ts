import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundTo, hostOf, judgeTarget } from "../../src/core/host-policy.ts";

const judge = (url: string, allow: string[] = []) => judgeTarget(new URL(url), allow);

describe("judgeTarget", () => {
  it.each([
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://0/",
    "http://2852039166/",
    "http://①②⑦.⓪.⓪.①/",
    "http://[::]/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:4136:e378::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[fd00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[ff02::1]/",
    "http://[100::1]/",
    "http://[5f00::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0:1::]/",
    "http://[::2:3:4:5:6:7:8]/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://169.254.169.254/",
    "http://169.254.169.254./",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://198.19.255.255/",
    "http://198.51.100.7/",
    "http://203.0.113.9/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://127.0.0.1:8787/x",
    "http://localhost./",
    "http://LOCALHOST/",
    "http://a.localhost/",
    "http://metadata.google.internal./",
    "http://foo.local/",
    "http://x.internal/",
    "http://x.INTERNAL./",
    "http://intranet/",
    "http://intranet./",
    "http://a..b/",
    "http://router.home.arpa/",
  ])("refuses %s by the host's name", (url) => {
    expect(judge(url)).toBe(new URL(url).host);
  });

  it.each([
    "https://api.example.com/",
    "http://api.example.com:8080/",
    "https://1.1.1.1/",
    "http://8.8.8.8:53/",
    "https://[2606:4700::1111]/",
    "https://[2001:4860:4860::8888]/",
    "https://notlocal.example/",
    "https://local.example.com./",
    "https://172.32.0.1/",
    "https://100.128.0.1/",
    "https://xn--bcher-kva.example/",
    "https://1.0.0.1.example/",
  ])("lets %s pass", (url) => {
    expect(judge(url)).toBeNull();
  });

  it.each([
    ["file:///etc/passwd", "file:"],
    ["javascript:alert(1)", "javascript:"],
    ["data:text/plain,x", "data:"],
    ["ftp://files.example.com/x", "files.example.com"],
    ["ws://api.example.com/", "api.example.com"],
  ])("refuses the scheme of %s", (url, host) => {
    expect(judge(url)).toBe(host);
  });

  it("refuses credentials in the URL, on an open host too", () => {
    expect(judge("https://user:pw@api.example.com/")).toBe("api.example.com");
    expect(judge("http://user@127.0.0.1:9/", ["127.0.0.1:9"])).toBe("127.0.0.1:9");
    expect(judge("http://user:pw@10.0.0.1/")).toBe("10.0.0.1");
  });

  it("opens exactly the host and port that are named, default ports filled in", () => {
    expect(judge("http://127.0.0.1:9093/", ["127.0.0.1:9093"])).toBeNull();
    expect(judge("http://127.0.0.1:9094/", ["127.0.0.1:9093"])).toBe("127.0.0.1:9094");
    expect(judge("http://localhost:9093/", ["127.0.0.1:9093"])).toBe("localhost:9093");
    expect(judge("http://localhost/", ["localhost:80"])).toBeNull();
    expect(judge("https://LocalHost/", ["localhost:443"])).toBeNull();
    expect(judge("https://localhost/", ["localhost:80"])).toBe("localhost");
    expect(judge("http://[::1]:9/", ["[::1]:9"])).toBeNull();
  });

  it("refuses every address of the private blocks and judges any other without throwing", () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(byte, byte, byte, byte, (a, b, c, d) => {
        const verdict = judge(`http://${a}.${b}.${c}.${d}/`);
        if (a === 0 || a === 10 || a === 127 || a >= 224) expect(verdict).not.toBeNull();
        expect(judge(`http://[::ffff:${a}.${b}.${c}.${d}]/`)).not.toBeNull();
      }),
      { numRuns: 300 },
    );
  });
});

describe("a host binding", () => {
  it("is written with the port only where that is not the scheme's own", () => {
    expect(hostOf(new URL("https://API.example.com:443/x"))).toBe("api.example.com");
    expect(hostOf(new URL("http://127.0.0.1:9093/"))).toBe("127.0.0.1:9093");
  });

  it.each([
    ["https://api.x.ai/v1", ["api.x.ai"], true],
    ["https://api.x.ai/v1", ["API.X.AI"], true],
    ["https://api.x.ai/v1", ["api.x.ai:443"], true],
    ["https://api.x.ai:8443/v1", ["api.x.ai"], false],
    ["https://api.x.ai:8443/v1", ["api.x.ai:8443"], true],
    ["https://evil.api.x.ai/", ["api.x.ai"], false],
    ["https://api.x.ai.evil/", ["api.x.ai"], false],
    ["https://api.x.ai./", ["api.x.ai"], false],
    ["https://api.x.ai/", [], false],
    ["http://api.x.ai/", ["api.x.ai"], false],
    ["http://api.x.ai/", ["api.x.ai:443"], false],
    ["http://api.x.ai/", ["api.x.ai:80"], true],
    ["http://127.0.0.1:9093/", ["127.0.0.1:9093"], true],
    ["http://127.0.0.1:9093/", ["127.0.0.1"], false],
  ])("lets a secret go to %s when bound to %j: %s", (url, hosts, expected) => {
    expect(boundTo(new URL(url), hosts)).toBe(expected);
  });
});
