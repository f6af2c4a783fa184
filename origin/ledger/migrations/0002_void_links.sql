ALTER TABLE "invitations" ADD COLUMN "is_link" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "links_void_before" timestamp (3) with time zone;