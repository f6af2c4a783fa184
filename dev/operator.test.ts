/** `npm run operator` as a person uses it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, expect, test } from 'vitest'
import { connect } from '../origin/ledger/connection.ts'
import { Operators } from '../origin/operators/operators.ts'
import { useDatabase } from '../test/lib/servers.ts'
import { writePidFile } from './lib/leftovers.ts'
import { startPostgres } from './servers/postgres.ts'

const COMMAND = fileURLToPath(new URL('./operator.ts', import.meta.url))
const database = useDatabase()
const folder = mkdtempSync(join(tmpdir(), 'flash-sale-operator-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function operator(args: string, env: Record<string, string> = { DATABASE_URL: database.url }) {
  const { stdout, stderr, exitCode } = await execa(process.execPath, [COMMAND, ...args.split(' ')], {
    env: { DATABASE_URL: '', ...env },
    reject: false,
  })
  return { stdout, stderr, exitCode, key: /op_[\w-]{43}/.exec(stdout)?.[0] ?? '' }
}

test.concurrent('makes an operator, prints the key once, gives a new one, and revokes it', async () => {
  const sql = connect(database.url, 1)
  // The instance is new each time, because results are remembered for a second.
  const who = (key: string) => new Operators(sql, () => false, 'unused').byKey(key)
  const first = await operator('add ada@shop.example --role viewer')
  expect(await who(first.key)).toEqual({ name: 'ada@shop.example', role: 'viewer' })
  const second = await operator('add ada@shop.example --role owner')
  expect(await who(second.key)).toEqual({ name: 'ada@shop.example', role: 'owner' })
  expect(await who(first.key)).toBeUndefined()
  const listed = await operator('list')
  expect(listed.stdout).toMatch(/^ada@shop\.example {2}owner {5}made \d{4}-/)
  expect(listed.key).toBe('')
  expect(await operator('revoke ada@shop.example')).toMatchObject({ exitCode: 0 })
  expect(await operator('revoke nobody')).toMatchObject({
    stderr: 'Could not do it: There is no operator nobody with a key or a session.',
    exitCode: 1,
  })
  expect(await who(second.key)).toBeUndefined()
  const entries = await sql`select actor, action, before, after from audit_log order by entry_id`
  const [viewer, owner] = ['viewer', 'owner'].map((role) => ({ name: 'ada@shop.example', role }))
  expect([...entries]).toEqual([
    { actor: 'admin', action: 'operator added', before: null, after: viewer },
    { actor: 'admin', action: 'operator added', before: viewer, after: owner },
    { actor: 'admin', action: 'operator revoked', before: owner, after: null },
  ])
  await sql.end()
})

test.concurrent('finds the database of npm start by its folder, running or not', async () => {
  const none = await operator('list --data nowhere')
  expect(none.stderr).toMatch(/There is no Postgres of npm start in nowhere: set DATABASE_URL/)
  const running = await startPostgres({ dataDir: join(folder, 'postgres') })
  writePidFile(join(folder, 'start.pid'), process.pid)
  expect(await operator(`add ada --role viewer --data ${folder}`)).toMatchObject({ exitCode: 0, stderr: '' })
  await running.stop()
  rmSync(join(folder, 'start.pid'))
  expect((await operator('list', { FLASH_SALE_DATA: folder })).stdout).toMatch(/^ada {2}viewer/)
})
