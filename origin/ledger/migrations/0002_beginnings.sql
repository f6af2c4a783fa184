-- How an order began is told by the order itself, and no event any more.
UPDATE "orders" SET "reserved_until" = "created_at" WHERE "status" = 'cancelled' AND "reason" IN ('no_stock', 'limit');--> statement-breakpoint
DELETE FROM "order_events" e USING "orders" o
  WHERE e."order_id" = o."order_id" AND (e."status" = 'reserved' OR o."reserved_until" = o."created_at");--> statement-breakpoint
-- The beginning of one_order_per_key serves as well, and each order is written to one index fewer.
DROP INDEX "live_orders";
