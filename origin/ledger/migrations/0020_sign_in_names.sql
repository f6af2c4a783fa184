CREATE TABLE "sign_in_names" (
	"operator" text PRIMARY KEY NOT NULL,
	"issuer" text NOT NULL,
	"sub" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "names_of_identity" ON "sign_in_names" USING btree ("issuer","sub");