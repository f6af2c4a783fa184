/**
 * What the command `operator` does to the ledger: it makes operators, lists them and revokes their keys. A key is
 * printed once and not stored; the database has its hash.
 */
import * as v from 'valibot'
import { NewOperator, ROLES } from '../../shared/api/operators/roles.ts'
import type { Sql } from '../ledger/connection.ts'
import { listOperators, revokeOperator, writeOperator } from './operator-queries.ts'
import { newKey } from './operators.ts'

/** Prints what it did, and returns the status with which the process should exit. */
export type OperatorCommand = (sql: Sql) => Promise<number>

/** The command that these words and `--role` name, or a sentence that says what is wrong with them. */
export function operatorCommand(words: readonly string[], role: string | undefined): OperatorCommand | string {
  const [action, name, ...more] = words
  if (more.length > 0) return `"${more[0]}" is one word too many.`
  switch (action) {
    case 'add':
      return add(name, role)
    case 'list':
      return list
    case 'revoke':
      return name === undefined ? 'revoke needs a NAME.' : (sql) => revoke(sql, name)
    default:
      return 'One of add, list and revoke is needed.'
  }
}

function add(name: string | undefined, role: string | undefined): OperatorCommand | string {
  if (name === undefined) return 'add needs a NAME.'
  if (role === undefined) return `--role is needed: ${ROLES.join(', ')}.`
  const wanted = v.safeParse(NewOperator, { name, role })
  if (!wanted.success) {
    const [issue] = wanted.issues
    return v.getDotPath(issue) === 'role' ? `--role: ${issue.message}.` : `"${name}": ${issue.message}.`
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

async function revoke(sql: Sql, name: string): Promise<number> {
  if (!(await revokeOperator(sql, name))) {
    console.error(`There is no operator ${name} with a key or a session.`)
    return 1
  }
  console.log(`The key and the sessions of ${name} are revoked.`)
  return 0
}

const day = (at: Date) => at.toISOString().slice(0, 10)
