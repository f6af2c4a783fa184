CREATE TABLE "alert_channels" (
	"channel" text PRIMARY KEY NOT NULL,
	"level" text NOT NULL
);
