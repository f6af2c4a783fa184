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
ALTER TABLE "sales" ADD COLUMN "access" jsonb DEFAULT '{"sign_in":"optional","invitation":"off","proof_of_work":null,"turnstile":false}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "lines" jsonb DEFAULT '[{"line":"public","weight":1,"opens_early_seconds":0,"access":null}]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "expected_visitors" integer;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "ticket_shards" integer;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "max_unpaid_orders" integer DEFAULT 3 NOT NULL;--> statement-breakpoint
ALTER TABLE "rules" ADD CONSTRAINT "rules_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "rules_of_sale" ON "rules" USING btree ("sale_id","rule_id");