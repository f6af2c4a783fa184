/** What monitors ask: on a port of their own, and cheap however often. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { useOrigin } from '../test/lib/origin-process.ts'
import { createOpsApp } from './ops.ts'

const origin = useOrigin()

test('answers monitors on their own port, and buyers with nothing of it', async () => {
  await expect.poll(() => origin.ops('/readyz')).toMatchObject({ status: 200, body: { ledger: true, gate: true } })
  expect(String((await origin.ops('/metrics')).body.text)).toContain('process_cpu_seconds_total')
  expect(await origin.ops('/healthz')).toMatchObject({ status: 200 })
  for (const path of ['/metrics', '/readyz']) expect(await origin.call('GET', path)).toMatchObject({ status: 404 })
  expect(await origin.call('GET', '/healthz')).toMatchObject({ status: 200 })
})

test('pings the stores once a second, however often readiness is asked', async () => {
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['performance'] })
  let pings = 0
  const ping = async () => pings++
  const app = createOpsApp({ stores: { ledger: ping, gate: ping }, registry: {} as never })
  for (const [laterMs, pinged] of [
    [0, 2],
    [999, 2],
    [1, 4],
  ] as const) {
    vi.advanceTimersByTime(laterMs)
    const answers = await Promise.all(Array.from({ length: 100 }, () => app.request('/readyz')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(pings).toBe(pinged)
  }
})
