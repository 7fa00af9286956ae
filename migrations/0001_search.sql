-- The search index behind ?ask= (SPEC §13). Its text is prepared outside SQL (folded, split, stemmed), so
-- the tokenizer only has to split at spaces: `ascii` keeps every other script whole.
CREATE TABLE `search_rows` (
	`id` integer PRIMARY KEY NOT NULL,
	`key` text NOT NULL UNIQUE,
	`name` text NOT NULL,
	`category` text NOT NULL,
	`description` text NOT NULL,
	`args` text NOT NULL,
	`examples` text NOT NULL,
	`joined` text NOT NULL
);
--> statement-breakpoint
CREATE VIRTUAL TABLE `search_index` USING fts5(
	name, category, description, args, examples, joined,
	content='search_rows', content_rowid='id', tokenize='ascii'
);
--> statement-breakpoint
CREATE VIRTUAL TABLE `search_terms` USING fts5vocab('search_index', 'row');
--> statement-breakpoint
CREATE TRIGGER `search_rows_insert` AFTER INSERT ON `search_rows` BEGIN
	INSERT INTO search_index(rowid, name, category, description, args, examples, joined)
	VALUES (new.id, new.name, new.category, new.description, new.args, new.examples, new.joined);
END;
--> statement-breakpoint
CREATE TRIGGER `search_rows_delete` AFTER DELETE ON `search_rows` BEGIN
	INSERT INTO search_index(search_index, rowid, name, category, description, args, examples, joined)
	VALUES ('delete', old.id, old.name, old.category, old.description, old.args, old.examples, old.joined);
END;
--> statement-breakpoint
CREATE TRIGGER `search_rows_update` AFTER UPDATE ON `search_rows` BEGIN
	INSERT INTO search_index(search_index, rowid, name, category, description, args, examples, joined)
	VALUES ('delete', old.id, old.name, old.category, old.description, old.args, old.examples, old.joined);
	INSERT INTO search_index(rowid, name, category, description, args, examples, joined)
	VALUES (new.id, new.name, new.category, new.description, new.args, new.examples, new.joined);
END;
--> statement-breakpoint
-- Keys whose row changed and whose index has not followed. Every change gives the mark another stamp, so
-- that whoever indexes a key can tell whether the row changed again meanwhile.
CREATE TABLE `search_dirty` (
	`key` text PRIMARY KEY NOT NULL,
	`stamp` text NOT NULL UNIQUE
);
--> statement-breakpoint
CREATE TRIGGER `directory_search_insert` AFTER INSERT ON `directory` BEGIN
	INSERT INTO search_dirty(key, stamp) VALUES (new.key, hex(randomblob(8)))
	ON CONFLICT(key) DO UPDATE SET stamp = excluded.stamp;
END;
--> statement-breakpoint
CREATE TRIGGER `directory_search_delete` AFTER DELETE ON `directory` BEGIN
	INSERT INTO search_dirty(key, stamp) VALUES (old.key, hex(randomblob(8)))
	ON CONFLICT(key) DO UPDATE SET stamp = excluded.stamp;
END;
--> statement-breakpoint
CREATE TRIGGER `directory_search_update` AFTER UPDATE OF `key`, `category`, `content`, `examples`, `input_schema` ON `directory` BEGIN
	INSERT INTO search_dirty(key, stamp) VALUES (old.key, hex(randomblob(8)))
	ON CONFLICT(key) DO UPDATE SET stamp = excluded.stamp;
	INSERT INTO search_dirty(key, stamp) VALUES (new.key, hex(randomblob(8)))
	ON CONFLICT(key) DO UPDATE SET stamp = excluded.stamp;
END;
--> statement-breakpoint
INSERT INTO search_dirty(key, stamp) SELECT key, hex(randomblob(8)) FROM directory;
