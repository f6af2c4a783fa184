CREATE TABLE "stale_search_lists" (
	"visitor" text PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
