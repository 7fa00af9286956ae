/**
 * A host to which a secret may go, `host` or `host:port`, in the spelling that a request's URL will have:
 * lower case, international names in Punycode, numbers as addresses. No scheme, path, user or wildcard.
 *
 * @returns null for anything else.
 */
export function parseHost(text: string): string | null {
  const given = text.trim();
  if (given === "" || given.length > 300 || /[\s/\\?#@*%]/.test(given)) return null;
  const port = /:(\d{1,5})$/.exec(given)?.[1];
  const name = port === undefined ? given : given.slice(0, -port.length - 1);
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return null;
  if (!URL.canParse(`https://${name}`)) return null;
  const url = new URL(`https://${name}`);
  if (url.port !== "" || /:\d*$/.test(name.replace(/\[[^\]]*\]$/, ""))) return null;
  if (!url.hostname.startsWith("[") && !url.hostname.split(".").every((label) => LABEL.test(label)))
    return null;
  return port === undefined ? url.hostname : `${url.hostname}:${Number(port)}`;
}

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
