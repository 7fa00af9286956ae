/**
 * Where a request may go (SPEC §8). Names are judged as written: a Worker can neither resolve nor pin a
 * name, so a public name that points inside (127.0.0.1.nip.io) passes here. On Cloudflare `fetch` reaches
 * no private network; elsewhere the machine's own firewall has to say so. What stands between a secret
 * and such a name is the host binding.
 */

/** First address and prefix length of what IANA lists as not globally reachable, and of metadata services. */
const REFUSED_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8], // this network; 0.0.0.0 connects to loopback
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // carrier NAT, and metadata of Alibaba Cloud
  ["127.0.0.0", 8],
  ["168.63.129.16", 32], // wire server of Azure
  ["169.254.0.0", 16], // link-local, and metadata of most clouds
  ["172.16.0.0", 12],
  ["192.0.0.0", 24], // protocol assignments, and metadata of Oracle Cloud
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16],
  ["198.18.0.0", 15], // benchmarking
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 3], // multicast, reserved, broadcast
];

/**
 * Only 2000::/3 is global unicast, and these parts of it are not. All else falls by that one rule:
 * ::, ::1, IPv4-mapped and -compatible, NAT64 64:ff9b::/96, fc00::/7, fe80::/10, fec0::/10, ff00::/8.
 */
const REFUSED_V6: readonly (readonly [string, number])[] = [
  ["2001:0000", 23], // protocol assignments: Teredo, ORCHID, benchmarking
  ["2001:0db8", 32], // documentation
  ["2002:0000", 16], // 6to4 carries an IPv4 address
  ["3fff:0000", 20], // documentation
];

const REFUSED_SUFFIXES = [".localhost", ".local", ".internal", ".home.arpa"] as const;

/**
 * Null when the target may be reached, else what stands after `ERR:http:blocked_host:`. `allow` holds
 * exact, lower-case `host:port`; it opens the address, never another scheme or credentials in the URL.
 */
export function judgeTarget(url: URL, allow: readonly string[]): string | null {
  const host = hostOf(url) || url.protocol;
  if (url.protocol !== "http:" && url.protocol !== "https:") return host;
  if (url.username !== "" || url.password !== "") return host;
  if (allow.includes(hostPort(url))) return null;
  return isRefusedName(url.hostname) ? host : null;
}

/** The host in the notation of a binding: `host` for the scheme's default port, else `host:port`. */
export function hostOf(url: URL): string {
  return url.host.toLowerCase();
}

/**
 * May a secret bound to `hosts` go to this URL? `host` stands for https on 443 alone. Over plain http
 * anyone on the way reads the secret, so there the owner must have named the port (`host:80`,
 * `127.0.0.1:9093`): a row edited from https to http is not enough to send one in the clear.
 */
export function boundTo(url: URL, hosts: readonly string[]): boolean {
  const full = hostPort(url);
  const short = url.protocol === "https:" && url.port === "" ? hostOf(url) : full;
  return hosts.some((host) => {
    const lower = host.toLowerCase();
    return lower === full || lower === short;
  });
}

function hostPort(url: URL): string {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return `${url.hostname.toLowerCase()}:${port}`;
}

/** The URL parser has already turned every spelling of an IPv4 address (hex, octal, 127.1) into four decimals. */
function isRefusedName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  if (name.startsWith("[")) return isRefusedV6(name.slice(1, -1));
  const v4 = parseV4(name);
  if (v4 !== null) return REFUSED_V4.some(([from, bits]) => sharesPrefix(v4, parseV4(from)!, bits));
  const labels = name.split(".");
  if (labels.length < 2 || labels.includes("")) return true;
  return REFUSED_SUFFIXES.some((suffix) => `.${name}`.endsWith(suffix));
}

function isRefusedV6(text: string): boolean {
  const high = highHalfV6(text);
  if (high === null || !sharesPrefix(high, 0x2000_0000, 3)) return true;
  return REFUSED_V6.some(([from, bits]) => sharesPrefix(high, highHalfV6(`${from}::`)!, bits));
}

function parseV4(text: string): number | null {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return null;
  return text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** The first 32 bits of an address as the URL parser prints it, which decide every rule above. */
function highHalfV6(text: string): number | null {
  const [head = "", tail] = text.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail === undefined && groups.length !== 8) return null;
  // With fewer than two groups before `::`, it stands for zeros, or the address has seven groups after it.
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => "0");
  const [first, second] = [...groups, ...zeros, ...after].map((group) =>
    Number.parseInt(group, 16),
  );
  if (first === undefined || second === undefined || Number.isNaN(first + second)) return null;
  return first * 0x1_0000 + second;
}

function sharesPrefix(address: number, range: number, bits: number): boolean {
  const size = 2 ** (32 - bits);
  return Math.floor(address / size) === Math.floor(range / size);
}
