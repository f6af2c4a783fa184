CREATE TABLE "sale_sources" (
	"sale_id" text NOT NULL,
	"source" text NOT NULL,
	"joined" bigint DEFAULT 0 NOT NULL,
	"turns" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "sale_sources_sale_id_source_pk" PRIMARY KEY("sale_id","source")
);
--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "source" text;