CREATE TABLE `breakers` (
	`key` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`marked` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `event_ids` (
	`id` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `events` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`kind` text NOT NULL,
	`key` text,
	`actor` text NOT NULL,
	`trace` text,
	`ok` integer,
	`at` text NOT NULL,
	`repairs` text,
	`body` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `events_repairs` ON `events` (`repairs`) WHERE "events"."repairs" is not null;--> statement-breakpoint
CREATE TABLE `intents` (
	`id` text PRIMARY KEY NOT NULL,
	`key` text NOT NULL,
	`version` integer NOT NULL,
	`begun_at_ms` integer NOT NULL,
	`draft` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `intents_key` ON `intents` (`key`);--> statement-breakpoint
CREATE TABLE `open_invocations` (
	`invocation_id` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `signing_keys` (
	`kid` text PRIMARY KEY NOT NULL,
	`x` text NOT NULL,
	`d` text
);
--> statement-breakpoint
CREATE TABLE `versions` (
	`key` text PRIMARY KEY NOT NULL,
	`version` integer NOT NULL
);
