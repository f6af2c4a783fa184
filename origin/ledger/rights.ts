/**
 * The least rights of a role that serves. It reads and writes rows; tables and functions belong to the role that
 * migrates, which runs these statements once, after its first migration.
 */

/** The statements that give them to this role. The sandbox keeps its records in tables that it makes itself. */
export function rightsFor(role: string): string {
  const name = `"${role.replaceAll('"', '""')}"`
  return `revoke create on schema public from public;
grant usage on schema public, drizzle to ${name};
grant select on all tables in schema drizzle to ${name};
grant select, insert, update, delete on all tables in schema public to ${name};
grant usage, select, update on all sequences in schema public to ${name};
alter default privileges in schema public grant select, insert, update, delete on tables to ${name};
alter default privileges in schema public grant usage, select, update on sequences to ${name};
create schema if not exists sandbox;
grant usage, create on schema sandbox to ${name};`
}
