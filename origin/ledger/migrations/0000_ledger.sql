-- The ledger: every table, index, constraint and trigger. The tables are generated from origin/ledger/schema/, which explains
-- their columns; functions are in origin/ledger/functions/. What the schema cannot express is written by hand: the extension
-- here, and what stands below the indexes.
CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
CREATE TABLE "blocks" (
	"block_id" bigserial PRIMARY KEY NOT NULL,
	"visitor" text,
	"account" text,
	"address" text,
	"note" text NOT NULL,
	"blocked_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"sale_id" text NOT NULL,
	"code_hash" text NOT NULL,
	"uses" integer NOT NULL,
	"used" integer DEFAULT 0 NOT NULL,
	"is_link" boolean DEFAULT false NOT NULL,
	CONSTRAINT "invitations_sale_id_code_hash_pk" PRIMARY KEY("sale_id","code_hash"),
	CONSTRAINT "not_overused" CHECK (used <= uses)
);
--> statement-breakpoint
CREATE TABLE "invited_visitors" (
	"sale_id" text NOT NULL,
	"code_hash" text NOT NULL,
	"visitor" text NOT NULL,
	CONSTRAINT "invited_visitors_sale_id_code_hash_visitor_pk" PRIMARY KEY("sale_id","code_hash","visitor")
);
--> statement-breakpoint
CREATE TABLE "rules" (
	"rule_id" bigserial PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"when" jsonb NOT NULL,
	"action" text NOT NULL,
	"note" text NOT NULL,
	"met" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "event_offset" (
	"only_row" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"xids" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "one_row" CHECK ("event_offset"."only_row")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"xid" "xid8" NOT NULL,
	"seq" bigserial NOT NULL,
	"type" text NOT NULL,
	"order_id" uuid,
	"order_ids" uuid[],
	"status" text,
	"sale_id" text,
	"data" jsonb,
	"at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "events_xid_seq_pk" PRIMARY KEY("xid","seq")
);
--> statement-breakpoint
CREATE TABLE "readers" (
	"reader" text PRIMARY KEY NOT NULL,
	"xid" "xid8" DEFAULT '0' NOT NULL,
	"seq" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_counts" (
	"endpoint_id" uuid NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"sent" integer NOT NULL,
	"failed" integer NOT NULL,
	CONSTRAINT "webhook_counts_endpoint_id_at_pk" PRIMARY KEY("endpoint_id","at")
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"endpoint_id" uuid PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"events" text[] NOT NULL,
	"sealed_secrets" jsonb NOT NULL,
	"state" text DEFAULT 'active' NOT NULL,
	"note" text DEFAULT '' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"tried_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"job_id" bigserial PRIMARY KEY NOT NULL,
	"queue" text NOT NULL,
	"group_id" text DEFAULT '' NOT NULL,
	"lane" text,
	"data" jsonb NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"run_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"leased" boolean DEFAULT false NOT NULL,
	"error" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "queue_minutes" (
	"queue" text NOT NULL,
	"minute" timestamp (3) with time zone NOT NULL,
	"done" integer NOT NULL,
	"failed" integer NOT NULL,
	"dead" integer NOT NULL,
	CONSTRAINT "queue_minutes_queue_minute_pk" PRIMARY KEY("queue","minute")
);
--> statement-breakpoint
CREATE TABLE "mail_asks" (
	"ask_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"sale_id" text NOT NULL,
	"line" text NOT NULL,
	"about" text NOT NULL,
	"next" text,
	"email" text,
	"push" jsonb,
	"language" text NOT NULL,
	"visitor" text,
	"number" integer,
	"position" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "mail_or_push" CHECK (num_nonnulls(email, push) = 1)
);
--> statement-breakpoint
CREATE TABLE "refused_mail" (
	"email_hash" text PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alert_channels" (
	"channel" text PRIMARY KEY NOT NULL,
	"level" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"entry_id" bigserial PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"sale_id" text NOT NULL,
	"product_id" text,
	"order_id" uuid,
	"idempotency_key" text,
	"before" jsonb,
	"after" jsonb
);
--> statement-breakpoint
CREATE TABLE "findings" (
	"finding_id" bigserial PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"product_id" text NOT NULL,
	"kind" text NOT NULL,
	"subject" text DEFAULT '' NOT NULL,
	"units" integer DEFAULT 0 NOT NULL,
	"detail" jsonb,
	"first_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"seen" integer DEFAULT 1 NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"outcome" text
);
--> statement-breakpoint
CREATE TABLE "hold_pauses" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"began_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "one_row" CHECK ("hold_pauses"."one")
);
--> statement-breakpoint
CREATE TABLE "ledger_release" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"release" text NOT NULL,
	"migrated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "ledger_release_is_one" CHECK ("ledger_release"."one")
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
CREATE TABLE "sign_in_names" (
	"operator" text PRIMARY KEY NOT NULL,
	"issuer" text NOT NULL,
	"sub" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "contacts" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"email" text,
	"delivery" jsonb,
	"address" text,
	"language" text DEFAULT 'en' NOT NULL,
	"delete_after" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "forgotten_visitors" (
	"visitor" text PRIMARY KEY NOT NULL,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL
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
CREATE TABLE "order_number_key" (
	"key" uuid PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE "orders" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"product_id" text NOT NULL,
	"visitor" text NOT NULL,
	"line" text DEFAULT 'public' NOT NULL,
	"ticket_number" bigint NOT NULL,
	"source" text,
	"quantity" integer NOT NULL,
	"unit_price_minor" bigint NOT NULL,
	"currency" text NOT NULL,
	"cart" jsonb,
	"bill" jsonb,
	"terms" integer,
	"receipt" jsonb,
	"number" bigint NOT NULL,
	"status" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"request_hash" text NOT NULL,
	"reserved_until" timestamp (3) with time zone NOT NULL,
	"payment_method" text,
	"charge_id" text,
	"card" jsonb,
	"reason" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"decline_code" text,
	"action" jsonb,
	"action_until" timestamp (3) with time zone,
	"refunded_minor" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "known_status" CHECK (status in ('reserved', 'paying', 'confirmed', 'fulfilled', 'expired', 'cancelled', 'refunded', 'returned'))
);
--> statement-breakpoint
CREATE TABLE "captures" (
	"charge_id" text PRIMARY KEY NOT NULL,
	"order_id" uuid NOT NULL,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"captured_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "comparisons" (
	"provider" text PRIMARY KEY NOT NULL,
	"cursor" text NOT NULL,
	"compared_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refunds" (
	"refund_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"charge_id" text NOT NULL,
	"order_id" uuid NOT NULL,
	"amount_minor" bigint,
	"restock" boolean DEFAULT false NOT NULL,
	"lines" integer[],
	"reason" text NOT NULL,
	"operator" text,
	"idempotency_key" text,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"refunded_at" timestamp (3) with time zone,
	"returned" jsonb DEFAULT '{}'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "shop_charges" (
	"charge_id" text PRIMARY KEY NOT NULL,
	"order_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"amount_minor" bigint NOT NULL,
	"currency" text NOT NULL,
	"reference" text,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"next_check_at" timestamp (3) with time zone,
	"checks" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "shop_payments" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"reference" text NOT NULL,
	"confirmed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "goods" (
	"sale_id" text PRIMARY KEY NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"brand" jsonb,
	"venue" text,
	"names" jsonb,
	"event" jsonb,
	"products" jsonb DEFAULT '{}'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "order_networks" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"asn" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pictures" (
	"image" text PRIMARY KEY NOT NULL,
	"used_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "posts" (
	"sale_id" text NOT NULL,
	"n" integer NOT NULL,
	"level" text,
	"text" jsonb NOT NULL,
	"image" jsonb,
	"operator" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"until" timestamp (3) with time zone,
	"edited_at" timestamp (3) with time zone,
	"edits" integer DEFAULT 0 NOT NULL,
	"removed_at" timestamp (3) with time zone,
	CONSTRAINT "posts_sale_id_n_pk" PRIMARY KEY("sale_id","n")
);
--> statement-breakpoint
CREATE TABLE "products" (
	"sale_id" text NOT NULL,
	"product_id" text NOT NULL,
	"place" integer NOT NULL,
	"name" text NOT NULL,
	"unit_price_minor" bigint NOT NULL,
	"currency" text NOT NULL,
	"total" integer NOT NULL,
	"buffer" integer DEFAULT 0 NOT NULL,
	"held" integer DEFAULT 0 NOT NULL,
	"sold" integer DEFAULT 0 NOT NULL,
	"section_type" text,
	"limit_per_visitor" integer,
	"variant_of" text,
	"variant" jsonb,
	"sku" text,
	"weight_grams" integer,
	"has_terms" boolean DEFAULT false NOT NULL,
	"is_promo_code" boolean DEFAULT false NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "products_sale_id_product_id_pk" PRIMARY KEY("sale_id","product_id"),
	CONSTRAINT "never_oversold" CHECK (held >= 0 and sold >= 0 and buffer >= 0 and held + sold <= total - buffer)
);
--> statement-breakpoint
CREATE TABLE "promo_codes" (
	"sale_id" text NOT NULL,
	"code" text NOT NULL,
	"percent" double precision,
	"amount_minor" bigint,
	"price_minor" bigint,
	"valid_from" timestamp (3) with time zone,
	"valid_until" timestamp (3) with time zone,
	"products" jsonb,
	"units_per_use" integer,
	"combined" boolean DEFAULT false NOT NULL,
	CONSTRAINT "promo_codes_sale_id_code_pk" PRIMARY KEY("sale_id","code")
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
CREATE TABLE "sale_networks" (
	"sale_id" text NOT NULL,
	"asn" integer NOT NULL,
	"joined" bigint DEFAULT 0 NOT NULL,
	"unproved" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "sale_networks_sale_id_asn_pk" PRIMARY KEY("sale_id","asn")
);
--> statement-breakpoint
CREATE TABLE "sale_seconds" (
	"sale_id" text NOT NULL,
	"second" timestamp (3) with time zone NOT NULL,
	"counts" jsonb NOT NULL,
	"gauges" jsonb NOT NULL,
	CONSTRAINT "sale_seconds_sale_id_second_pk" PRIMARY KEY("sale_id","second")
);
--> statement-breakpoint
CREATE TABLE "sale_sources" (
	"sale_id" text NOT NULL,
	"source" text NOT NULL,
	"joined" bigint DEFAULT 0 NOT NULL,
	"turns" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "sale_sources_sale_id_source_pk" PRIMARY KEY("sale_id","source")
);
--> statement-breakpoint
CREATE TABLE "sales" (
	"sale_id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"opens_at" timestamp (3) with time zone NOT NULL,
	"ends_at" timestamp (3) with time zone,
	"pre_queue_opens_at" timestamp (3) with time zone,
	"hold_seconds" integer NOT NULL,
	"limit_per_visitor" integer NOT NULL,
	"limit_per_order" integer,
	"rate_per_second" double precision NOT NULL,
	"max_inside" integer,
	"oversell_policy" text NOT NULL,
	"access" jsonb DEFAULT '{"sign_in":"optional","invitation":"off","proof_of_work":null,"turnstile":false}'::jsonb NOT NULL,
	"lines" jsonb DEFAULT '[{"line":"public","weight":1,"opens_early_seconds":0,"access":null}]'::jsonb NOT NULL,
	"expected_visitors" integer,
	"ticket_shards" integer,
	"max_unpaid_orders" integer DEFAULT 3 NOT NULL,
	"contact" jsonb DEFAULT '{"email":"off","address":false,"retention_days":30}'::jsonb NOT NULL,
	"seller" jsonb,
	"tax" jsonb,
	"fees" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"delivery" jsonb DEFAULT '{"kind":"none","ask":{"name":"off","phone":"off","company":"off","note":"off"}}'::jsonb NOT NULL,
	"time_zone" text DEFAULT 'UTC' NOT NULL,
	"terms_version" integer DEFAULT 1 NOT NULL,
	"indexed" boolean DEFAULT true NOT NULL,
	"mails" text[] DEFAULT '{"turn_near","turn","sold_out","restocked","confirmed","declined","cancelled","refunded","sent"}' NOT NULL,
	"published_phase" text DEFAULT 'upcoming' NOT NULL,
	"paused" boolean DEFAULT false NOT NULL,
	"pause_reason" jsonb,
	"payment" text DEFAULT 'provider' NOT NULL,
	"test" boolean DEFAULT false NOT NULL,
	"links_void_before" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"long_over" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "scheduled_actions" (
	"action_id" uuid PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"effect" jsonb NOT NULL,
	"cron" text,
	"next_at" timestamp (3) with time zone,
	"not_after" timestamp (3) with time zone,
	"suspended" jsonb,
	"operator" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"cancelled_at" timestamp (3) with time zone,
	"idempotency_key" text
);
--> statement-breakpoint
CREATE TABLE "scheduled_documents" (
	"action_id" uuid NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"type" text NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "scheduled_documents_action_id_due_at_pk" PRIMARY KEY("action_id","due_at")
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
CREATE TABLE "order_search" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"product_id" text NOT NULL,
	"status" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "order_search_products" (
	"order_id" uuid NOT NULL,
	"sale_id" text NOT NULL,
	"product_id" text NOT NULL,
	"status" text NOT NULL,
	CONSTRAINT "order_search_products_order_id_product_id_pk" PRIMARY KEY("order_id","product_id")
);
--> statement-breakpoint
CREATE TABLE "order_texts" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"words" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recent_searches" (
	"visitor" text NOT NULL,
	"words" text NOT NULL,
	"q" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "recent_searches_visitor_words_pk" PRIMARY KEY("visitor","words")
);
--> statement-breakpoint
CREATE TABLE "search_misses" (
	"day" text NOT NULL,
	"query" text NOT NULL,
	"searches" integer NOT NULL,
	"callers" integer NOT NULL,
	CONSTRAINT "search_misses_day_query_pk" PRIMARY KEY("day","query")
);
--> statement-breakpoint
CREATE TABLE "search_settings" (
	"only_row" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"synonyms" jsonb DEFAULT '[]'::jsonb NOT NULL,
	CONSTRAINT "one_row_of_settings" CHECK ("search_settings"."only_row")
);
--> statement-breakpoint
CREATE TABLE "search_words" (
	"word" text PRIMARY KEY NOT NULL,
	"orders" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "stale_search_lists" (
	"visitor" text PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "charts" (
	"sale_id" text PRIMARY KEY NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"focal_x" double precision DEFAULT 0 NOT NULL,
	"focal_y" double precision DEFAULT 0 NOT NULL,
	"focal_chosen" boolean DEFAULT false NOT NULL,
	"next_seat_index" integer DEFAULT 0 NOT NULL,
	"refuse_single" boolean DEFAULT false NOT NULL,
	"outlines" jsonb DEFAULT '{}'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "seat_claims" (
	"sale_id" text NOT NULL,
	"seat_index" integer NOT NULL,
	"order_id" uuid,
	"reason" text,
	"operator" text,
	"until" timestamp (3) with time zone,
	"since" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "seat_claims_sale_id_seat_index_pk" PRIMARY KEY("sale_id","seat_index"),
	CONSTRAINT "order_or_block" CHECK ((order_id is null) <> (reason is null))
);
--> statement-breakpoint
CREATE TABLE "seats" (
	"sale_id" text NOT NULL,
	"seat_index" integer NOT NULL,
	"section_id" text NOT NULL,
	"seat_id" text NOT NULL,
	"row" text NOT NULL,
	"number" text NOT NULL,
	"place" integer NOT NULL,
	"x" double precision NOT NULL,
	"y" double precision NOT NULL,
	"category" text NOT NULL,
	"kind" text DEFAULT 'standard' NOT NULL,
	"price_minor" bigint NOT NULL,
	CONSTRAINT "seats_sale_id_seat_index_pk" PRIMARY KEY("sale_id","seat_index")
);
--> statement-breakpoint
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
ALTER TABLE "rules" ADD CONSTRAINT "rules_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mail_asks" ADD CONSTRAINT "mail_asks_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "goods" ADD CONSTRAINT "goods_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "posts" ADD CONSTRAINT "posts_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "products" ADD CONSTRAINT "products_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "promo_codes" ADD CONSTRAINT "promo_codes_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scheduled_actions" ADD CONSTRAINT "scheduled_actions_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scheduled_documents" ADD CONSTRAINT "document_of_run" FOREIGN KEY ("action_id","due_at") REFERENCES "public"."scheduled_runs"("action_id","due_at") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scheduled_runs" ADD CONSTRAINT "scheduled_runs_action_id_scheduled_actions_action_id_fk" FOREIGN KEY ("action_id") REFERENCES "public"."scheduled_actions"("action_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "charts" ADD CONSTRAINT "charts_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seat_claims" ADD CONSTRAINT "claims_of_seat" FOREIGN KEY ("sale_id","seat_index") REFERENCES "public"."seats"("sale_id","seat_index") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seats" ADD CONSTRAINT "seats_of_section" FOREIGN KEY ("sale_id","section_id") REFERENCES "public"."products"("sale_id","product_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "rules_of_sale" ON "rules" USING btree ("sale_id","rule_id");--> statement-breakpoint
CREATE INDEX "events_of_order" ON "events" USING btree ("order_id","seq");--> statement-breakpoint
CREATE INDEX "webhook_counts_by_time" ON "webhook_counts" USING btree ("at");--> statement-breakpoint
CREATE INDEX "jobs_due" ON "jobs" USING btree ("queue","group_id","run_at","job_id") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "jobs_first_in_lane" ON "jobs" USING btree ("queue","group_id","lane","job_id") WHERE state = 'pending' and lane is not null;--> statement-breakpoint
CREATE INDEX "jobs_dead" ON "jobs" USING btree ("queue","job_id") WHERE state = 'dead';--> statement-breakpoint
CREATE INDEX "jobs_of_group" ON "jobs" USING btree ("group_id","job_id") WHERE group_id <> '';--> statement-breakpoint
CREATE INDEX "jobs_of_lane" ON "jobs" USING btree ("lane") WHERE lane is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "one_ask" ON "mail_asks" USING btree ("sale_id","about",coalesce("visitor", ''),lower("email"));--> statement-breakpoint
CREATE UNIQUE INDEX "one_push" ON "mail_asks" USING btree ("sale_id",("push" ->> 'endpoint'));--> statement-breakpoint
CREATE INDEX "asks_next" ON "mail_asks" USING btree ("sale_id","line","next","position") WHERE next is not null;--> statement-breakpoint
CREATE INDEX "asks_of_visitor" ON "mail_asks" USING btree ("visitor");--> statement-breakpoint
CREATE INDEX "asks_by_email" ON "mail_asks" USING btree (lower("email"));--> statement-breakpoint
CREATE INDEX "audit_of_sale" ON "audit_log" USING btree ("sale_id","entry_id");--> statement-breakpoint
CREATE UNIQUE INDEX "one_entry_per_key" ON "audit_log" USING btree ("sale_id","product_id","action","idempotency_key") WHERE idempotency_key is not null;--> statement-breakpoint
CREATE INDEX "audit_of_order" ON "audit_log" USING btree ("order_id") WHERE order_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "one_open_finding" ON "findings" USING btree ("sale_id","product_id","kind","subject") WHERE closed_at is null;--> statement-breakpoint
CREATE INDEX "findings_of_sale" ON "findings" USING btree ("sale_id","finding_id");--> statement-breakpoint
CREATE INDEX "sessions_by_end" ON "operator_sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "names_of_identity" ON "sign_in_names" USING btree ("issuer","sub");--> statement-breakpoint
CREATE INDEX "contacts_by_end" ON "contacts" USING btree ("delete_after");--> statement-breakpoint
CREATE INDEX "contacts_of_sale" ON "contacts" USING btree ("sale_id");--> statement-breakpoint
CREATE INDEX "contacts_by_email" ON "contacts" USING btree (lower("email"));--> statement-breakpoint
CREATE INDEX "contacts_by_address" ON "contacts" USING btree ("address") WHERE address is not null;--> statement-breakpoint
CREATE INDEX "notes_of_order" ON "order_notes" USING btree ("order_id");--> statement-breakpoint
CREATE UNIQUE INDEX "one_order_per_key" ON "orders" USING btree ("sale_id","visitor","idempotency_key");--> statement-breakpoint
CREATE UNIQUE INDEX "orders_by_number" ON "orders" USING btree ("number");--> statement-breakpoint
CREATE INDEX "holds_by_end" ON "orders" USING btree ("reserved_until") WHERE status = 'reserved';--> statement-breakpoint
CREATE INDEX "payments_to_begin" ON "orders" USING btree ("created_at") WHERE status = 'reserved' and payment_method is not null;--> statement-breakpoint
CREATE INDEX "payments_under_way" ON "orders" USING btree ("updated_at") WHERE status = 'paying';--> statement-breakpoint
CREATE INDEX "carts_of_sale" ON "orders" USING btree ("sale_id") WHERE cart is not null;--> statement-breakpoint
CREATE INDEX "actions_by_end" ON "orders" USING btree ("action_until") WHERE action_until is not null;--> statement-breakpoint
CREATE INDEX "captures_open" ON "captures" USING btree ("asked_at") WHERE captured_at is null;--> statement-breakpoint
CREATE INDEX "refunds_open" ON "refunds" USING btree ("asked_at") WHERE refunded_at is null;--> statement-breakpoint
CREATE INDEX "refunds_of_charge" ON "refunds" USING btree ("charge_id");--> statement-breakpoint
CREATE INDEX "refunds_of_order" ON "refunds" USING btree ("order_id");--> statement-breakpoint
CREATE UNIQUE INDEX "one_whole_refund" ON "refunds" USING btree ("charge_id") WHERE amount_minor is null;--> statement-breakpoint
CREATE UNIQUE INDEX "one_refund_per_key" ON "refunds" USING btree ("order_id","idempotency_key") WHERE idempotency_key is not null;--> statement-breakpoint
CREATE INDEX "shop_charges_of_order" ON "shop_charges" USING btree ("order_id");--> statement-breakpoint
CREATE INDEX "shop_charges_open" ON "shop_charges" USING btree ("next_check_at") WHERE next_check_at is not null;--> statement-breakpoint
CREATE INDEX "pictures_by_use" ON "pictures" USING btree ("used_at");--> statement-breakpoint
CREATE UNIQUE INDEX "announcement_shown" ON "posts" USING btree ("sale_id") WHERE level is not null and until is null;--> statement-breakpoint
CREATE INDEX "sales_to_read" ON "sales" USING btree ("sale_id") WHERE not long_over;--> statement-breakpoint
CREATE UNIQUE INDEX "one_action_per_key" ON "scheduled_actions" USING btree ("sale_id","idempotency_key") WHERE idempotency_key is not null;--> statement-breakpoint
CREATE INDEX "scheduled_of_sale" ON "scheduled_actions" USING btree ("sale_id");--> statement-breakpoint
CREATE INDEX "scheduled_due" ON "scheduled_actions" USING btree ("next_at") WHERE next_at is not null;--> statement-breakpoint
CREATE INDEX "searched_by_product" ON "order_search" USING btree ("sale_id","product_id","status","order_id");--> statement-breakpoint
CREATE INDEX "searched_by_status" ON "order_search" USING btree ("status","order_id");--> statement-breakpoint
CREATE INDEX "searched_by_other_product" ON "order_search_products" USING btree ("sale_id","product_id","status","order_id");--> statement-breakpoint
CREATE INDEX "searched_by_words" ON "order_texts" USING gin ("words" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "searches_by_age" ON "recent_searches" USING btree ("at");--> statement-breakpoint
CREATE INDEX "similar_names" ON "search_words" USING gin ("word" gin_trgm_ops) WHERE "search_words"."word" !~ '[0-9._+-]';--> statement-breakpoint
CREATE INDEX "similar_mails" ON "search_words" USING gin ("word" gin_trgm_ops) WHERE "search_words"."word" ~ '[0-9._+-]';--> statement-breakpoint
CREATE INDEX "claims_of_order" ON "seat_claims" USING btree ("order_id") WHERE order_id is not null;--> statement-breakpoint
CREATE INDEX "blocks_that_end" ON "seat_claims" USING btree ("until") WHERE until is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "one_seat_per_name" ON "seats" USING btree ("sale_id","section_id","seat_id");--> statement-breakpoint
CREATE INDEX "view_log_in_order" ON "view_log" USING btree ("seq");
--> statement-breakpoint

-- The count of orders, of which next_order_numbers makes their numbers.
create sequence orders_number_seq owned by orders.number;
--> statement-breakpoint

-- Rows that are always there.
INSERT INTO "event_offset" DEFAULT VALUES;
--> statement-breakpoint

INSERT INTO "order_number_key" VALUES (gen_random_uuid());
--> statement-breakpoint

-- Vacuum orders by the number of changes instead of their share of all orders, which is Postgres's default: of five million
-- orders a million had to change first, and meanwhile counting a sale's orders read the dead rows of everything it sold. Below
-- ten thousand either is quick. Insertions need no rule of their own: every order changes later, when it is paid or given back.
alter table orders set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);
--> statement-breakpoint

-- Vacuum jobs by the number of changes, as orders: a job is taken and ended within moments, and whoever looks for due jobs would
-- read the dead rows of all that were done since.
alter table jobs set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
--> statement-breakpoint

-- The version of a product's row grows with each change, so that a repair applies only to the state it was computed from.
create function increment_version() returns trigger language plpgsql as $$
begin
  new.version := old.version + 1;
  return new;
end $$;
create trigger product_version before update on products for each row execute function increment_version();
--> statement-breakpoint

-- The first parts of a text are the sale, the ticket number and the visitor.
create function search_words_of(words text) returns table (word text) language sql immutable as $$
  select distinct word from regexp_split_to_table(words, ' ') with ordinality as p(part, place),
    split_part(part, '@', 1) as whole, unnest(whole || regexp_split_to_array(whole, '[0-9._+-]+')) as word
  where (part like '%@%' or (place > 4 and part !~ '[0-9_:.+]')) and length(word) >= 4
$$;
--> statement-breakpoint

-- A trigger needs its function to exist. The bodies of these two are in origin/ledger/functions/, and every start installs them.
create function count_search_words() returns trigger language plpgsql as $$ begin return null; end $$;
create function search_forgets_orders() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger words_counted after insert or delete or update of words on order_texts
  for each row execute function count_search_words();
--> statement-breakpoint

-- Whatever is deleted or made anonymous can no longer be found. The triggers take the same lock as the transactions that copy
-- rows into the search: a copy of an older row is written before the trigger changes it.
create function search_forgets_texts() returns trigger language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext('order search'));
  perform copy_order_texts(array(select order_id from changed));
  return null;
end $$;
create function search_forgets_visitor() returns trigger language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext('order search'));
  perform copy_order_texts(array[new.order_id]);
  return null;
end $$;
create trigger search_forgets_deleted after delete on contacts referencing old table as changed
  for each statement execute function search_forgets_texts();
create trigger search_forgets_changed after update on contacts referencing old table as changed
  for each statement execute function search_forgets_texts();
create trigger search_forgets_deleted after delete on order_notes referencing old table as changed
  for each statement execute function search_forgets_texts();
create trigger search_forgets_deleted after delete on orders referencing old table as changed
  for each statement execute function search_forgets_orders();
-- No other update of an order names this column, so only anonymizing pays for the trigger.
create trigger search_forgets_visitor after update of visitor on orders
  for each row when (old.visitor is distinct from new.visitor) execute function search_forgets_visitor();
--> statement-breakpoint

-- The number of the last row of the log; only begin_view_batch takes numbers from it.
create sequence view_log_seq owned by view_log.seq;
