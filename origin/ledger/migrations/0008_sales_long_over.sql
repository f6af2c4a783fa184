ALTER TABLE "sales" ADD COLUMN "long_over" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "sales_to_read" ON "sales" USING btree ("sale_id") WHERE not long_over;