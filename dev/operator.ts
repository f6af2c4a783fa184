/**
 * The command `npm run operator -- add NAME --role ROLE` creates operators and revokes their keys, directly in the
 * database. A key is printed once and not stored; the database has its hash.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { connect, type Sql } from '../origin/ledger/connection.ts'
import { prepare } from '../origin/ledger/migrate.ts'
import { listOperators, revokeOperator, writeOperator } from '../origin/operators/operator-queries.ts'
import { newKey } from '../origin/operators/operators.ts'
import { NewOperator, ROLES } from '../shared/api/operators/roles.ts'
import { optionsOf, run, UsageError } from './lib/command.ts'
import { takeFolder } from './lib/data-folder.ts'
import { LocalError, readPidFile } from './lib/leftovers.ts'
import { checkDatabase } from './servers/external-stores.ts'
import { runningPostgres, startPostgres } from './servers/postgres.ts'

const HELP = `Makes operators, who sign in to the console and call the operators' API with a key of their own.

  npm run operator -- add NAME --role ROLE   makes one and prints the key, once; one of that name gets a new key
  npm run operator -- list                   shows them
  npm run operator -- revoke NAME            ends the key and the sessions of one, within a second

  --role ROLE      viewer (reads), operator (steers sales and orders) or owner (names operators as well)
  --data FOLDER    of \`npm start\`, running or not (default ./.data, or FLASH_SALE_DATA)
  --help           this text

NAME has 1 to 64 letters, digits and .@_-; the audit log shows it beside all that the operator does.
Environment: DATABASE_URL, the Postgres of the origin; it wins over the folder of \`npm start\`.`

/** The command that the arguments name, and the data folder of `npm start` on which it runs. */
export function readCommand(args: readonly string[]): { readonly data: string | undefined; readonly command: Command } {
  const words = args.slice(0, args.findIndex((arg) => arg.startsWith('-')) >>> 0)
  const { role, data } = optionsOf('run operator', { texts: 'role data' }, args.slice(words.length))
  const [action, name, ...more] = words
  if (more.length > 0) throw new UsageError(`"${more[0]}" is one word too many. See npm run operator -- --help`)
  switch (action) {
    case 'add':
      return { data, command: add(name, role) }
    case 'list':
      return { data, command: list }
    case 'revoke':
      return { data, command: revoke(name) }
    default:
      throw new UsageError('One of add, list and revoke is needed. See npm run operator -- --help')
  }
}

type Command = (sql: Sql) => Promise<number>

function add(name: string | undefined, role: string | undefined): Command {
  if (name === undefined) throw new UsageError('add needs a NAME. See npm run operator -- --help')
  if (role === undefined) throw new UsageError(`--role is needed: ${ROLES.join(', ')}.`)
  const wanted = v.safeParse(NewOperator, { name, role })
  if (!wanted.success) {
    const [issue] = wanted.issues
    throw new UsageError(v.getDotPath(issue) === 'role' ? `--role: ${issue.message}.` : `"${name}": ${issue.message}.`)
  }
  return async (sql) => {
    const { secret, hash } = newKey()
    await writeOperator(sql, wanted.output, hash)
    console.log(`${name} is ${role}. Their key, which is shown only now:

  ${secret}

Signs in at /console of the origin. A program sends it as "Authorization: Bearer KEY".`)
    return 0
  }
}

async function list(sql: Sql): Promise<number> {
  const operators = await listOperators(sql)
  if (operators.length === 0) console.log('There is no operator yet, only the admin token.')
  const widest = Math.max(...operators.map(({ operator }) => operator.length))
  for (const { operator, role, created_at, revoked_at } of operators)
    console.log(
      `${operator.padEnd(widest)}  ${role.padEnd(8)}  made ` +
        `${day(created_at)}${revoked_at ? `  revoked ${day(revoked_at)}` : ''}`,
    )
  return 0
}

function revoke(name: string | undefined): Command {
  if (name === undefined) throw new UsageError('revoke needs a NAME. See npm run operator -- --help')
  return async (sql) => {
    if (!(await revokeOperator(sql, name)))
      throw new LocalError(`There is no operator ${name} with a key or a session.`)
    console.log(`The key and the sessions of ${name} are revoked.`)
    return 0
  }
}

const day = (at: Date) => at.toISOString().slice(0, 10)

/**
 * Runs a command on the configured database: the named one, that of a running system, or one that is started for this
 * command.
 */
async function onDatabase(data: string | undefined, command: Command): Promise<number> {
  const given = data === undefined && process.env.DATABASE_URL
  if (given) {
    await checkDatabase(given)
    return onUrl(given, command)
  }
  const folder = data ?? (process.env.FLASH_SALE_DATA || '.data')
  const dataDir = join(folder, 'postgres')
  if (!existsSync(join(dataDir, 'data')))
    throw new LocalError(
      `There is no Postgres of npm start in ${folder}: set DATABASE_URL to that of the origin, or name a folder ` +
        'with --data.',
    )
  if (readPidFile(join(folder, 'start.pid'))?.runs) return onUrl(runningPostgres(dataDir), command)
  const { release } = await takeFolder(folder)
  try {
    const postgres = await startPostgres({ dataDir })
    try {
      return await onUrl(postgres.url, command)
    } finally {
      await postgres.stop()
    }
  } finally {
    await release()
  }
}

async function onUrl(url: string, command: Command): Promise<number> {
  await prepare(url)
  const sql = connect(url, 1)
  try {
    return await command(sql)
  } finally {
    await sql.end({ timeout: 2 })
  }
}

const main = () => {
  const { data, command } = readCommand(process.argv.slice(2))
  return onDatabase(data, command)
}

if (import.meta.main) await run(HELP, 'Could not do it:', main, undefined, { failed: 1, interrupted: 130 })
