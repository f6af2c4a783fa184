CREATE TABLE "search_misses" (
	"day" text NOT NULL,
	"query" text NOT NULL,
	"searches" integer NOT NULL,
	"callers" integer NOT NULL,
	CONSTRAINT "search_misses_day_query_pk" PRIMARY KEY("day","query")
);
