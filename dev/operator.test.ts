/** What `npm run operator` does to the database, and prints. */
import { expect, test, vi } from 'vitest'
import { Operators } from '../origin/operators/operators.ts'
import { useLedger } from '../test/lib/servers.ts'
import { readCommand } from './operator.ts'

const sql = await useLedger()

/** Runs a command in this process, and returns its status, what it prints, and the key in it. */
async function operator(args: string) {
  const lines: string[] = []
  const printed = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line))
  const status = await readCommand(args.split(' '))
    .command(sql)
    .finally(() => printed.mockRestore())
  const text = lines.join('\n')
  return { status, text, key: /op_[\w-]{43}/.exec(text)?.[0] ?? '' }
}

test('makes an operator, prints the key once, gives a new one, and revokes it', async () => {
  // The instance is new each time, because results are remembered for a second.
  const who = (key: string) => new Operators(sql, () => false, ['unused']).byKey(key)
  const first = await operator('add ada@shop.example --role viewer')
  expect(await who(first.key)).toEqual({ name: 'ada@shop.example', role: 'viewer' })
  const second = await operator('add ada@shop.example --role owner')
  expect(await who(second.key)).toEqual({ name: 'ada@shop.example', role: 'owner' })
  expect(await who(first.key)).toBeUndefined()
  const listed = await operator('list')
  expect(listed.text).toMatch(/^ada@shop\.example {2}owner {5}made \d{4}-/)
  expect(listed.key).toBe('')
  await operator('revoke ada@shop.example')
  const refused = vi.spyOn(console, 'error').mockImplementation(() => {})
  expect((await operator('revoke nobody')).status).toBe(1)
  expect(refused.mock.calls).toEqual([['There is no operator nobody with a key or a session.']])
  refused.mockRestore()
  expect(await who(second.key)).toBeUndefined()
  const entries = await sql`select actor, action, before, after from audit_log order by entry_id`
  const [viewer, owner] = ['viewer', 'owner'].map((role) => ({ name: 'ada@shop.example', role }))
  expect([...entries]).toEqual([
    { actor: 'admin', action: 'operator added', before: null, after: viewer },
    { actor: 'admin', action: 'operator added', before: viewer, after: owner },
    { actor: 'admin', action: 'operator revoked', before: owner, after: null },
  ])
})
