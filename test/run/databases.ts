/** Creates and drops databases of tests, in addition to the one with which a server was started. */
import postgres from 'postgres'

/**
 * Creates a database on the server of this address, as a copy of another one there, and returns its own address. The
 * files are copied, because writing a copy to the log as well, as is usual, takes four times as long.
 */
export async function createDatabase(url: string, name: string, template = 'template1'): Promise<string> {
  await onConnection(url, (sql) => sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`)
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

/** Drops a database and ends all connections to it. */
export async function dropDatabase(url: string, name: string): Promise<void> {
  await onConnection(url, (sql) => sql`drop database if exists ${sql(name)} with (force)`)
}

async function onConnection(url: string, use: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} })
  try {
    await use(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
