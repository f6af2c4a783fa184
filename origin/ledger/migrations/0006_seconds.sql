CREATE TABLE "sale_seconds" (
	"sale_id" text NOT NULL,
	"second" timestamp (3) with time zone NOT NULL,
	"counts" jsonb NOT NULL,
	"gauges" jsonb NOT NULL,
	CONSTRAINT "sale_seconds_sale_id_second_pk" PRIMARY KEY("sale_id","second")
);
