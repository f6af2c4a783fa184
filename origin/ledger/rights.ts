/**
 * The least rights of a role that serves. It reads and writes rows; tables and functions belong to the role that
 * migrates, which runs these statements once, after its first migration.
 */

const quoted = (role: string) => `"${role.replaceAll('"', '""')}"`

/** The statements that give them to this role. */
export function rightsFor(role: string): string {
  const name = quoted(role)
  return `revoke create on schema public from public;
grant usage on schema public, drizzle to ${name};
grant select on all tables in schema drizzle to ${name};
grant select, insert, update, delete on all tables in schema public to ${name};
grant usage, select, update on all sequences in schema public to ${name};
alter default privileges in schema public grant select, insert, update, delete on tables to ${name};
alter default privileges in schema public grant usage, select, update on sequences to ${name};`
}

/** The statements that also let it take payments of test sales: the sandbox makes its own tables in its schema. */
export function sandboxRightsFor(role: string): string {
  return `create schema if not exists sandbox;
grant usage, create on schema sandbox to ${quoted(role)};`
}
