ALTER TABLE "sales" ALTER COLUMN "mails" SET DEFAULT '{"turn_near","turn","sold_out","restocked","confirmed","declined","cancelled","refunded","sent"}';--> statement-breakpoint
update sales set mails = array_append(mails, 'cancelled') where 'declined' = any(mails) and not 'cancelled' = any(mails);
