CREATE TABLE "order_search_products" (
	"order_id" uuid NOT NULL,
	"sale_id" text NOT NULL,
	"product_id" text NOT NULL,
	"status" text NOT NULL,
	CONSTRAINT "order_search_products_order_id_product_id_pk" PRIMARY KEY("order_id","product_id")
);
--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "lines" integer[];--> statement-breakpoint
CREATE INDEX "searched_by_other_product" ON "order_search_products" USING btree ("sale_id","product_id","status","order_id");