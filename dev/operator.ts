/**
 * The command `npm run operator -- add NAME --role ROLE` creates operators and revokes their keys, directly in the
 * database of an origin, or in that of `npm start`.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../origin/ledger/connection.ts'
import { prepare } from '../origin/ledger/migrate.ts'
import { type OperatorCommand, operatorCommand } from '../origin/operators/operator-commands.ts'
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

const SEE_HELP = 'See npm run operator -- --help'

/** The command that the arguments name, and the data folder of `npm start` on which it runs. */
export function readCommand(args: readonly string[]): {
  readonly data: string | undefined
  readonly command: OperatorCommand
} {
  const words = args.slice(0, args.findIndex((arg) => arg.startsWith('-')) >>> 0)
  const { role, data } = optionsOf('run operator', { texts: 'role data' }, args.slice(words.length))
  const command = operatorCommand(words, role)
  if (typeof command === 'string') throw new UsageError(`${command} ${SEE_HELP}`)
  return { data, command }
}

/**
 * Runs a command on the configured database: the named one, that of a running system, or one that is started for this
 * command.
 */
async function onDatabase(data: string | undefined, command: OperatorCommand): Promise<number> {
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

async function onUrl(url: string, command: OperatorCommand): Promise<number> {
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
