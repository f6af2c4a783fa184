ALTER TABLE "goods" ADD COLUMN "names" jsonb;--> statement-breakpoint
ALTER TABLE "goods" ADD COLUMN "event" jsonb;