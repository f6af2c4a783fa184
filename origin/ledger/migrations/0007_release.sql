CREATE TABLE "ledger_release" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"release" text NOT NULL,
	"migrated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "ledger_release_is_one" CHECK ("ledger_release"."one")
);
