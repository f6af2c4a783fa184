/**
 * The edge killed in mid-crowd, again and again: whoever got a number has it for good, nobody else gets it, and whoever
 * comes again as the same visitor finds it. Many join at once, so that they are written together.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type System, startSystem } from '../../dev/system.ts'
import { identityOf, type VisitorKey, visitorKey } from '../../edge/visitor/visitor-secret.ts'
import type { QueueAnswer } from '../../shared/api/public.ts'
import { eventually } from '../lib/eventually.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { ledgerDatabase } from '../lib/servers.ts'

const SALE = 'launch'
const KILLS = 3
const AT_ONCE = 60
const MOST = 3_000

let system: System
let key: VisitorKey

beforeAll(async () => {
  system = await startSystem({ databaseUrl: (await ledgerDatabase()).url })
  key = visitorKey(system.secrets.queueKeys)
  await createSale(system, SALE, saleOf(10))
})
afterAll(() => system?.stop())

test('an issued number outlives the edge, and nobody else gets it', async () => {
  const issued = new Map<string, number>()
  let killing = true
  let visitors = 0
  const crowd = Array.from({ length: AT_ONCE }, async () => {
    while (killing && issued.size < MOST) {
      const visitor = `visitor-of-the-crowd-${++visitors}`
      const answer = await join(visitor)
      if (answer?.status === 201) issued.set(visitor, answer.number)
      else await sleep(20)
    }
  })
  for (let kill = 0; kill < KILLS; kill++) {
    const before = issued.size
    const enough = (joined: number) => joined >= before + AT_ONCE
    expect(await eventually(async () => issued.size, enough, 60_000)).toSatisfy(enough)
    await system.edge.kill()
    await system.edge.restart()
  }
  killing = false
  await Promise.all(crowd)

  expect(issued.size).toBeGreaterThanOrEqual(KILLS * AT_ONCE)
  expect(new Set(issued.values()).size).toBe(issued.size)
  for (const [visitor, number] of issued) {
    const again = await eventually(
      () => join(visitor),
      (answer) => answer?.status === 200,
    )
    expect(again).toEqual({ status: 200, number })
  }
})

/** Null if the edge is away. */
async function join(visitor: string): Promise<{ status: number; number: number } | null> {
  try {
    const response = await fetch(`${system.edgeUrl}/sales/${SALE}/queue`, {
      method: 'POST',
      headers: { cookie: `visitor-secret=${identityOf(visitor, key).cookie}` },
    })
    const { number = 0 } = (await response.json()) as QueueAnswer
    return { status: response.status, number }
  } catch {
    return null
  }
}
