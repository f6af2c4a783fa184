CREATE TABLE "event_offset" (
	"only_row" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"xids" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "one_row" CHECK ("event_offset"."only_row")
);--> statement-breakpoint
INSERT INTO "event_offset" DEFAULT VALUES;
