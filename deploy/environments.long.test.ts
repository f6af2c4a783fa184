/** What wrangler would deploy, and what Terraform would read: both programs parse these files as they do for real. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../dev/lib/processes.ts'

// The package's types would bring those of browsers into every test.
const { parse } = createRequire(import.meta.url)('@cdktf/hcl2json')
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BINDINGS = [
  'WAITING_ROOM',
  'TICKET_SHARD',
  'PREVIEW',
  'JOINS_BY_ADDRESS',
  'JOINS_BY_NETWORK',
  'JOINS_BY_WIDE_NETWORK',
]

test.each(['staging', 'production'])('wrangler accepts the environment %s, with all bindings', async (environment) => {
  const folder = temporaryFolder('wrangler')
  const options = { cwd: ROOT, env: { WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG_PATH: folder.path } }
  const { stdout } = await execa('wrangler', ['deploy', '--dry-run', '--env', environment], options)
  folder.remove()
  const bound = [...stdout.matchAll(/^env\.(\w+) /gm)].map(([, name]) => name)
  expect(bound).toEqual(expect.arrayContaining([...BINDINGS, 'ORIGIN_URL', 'PUBLIC_URL', 'PAYMENT_PAGE']))
})

test('Terraform’s example parses, and keeps the stores in two zones', async () => {
  const name = 'terraform/main.tf'
  const { resource } = await parse(name, readFileSync(new URL(name, import.meta.url), 'utf8'))
  expect(resource.aws_db_instance.postgres).toMatchObject([{ multi_az: true, storage_encrypted: true }])
  expect(resource.aws_elasticache_replication_group.redis).toMatchObject([
    { multi_az_enabled: true, transit_encryption_enabled: true, automatic_failover_enabled: true },
  ])
})
