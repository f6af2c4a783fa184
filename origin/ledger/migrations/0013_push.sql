ALTER TABLE "mail_asks" ALTER COLUMN "email" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "mail_asks" ADD COLUMN "push" jsonb;--> statement-breakpoint
CREATE UNIQUE INDEX "one_push" ON "mail_asks" USING btree ("sale_id",("push" ->> 'endpoint'));--> statement-breakpoint
ALTER TABLE "mail_asks" ADD CONSTRAINT "mail_or_push" CHECK (num_nonnulls(email, push) = 1);