CREATE TABLE "order_networks" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"asn" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sale_networks" (
	"sale_id" text NOT NULL,
	"asn" integer NOT NULL,
	"joined" bigint DEFAULT 0 NOT NULL,
	"unproved" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "sale_networks_sale_id_asn_pk" PRIMARY KEY("sale_id","asn")
);
