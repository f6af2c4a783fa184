ALTER TABLE "charts" ADD COLUMN "focal_chosen" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "charts" ADD COLUMN "next_seat_index" integer DEFAULT 0 NOT NULL;