/** The probe buys in a test sale, and says where a visitor would have failed. */
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { Operators } from '../client/src/operators.ts'
import { STEPS } from '../dev/probe/purchase.ts'
import { saleOf } from './lib/samples.ts'
import { sharedPart } from './run/shared-part.ts'

const { edgeUrl, originUrl, adminToken } = await sharedPart('system')
const operators = new Operators(originUrl, { key: adminToken })
const COMMAND = fileURLToPath(new URL('../dev/probe/probe.ts', import.meta.url))

const probe = (sale: string, ...more: readonly string[]) =>
  execa(process.execPath, [COMMAND, '--edge', edgeUrl, '--sale', sale, ...more], { reject: false })

async function openSale(changes: Parameters<typeof saleOf>[1]) {
  const sale = `probe-${randomUUID().slice(0, 8)}`
  const body = saleOf(5, { admission: { rate_per_second: 100, max_inside: null }, ...changes })
  await operators.call('putSale', { path: { sale }, body })
  const status = async () => (await fetch(`${edgeUrl}/sales/${sale}/schedule`)).status
  await expect.poll(status).toBe(200)
  return sale
}

test('a visitor buys in a test sale, and each step has its time', async () => {
  const sale = await openSale({ test: true })
  const { exitCode, stdout, stderr } = await probe(sale, '--once')
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toContain('flash_sale_probe_success 1')
  for (const step of STEPS) expect(stdout).toMatch(new RegExp(`^flash_sale_probe_seconds\\{step="${step}"\\} \\d`, 'm'))
  const { products } = await operators.call('getSale', { path: { sale } })
  expect(products).toMatchObject([{ sold: 1 }])
})

test('it buys nothing from a sale that is not for tests, and its failure names the step and the request', async () => {
  const sale = await openSale({})
  const refused = await probe(sale, '--once')
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is no test sale') })
  expect(refused.stdout).toContain('flash_sale_probe_success 0')
  const { products } = await operators.call('getSale', { path: { sale } })
  expect(products).toMatchObject([{ sold: 0, held: 0 }])
  const unknown = await probe('no-such-sale', '--once')
  expect(unknown.stderr).toMatch(/^failed at sale: 404 unknown-sale: .* \(request [0-9a-f-]{36}\)/)
  expect(await probe(sale, '--listen', 'nowhere')).toMatchObject({ exitCode: 2 })
})

test('it serves what it has seen, until it is stopped', async () => {
  const child = probe(await openSale({ test: true }), '--listen', '127.0.0.1:0')
  onTestFinished(() => void child.kill())
  let said = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  const port = () => /port (\d+)/.exec(said)?.[1]
  await expect.poll(port).toBeDefined()
  const metrics = async () => (await fetch(`http://127.0.0.1:${port()}/metrics`)).text()
  await expect.poll(metrics).toContain('flash_sale_probe_runs_total{outcome="bought"} 1')
  child.kill('SIGTERM')
  expect((await child).exitCode).toBe(130)
})
