CREATE TABLE "announcements" (
	"announcement_id" uuid PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"level" text NOT NULL,
	"text" jsonb NOT NULL,
	"operator" text NOT NULL,
	"since" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "operator_sessions" (
	"session_hash" text PRIMARY KEY NOT NULL,
	"operator" text NOT NULL,
	"role" text NOT NULL,
	"by_key" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "operators" (
	"operator" text PRIMARY KEY NOT NULL,
	"role" text NOT NULL,
	"key_hash" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "operators_key_hash_unique" UNIQUE("key_hash")
);
--> statement-breakpoint
CREATE TABLE "sale_minutes" (
	"sale_id" text NOT NULL,
	"minute" timestamp (3) with time zone NOT NULL,
	"counts" jsonb NOT NULL,
	"gauges" jsonb NOT NULL,
	CONSTRAINT "sale_minutes_sale_id_minute_pk" PRIMARY KEY("sale_id","minute")
);
--> statement-breakpoint
CREATE TABLE "scheduled_actions" (
	"action_id" uuid PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"effect" jsonb NOT NULL,
	"cron" text,
	"next_at" timestamp (3) with time zone,
	"operator" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"cancelled_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "scheduled_runs" (
	"action_id" uuid NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"ran_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"late" boolean NOT NULL,
	"error" text,
	CONSTRAINT "scheduled_runs_action_id_due_at_pk" PRIMARY KEY("action_id","due_at")
);
--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "pause_reason" jsonb;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "test" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "announcements" ADD CONSTRAINT "announcements_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scheduled_actions" ADD CONSTRAINT "scheduled_actions_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scheduled_runs" ADD CONSTRAINT "scheduled_runs_action_id_scheduled_actions_action_id_fk" FOREIGN KEY ("action_id") REFERENCES "public"."scheduled_actions"("action_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "announcements_of_sale" ON "announcements" USING btree ("sale_id","since");--> statement-breakpoint
CREATE UNIQUE INDEX "one_announcement" ON "announcements" USING btree ("sale_id") WHERE until is null;--> statement-breakpoint
CREATE INDEX "sessions_by_end" ON "operator_sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "scheduled_of_sale" ON "scheduled_actions" USING btree ("sale_id");--> statement-breakpoint
CREATE INDEX "scheduled_due" ON "scheduled_actions" USING btree ("next_at") WHERE next_at is not null;