/**
 * The command `npm run migrate`: migrates the ledger before the processes of a release start, which only check it in
 * production. It may run while a sale runs, and twice.
 */
import { migrate, RELEASE } from './ledger/migrate.ts'

const HELP = `Migrates the ledger to release ${RELEASE}.

  DATABASE_URL=postgres://.. npm run migrate

The role needs the rights to create and alter tables and functions. Functions of a newer release stay as they are.
Exit status: 0 migrated, or nothing to do; 1 it could not, and nothing of the failed migration is applied.`

async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(HELP)
    return 0
  }
  const { DATABASE_URL = '' } = process.env
  if (!/^postgres(ql)?:/.test(DATABASE_URL) || !URL.canParse(DATABASE_URL)) {
    console.error('DATABASE_URL: a postgres:// URL is required')
    return 1
  }
  try {
    const { migrations, release } = await migrate(DATABASE_URL)
    const newer = release === RELEASE ? '' : `; the functions of the newer release ${release} stay`
    console.log(`The ledger serves release ${RELEASE}: ${migrations} migrations applied${newer}.`)
    return 0
  } catch (error) {
    console.error(`The ledger is not migrated: ${(error as Error).message}`)
    return 1
  }
}

process.exitCode = await main()
