-- No event but the next one: two events with one predecessor would need one seq.
CREATE TRIGGER `events_in_order` BEFORE INSERT ON `events`
WHEN new.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM events)
BEGIN
	SELECT raise(ABORT, 'events: not the next seq');
END;
--> statement-breakpoint
CREATE TRIGGER `events_never_change` BEFORE UPDATE ON `events`
BEGIN
	SELECT raise(ABORT, 'events: append-only');
END;
