CREATE TABLE "contacts" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"email" text,
	"address" text,
	"language" text DEFAULT 'en' NOT NULL,
	"delete_after" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
-- Kept, with what is in it: the events of orders so far.
ALTER TABLE "order_events" RENAME TO "events";--> statement-breakpoint
ALTER SEQUENCE "order_events_seq_seq" RENAME TO "events_seq_seq";--> statement-breakpoint
ALTER TABLE "events" DROP CONSTRAINT "order_events_pkey";--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "type" text;--> statement-breakpoint
UPDATE "events" SET "type" = 'order.' || "status";--> statement-breakpoint
ALTER TABLE "events" ALTER COLUMN "type" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ALTER COLUMN "order_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ALTER COLUMN "status" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ALTER COLUMN "at" SET DEFAULT clock_timestamp();--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "order_ids" uuid[];--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "sale_id" text;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "data" jsonb;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_xid_seq_pk" PRIMARY KEY("xid","seq");--> statement-breakpoint
-- Origins of the version before read it by this name until they are replaced.
CREATE VIEW "order_events" AS SELECT "seq", "order_id", "status", "at" FROM "events" WHERE "order_id" IS NOT NULL;
--> statement-breakpoint
CREATE TABLE "mails" (
	"mail_id" bigserial PRIMARY KEY NOT NULL,
	"event" text NOT NULL,
	"order_id" uuid NOT NULL,
	"type" text NOT NULL,
	"data" jsonb,
	"state" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"sent_at" timestamp (3) with time zone,
	"error" text,
	CONSTRAINT "mails_event_unique" UNIQUE("event")
);
--> statement-breakpoint
CREATE TABLE "order_notes" (
	"note_id" bigserial PRIMARY KEY NOT NULL,
	"order_id" uuid NOT NULL,
	"operator" text NOT NULL,
	"text" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "readers" (
	"reader" text PRIMARY KEY NOT NULL,
	"xid" "xid8" DEFAULT '0' NOT NULL,
	"seq" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"delivery_id" bigserial PRIMARY KEY NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"message_id" text NOT NULL,
	"type" text NOT NULL,
	"lane" text NOT NULL,
	"body" text NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"status" integer,
	"error" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"delivered_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"endpoint_id" uuid PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"events" text[] NOT NULL,
	"secrets" jsonb NOT NULL,
	"state" text DEFAULT 'active' NOT NULL,
	"note" text DEFAULT '' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "orders" DROP CONSTRAINT "known_status";--> statement-breakpoint
ALTER TABLE "products" DROP CONSTRAINT "never_oversold";--> statement-breakpoint
ALTER TABLE "refunds" DROP CONSTRAINT "refunds_pkey";--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "attempts" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "decline_code" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "action" jsonb;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "action_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "refunded_minor" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "buffer" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "refund_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL;--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "amount_minor" bigint;--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "restock" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "operator" text;--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "idempotency_key" text;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "contact" jsonb DEFAULT '{"email":"off","address":false,"retention_days":30}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "published_phase" text DEFAULT 'upcoming' NOT NULL;--> statement-breakpoint
UPDATE "sales" SET "published_phase" = CASE WHEN coalesce("ended_at", "ends_at") <= now() THEN 'ended'
  WHEN "opens_at" <= now() THEN 'open' ELSE 'upcoming' END;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_endpoint_id_webhook_endpoints_endpoint_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."webhook_endpoints"("endpoint_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "contacts_by_end" ON "contacts" USING btree ("delete_after");--> statement-breakpoint
CREATE INDEX "contacts_by_email" ON "contacts" USING btree (lower("email"));--> statement-breakpoint
CREATE INDEX "contacts_by_address" ON "contacts" USING btree ("address") WHERE address is not null;--> statement-breakpoint
CREATE INDEX "mails_pending" ON "mails" USING btree ("next_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "mails_of_order" ON "mails" USING btree ("order_id");--> statement-breakpoint
CREATE INDEX "notes_of_order" ON "order_notes" USING btree ("order_id");--> statement-breakpoint
CREATE INDEX "deliveries_of_endpoint" ON "webhook_deliveries" USING btree ("endpoint_id","delivery_id");--> statement-breakpoint
CREATE INDEX "deliveries_pending" ON "webhook_deliveries" USING btree ("endpoint_id","lane","delivery_id") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "webhook_deliveries" USING btree ("endpoint_id","next_at","delivery_id") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "deliveries_of_lane" ON "webhook_deliveries" USING btree ("lane");--> statement-breakpoint
CREATE INDEX "audit_of_order" ON "audit_log" USING btree ("order_id") WHERE order_id is not null;--> statement-breakpoint
CREATE INDEX "actions_by_end" ON "orders" USING btree ("action_until") WHERE action_until is not null;--> statement-breakpoint
CREATE INDEX "refunds_of_charge" ON "refunds" USING btree ("charge_id");--> statement-breakpoint
CREATE INDEX "refunds_of_order" ON "refunds" USING btree ("order_id");--> statement-breakpoint
CREATE UNIQUE INDEX "one_whole_refund" ON "refunds" USING btree ("charge_id") WHERE amount_minor is null;--> statement-breakpoint
CREATE UNIQUE INDEX "one_refund_per_key" ON "refunds" USING btree ("order_id","idempotency_key") WHERE idempotency_key is not null;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "known_status" CHECK (status in ('reserved', 'paying', 'confirmed', 'fulfilled', 'expired', 'cancelled', 'refunded', 'returned'));--> statement-breakpoint
ALTER TABLE "products" ADD CONSTRAINT "never_oversold" CHECK (held >= 0 and sold >= 0 and buffer >= 0 and held + sold <= total - buffer);