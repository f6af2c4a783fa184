/**
 * Which settings of Postgres may lose a committed order. The origin serves with any: some lose the last moments on
 * purpose.
 */
import type { Logger } from 'pino'
import type { Sql } from './connection.ts'

/** What each setting costs when it is off, and what is left to do. */
const MAY_LOSE = {
  fsync: 'this Postgres may lose all orders, and its data, when its machine fails: set fsync on',
  synchronous_commit: 'this Postgres may lose orders that were answered 201 when it crashes: set synchronous_commit on',
}

export async function warnOfLostCommits(sql: Sql, log: Logger): Promise<void> {
  const settings = await sql<{ name: keyof typeof MAY_LOSE }[]>`
    select name from pg_settings where name = any(${Object.keys(MAY_LOSE)}) and setting = 'off' order by name`
  for (const { name } of settings) log.warn({ setting: `${name} off` }, MAY_LOSE[name])
}
