/** The commands of docs/apps.md, as they stand, on a sale that asks for a proof of work and whose turns come later. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { ensureProgram } from '../dev/servers/install.ts'
import { createSale } from './lib/origin-process.ts'
import { saleOf } from './lib/samples.ts'
import { visitorsOf } from './lib/visitor.ts'
import { sharedPart } from './run/shared-part.ts'

const SALE = 'apps'
const PAGE = fileURLToPath(new URL('../docs/apps.md', import.meta.url))

test('an app joins with a proof of work, waits through the opening, buys and pays', async () => {
  const system = await sharedPart('system')
  await ensureProgram({ name: 'jq', binaries: ['jq'], apt: 'jq', brew: 'jq', otherwise: 'skip this test' })
  const opens_at = new Date(Date.now() + 8_000).toISOString()
  const access = { sign_in: 'optional', invitation: 'off', proof_of_work: 2_000, turnstile: false } as const
  await createSale(system, SALE, saleOf(3, { opens_at, access }))
  await expect.poll(async () => (await visitorsOf(system.edgeUrl, SALE).join({})).status).toBe(401)
  const commands = Array.from(readFileSync(PAGE, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, block]) => block)
  const { stdout } = await execa('bash', ['-euo', 'pipefail', '-c', commands.join('')], {
    env: { EDGE: system.edgeUrl, SALE },
    timeout: 120_000,
  })
  expect(stdout.trim()).toBe('confirmed')
})
