/** `npm run operator` beside `npm start`: it finds the database by the folder, whether the start runs or not. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, expect, test } from 'vitest'
import { writePidFile } from './lib/leftovers.ts'
import { startPostgres } from './servers/postgres.ts'

const COMMAND = fileURLToPath(new URL('./operator.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'flash-sale-operator-'))
afterAll(() => rmSync(folder, { recursive: true }))

const operator = (args: string, env: Record<string, string> = {}) =>
  execa(process.execPath, [COMMAND, ...args.split(' ')], { env: { DATABASE_URL: '', ...env }, reject: false })

test('finds the database of npm start by its folder, running or not', async () => {
  const none = await operator('list --data nowhere')
  expect(none.stderr).toMatch(/There is no Postgres of npm start in nowhere: set DATABASE_URL/)
  const running = await startPostgres({ dataDir: join(folder, 'postgres') })
  writePidFile(join(folder, 'start.pid'), process.pid)
  expect(await operator(`add ada --role viewer --data ${folder}`)).toMatchObject({ exitCode: 0, stderr: '' })
  await running.stop()
  rmSync(join(folder, 'start.pid'))
  expect((await operator('list', { FLASH_SALE_DATA: folder })).stdout).toMatch(/^ada {2}viewer/)
})
