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
  const clock = clockOf(zone);
  if (!clock) return null;
  // Whole seconds, so that local time minus UTC is the offset alone.
  const atMs = Math.floor(epochMs / 1_000) * 1_000;
  const parts = Object.fromEntries(
    clock.formatToParts(atMs).map(({ type, value }) => [type, value]),
  );
  const today = `${parts.year}-${parts.month}-${parts.day}`;
  const time = `${parts.hour}:${parts.minute}:${parts.second}`;
  const offsetMinutes = Math.trunc((Date.parse(`${today}T${time}Z`) - atMs) / 60_000);
  const iso = `${today}T${time}${offsetText(offsetMinutes)}`;
  return { now: iso, today, time, zone, iso };
}

/** The Gregorian calendar in ASCII digits with hours from 00 to 23, whatever the zone's own custom is. */
function clockOf(zone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
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
