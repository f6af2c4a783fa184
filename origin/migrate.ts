/**
 * The command `npm run migrate`: migrates the ledger before the processes of a release start, which only check it in
 * production. It may run while a sale runs, and twice.
 */
import { ConfigError, readDatabaseUrl } from './base/env.ts'
import { migrate, RELEASE } from './ledger/migrate.ts'
import { rightsFor, sandboxRightsFor } from './ledger/rights.ts'
import { REDIS_RULES } from './stock/redis-rights.ts'

const HELP = `Migrates the ledger to release ${RELEASE}.

  DATABASE_URL=postgres://.. npm run migrate     (in the image: migrate)
  npm run migrate --silent -- --rights ROLE      prints what lets another role serve, and no more, for psql; with
                                                 --sandbox also what the payments of test sales need
  npm run migrate --silent -- --redis-rights     prints the same for a user of Redis: the rules of ACL SETUSER

The role needs the rights to create and alter tables and functions. Functions of a newer release stay as they are.
Exit status: 0 migrated, or nothing to do; 1 it could not, and nothing of the failed migration is applied.`

async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(HELP)
    return 0
  }
  if (process.argv.includes('--redis-rights')) {
    console.log(REDIS_RULES)
    return 0
  }
  const rights = process.argv.indexOf('--rights')
  if (rights >= 0) return printRights(process.argv[rights + 1])
  try {
    const { migrations, release } = await migrate(readDatabaseUrl(process.env))
    const newer = release === RELEASE ? '' : `; the functions of the newer release ${release} stay`
    console.log(`The ledger serves release ${RELEASE}: ${migrations} migrations applied${newer}.`)
    return 0
  } catch (error) {
    const { message } = error as Error
    console.error(error instanceof ConfigError ? message : `The ledger is not migrated: ${message}`)
    return 1
  }
}

function printRights(role: string | undefined): number {
  if (role === undefined) console.error('--rights needs the name of a ROLE that serves.')
  else console.log(rightsFor(role))
  if (role !== undefined && process.argv.includes('--sandbox')) console.log(sandboxRightsFor(role))
  return role === undefined ? 2 : 0
}

process.exitCode = await main()
