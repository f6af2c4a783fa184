CREATE TABLE "hold_pauses" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"began_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "one_row" CHECK ("hold_pauses"."one")
);
