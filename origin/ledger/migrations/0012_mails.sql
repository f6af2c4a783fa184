CREATE TABLE "mail_asks" (
	"ask_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"sale_id" text NOT NULL,
	"line" text NOT NULL,
	"about" text NOT NULL,
	"next" text,
	"email" text NOT NULL,
	"language" text NOT NULL,
	"visitor" text,
	"number" integer,
	"position" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refused_mail" (
	"email_hash" text PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "mails" text[] DEFAULT '{"turn_near","turn","sold_out","restocked","confirmed","declined","refunded","sent"}' NOT NULL;--> statement-breakpoint
ALTER TABLE "mail_asks" ADD CONSTRAINT "mail_asks_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "one_ask" ON "mail_asks" USING btree ("sale_id","about",lower("email"));--> statement-breakpoint
CREATE INDEX "asks_next" ON "mail_asks" USING btree ("sale_id","line","next","position") WHERE next is not null;--> statement-breakpoint
CREATE INDEX "asks_of_visitor" ON "mail_asks" USING btree ("visitor");