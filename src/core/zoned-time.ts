/** A moment as the clocks of one zone show it. `now` and `iso` are equal: both names are in use. */
export interface ZonedTime {
  now: string;
  today: string;
  time: string;
  zone: string;
  iso: string;
}

/** The moment in an IANA zone, with the offset that holds there then; null when there is no such zone. */
export function zonedTime(epochMs: number, zone: string): ZonedTime | null {
  const offsetMs = offsetOf(epochMs, zone);
  if (offsetMs === null) return null;
  const [today, time] = new Date(epochMs + offsetMs).toISOString().split(/[T.]/) as [
    string,
    string,
  ];
  const iso = `${today}T${time}${offsetText(Math.trunc(offsetMs / 60_000))}`;
  return { now: iso, today, time, zone, iso };
}

/** No zone changes its clocks within a minute, so an offset holds to the end of the minute it was read in. */
const offsets = new Map<string, { minute: number; offsetMs: number }>();
/** A zone has several spellings: the memory is bounded. */
const MAX_OFFSETS = 64;

function offsetOf(epochMs: number, zone: string): number | null {
  const minute = Math.floor(epochMs / 60_000);
  const known = offsets.get(zone);
  if (known?.minute === minute) return known.offsetMs;
  const offsetMs = readOffset(minute * 60_000, zone);
  if (offsetMs === null) return null;
  if (offsets.size >= MAX_OFFSETS) offsets.clear();
  offsets.set(zone, { minute, offsetMs });
  return offsetMs;
}

/** The Gregorian calendar in ASCII digits with hours from 00 to 23, whatever the zone's own custom is. */
function readOffset(epochMs: number, zone: string): number | null {
  try {
    const clock = new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    const { year, month, day, hour, minute, second } = Object.fromEntries(
      clock.formatToParts(epochMs).map(({ type, value }) => [type, Number(value)]),
    );
    return Date.UTC(year!, month! - 1, day, hour, minute, second) - epochMs;
  } catch {
    // The constructor throws for an unknown zone: that is the answer.
    return null;
  }
}

function offsetText(minutes: number): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
