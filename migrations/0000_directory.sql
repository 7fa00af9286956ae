CREATE TABLE `directory` (
	`key` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`target` text,
	`auth` text,
	`content` text,
	`updated_at` text NOT NULL,
	`category` text,
	`allowed_categories` text,
	`seq` integer,
	`enabled` integer DEFAULT 1,
	`planner_visible` integer DEFAULT 1,
	`planner_rank` integer DEFAULT 100,
	`input_schema` text,
	`examples` text,
	`sensitive` integer DEFAULT 0,
	`runner` text,
	`includes` text,
	`created_at` text,
	CONSTRAINT "directory_type" CHECK("directory"."type" in ('fn','http','agent','flow'))
);
--> statement-breakpoint
CREATE TABLE `directory_versions` (
	`key` text NOT NULL,
	`version` integer NOT NULL,
	`action` text NOT NULL,
	`row` text,
	`contract` text,
	`principal` text NOT NULL,
	`receipt_id` text NOT NULL,
	`at` text NOT NULL,
	PRIMARY KEY(`key`, `version`)
);
--> statement-breakpoint
CREATE TABLE `secret_bindings` (
	`name` text NOT NULL,
	`version` integer NOT NULL,
	`hosts` text NOT NULL,
	`receipt_id` text NOT NULL,
	`at` text NOT NULL,
	PRIMARY KEY(`name`, `version`)
);
