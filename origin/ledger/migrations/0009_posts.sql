CREATE TABLE "posts" (
	"sale_id" text NOT NULL,
	"n" integer NOT NULL,
	"level" text,
	"text" jsonb NOT NULL,
	"image" jsonb,
	"operator" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"until" timestamp (3) with time zone,
	"removed_at" timestamp (3) with time zone,
	CONSTRAINT "posts_sale_id_n_pk" PRIMARY KEY("sale_id","n")
);
--> statement-breakpoint
ALTER TABLE "posts" ADD CONSTRAINT "posts_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "announcement_shown" ON "posts" USING btree ("sale_id") WHERE level is not null and until is null;--> statement-breakpoint
-- What was announced before there was a feed are its first posts.
INSERT INTO "posts" ("sale_id", "n", "level", "text", "operator", "at", "until")
SELECT sale_id, row_number() OVER (PARTITION BY sale_id ORDER BY since, announcement_id), level, text, operator, since, until
FROM "announcements";--> statement-breakpoint
DROP TABLE "announcements" CASCADE;
