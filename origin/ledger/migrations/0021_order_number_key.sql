CREATE TABLE "order_number_key" (
	"key" uuid PRIMARY KEY NOT NULL
);
--> statement-breakpoint
INSERT INTO "order_number_key" VALUES (gen_random_uuid());--> statement-breakpoint
ALTER TABLE "orders" ALTER COLUMN "number" DROP DEFAULT;
