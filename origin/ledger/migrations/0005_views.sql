-- Views. The log is partitioned by hand, since the schema cannot express it.
CREATE TABLE "view_counts" (
	"sale_id" text NOT NULL,
	"minute" timestamp (3) with time zone NOT NULL,
	"kind" text NOT NULL,
	"by" text NOT NULL,
	"key" text NOT NULL,
	"counted" bigint DEFAULT 0 NOT NULL,
	"dropped" bigint DEFAULT 0 NOT NULL,
	"seconds" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "view_counts_sale_id_by_minute_kind_key_pk" PRIMARY KEY("sale_id","by","minute","kind","key")
);
--> statement-breakpoint
CREATE TABLE "view_log" (
	"seq" bigint NOT NULL,
	"written_at" timestamp (3) with time zone NOT NULL,
	"part" smallint NOT NULL,
	"sale_id" text NOT NULL,
	"view" text NOT NULL,
	"page" text NOT NULL,
	"seen_seconds" integer NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"pseudonym" text NOT NULL,
	"address" text NOT NULL,
	"network" text NOT NULL,
	"asn" bigint,
	"country" text,
	"device" text NOT NULL,
	"language" text,
	"source" text NOT NULL
) PARTITION BY RANGE ("written_at");
--> statement-breakpoint
CREATE TABLE "view_readers" (
	"part" smallint PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL,
	"read_to" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "view_rules" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"rules" jsonb NOT NULL,
	"changed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "one_row" CHECK ("view_rules"."one")
);
--> statement-breakpoint
CREATE INDEX "view_log_in_order" ON "view_log" USING btree ("seq");--> statement-breakpoint

-- The number of the last row of the log; only begin_view_batch takes numbers from it.
create sequence view_log_seq owned by view_log.seq;
