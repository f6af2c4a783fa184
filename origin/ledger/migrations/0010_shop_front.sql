CREATE TABLE "recent_searches" (
	"visitor" text NOT NULL,
	"words" text NOT NULL,
	"q" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "recent_searches_visitor_words_pk" PRIMARY KEY("visitor","words")
);
--> statement-breakpoint
CREATE TABLE "search_settings" (
	"only_row" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"synonyms" jsonb DEFAULT '[]'::jsonb NOT NULL,
	CONSTRAINT "one_row_of_settings" CHECK ("search_settings"."only_row")
);
--> statement-breakpoint
CREATE INDEX "searches_by_age" ON "recent_searches" USING btree ("at");