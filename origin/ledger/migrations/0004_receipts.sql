ALTER TABLE "orders" ADD COLUMN "card" jsonb;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "seller" jsonb;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "tax" jsonb;