CREATE TABLE "queue_minutes" (
	"queue" text NOT NULL,
	"minute" timestamp (3) with time zone NOT NULL,
	"done" integer NOT NULL,
	"failed" integer NOT NULL,
	"dead" integer NOT NULL,
	CONSTRAINT "queue_minutes_queue_minute_pk" PRIMARY KEY("queue","minute")
);
--> statement-breakpoint
CREATE TABLE "scheduled_documents" (
	"action_id" uuid NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"type" text NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "scheduled_documents_action_id_due_at_pk" PRIMARY KEY("action_id","due_at")
);
--> statement-breakpoint
ALTER TABLE "scheduled_actions" ADD COLUMN "not_after" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "scheduled_documents" ADD CONSTRAINT "document_of_run" FOREIGN KEY ("action_id","due_at") REFERENCES "public"."scheduled_runs"("action_id","due_at") ON DELETE cascade ON UPDATE no action;