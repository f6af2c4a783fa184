/** The commands of the image that end by themselves. deploy/image/image.long.test.ts runs all of them in it. */
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { freePort } from '../dev/lib/processes.ts'
import { useDatabase } from '../test/lib/servers.ts'

const COMMAND = fileURLToPath(new URL('./command.ts', import.meta.url))
const database = useDatabase()

async function run(words: string, env: Record<string, string> = {}) {
  const options = { env, extendEnv: false, reject: false } as const
  const { exitCode, stdout, stderr } = await execa(process.execPath, [COMMAND, ...words.split(' ')], options)
  return { status: exitCode, out: stdout, err: stderr }
}

test('a command that there is not prints those that there are', async () => {
  expect(await run('serve')).toEqual({ status: 2, out: '', err: expect.stringMatching(/^ {2}healthcheck /m) })
})

test('operators are made on the ledger that DATABASE_URL names', async () => {
  const DATABASE_URL = database.url
  expect(await run('operator add ada --role owner', { DATABASE_URL })).toMatchObject({ status: 0, err: '' })
  expect((await run('operator list', { DATABASE_URL })).out).toMatch(/^ada {2}owner/)
  expect(await run('operator list')).toMatchObject({ status: 1, err: 'DATABASE_URL: a postgres:// URL is required' })
  expect(await run('operator grow', { DATABASE_URL })).toMatchObject({ status: 2 })
})

test('a healthcheck fails where no process serves', async () => {
  const { status, err } = await run('healthcheck', { OPS_PORT: String(await freePort()), OPS_HOST: '0.0.0.0' })
  expect([status, err]).toEqual([1, expect.stringContaining('ECONNREFUSED')])
})
