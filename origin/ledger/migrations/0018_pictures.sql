CREATE TABLE "pictures" (
	"image" text PRIMARY KEY NOT NULL,
	"used_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "pictures_by_use" ON "pictures" USING btree ("used_at");