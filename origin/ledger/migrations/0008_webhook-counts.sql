CREATE TABLE "webhook_counts" (
	"endpoint_id" uuid NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"sent" integer NOT NULL,
	"failed" integer NOT NULL,
	CONSTRAINT "webhook_counts_endpoint_id_at_pk" PRIMARY KEY("endpoint_id","at")
);
--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD COLUMN "tried_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "webhook_counts_by_time" ON "webhook_counts" USING btree ("at");