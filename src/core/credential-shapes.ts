/**
 * What a credential value looks like, by the prefixes that vendors publish so that scanners can find
 * them. Every pattern is linear: a body of fixed length ends the match, and where an unbounded run must be
 * followed by something, the run can begin only at a boundary.
 *
 * Not caught, on purpose: `$NAME` templates, prose about a prefix, hashes and other bare hex.
 */
interface Shape {
  what: string;
  pattern: RegExp;
}

/** A vendor's prefix and what follows it; never in the middle of a word. */
const after = (what: string, source: string): Shape => ({
  what,
  pattern: new RegExp(`(?<![A-Za-z0-9])(?:${source})`),
});

const SHAPES: readonly Shape[] = [
  after(
    "an API key beginning with sk-",
    "sk-(?:[A-Za-z0-9]{16}|(?:ant|proj|svcacct|admin|or|live|test)-[A-Za-z0-9_-]{12})",
  ),
  after("a GitHub token", "gh[pousr]_[A-Za-z0-9]{16}|github_pat_[A-Za-z0-9]{16}"),
  after("a GitLab token", "gl(?:pat|dt|rt|ptt|cbt|soat)-[A-Za-z0-9_-]{16}"),
  after("a Slack token", "(?:xox[abeoprs]|xapp)-(?=[A-Za-z-]{0,12}[0-9])[A-Za-z0-9-]{10}"),
  after(
    "a Slack webhook",
    "hooks\\.slack\\.com/services/T[A-Z0-9]{6,12}/B[A-Z0-9]{6,12}/[A-Za-z0-9]{16}",
  ),
  after("an AWS access key", "(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
  after(
    "a Google key",
    "AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])|ya29\\.[A-Za-z0-9_-]{20}|GOCSPX-[A-Za-z0-9_-]{20}",
  ),
  after("a Stripe key", "(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10}|whsec_[A-Za-z0-9+/=]{16}"),
  after("a SendGrid key", "(?<![A-Za-z0-9_.-])SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16}"),
  after("a Hugging Face token", "hf_[A-Za-z0-9]{20}"),
  after("an npm token", "npm_[A-Za-z0-9]{30}"),
  after("a PyPI token", "pypi-AgE[A-Za-z0-9_-]{12}"),
  after("a DigitalOcean token", "do[opr]_v1_[a-f0-9]{32}"),
  after("a Shopify token", "shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
  after("a Square token", "sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{20}"),
  after("an xAI key", "xai-[A-Za-z0-9]{20}"),
  after("a Groq key", "gsk_[A-Za-z0-9]{20}"),
  after("a Replicate token", "r8_[A-Za-z0-9]{30}"),
  after("a Mailgun key", "(?<![-_])key-[0-9a-f]{32}(?![A-Za-z0-9-])"),
  after("a Telegram bot token", "[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
  after("a Vault token", "hvs\\.[A-Za-z0-9_-]{24}"),
  after("a Linear key", "lin_api_[A-Za-z0-9]{32}"),
  after("a Tailscale key", "tskey-[a-z]{3,12}-[A-Za-z0-9]{8}"),
  after("a Databricks token", "dapi[a-f0-9]{32}(?![A-Za-z0-9])"),
  after("a Docker token", "dckr_pat_[A-Za-z0-9_-]{20}"),
  after("an Nvidia key", "nvapi-[A-Za-z0-9_-]{40}"),
  {
    what: "a private key",
    pattern: /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----/,
  },
  {
    what: "a JSON Web Token",
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\./,
  },
  { what: "a bearer token", pattern: /\bBearer(?:\s+|%20|\+)[A-Za-z0-9._~+/=-]{20}/i },
];

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([nrtbf"/\\]))/g;

/** @returns what kind of credential the text seems to hold, in words that do not repeat it; else null. */
export function credentialIn(text: string): string | null {
  // JSON columns write a tab or a line end as letters, which would glue a word to a prefix.
  const plain = text.replace(ESCAPE, (_escape, hex?: string, letter?: string) => {
    if (hex) return String.fromCharCode(Number.parseInt(hex, 16));
    return letter === "/" ? "/" : " ";
  });
  const spellings = plain === text ? [text] : [text, plain];
  return (
    SHAPES.find(({ pattern }) => spellings.some((spelling) => pattern.test(spelling)))?.what ?? null
  );
}
