/**
 * The edge is killed during a lease, while visitors join. Every visitor with a number keeps it, and nobody else gets
 * it. A ticket shard stores the numbers of known visitors; the numbers of other visitors are in a block that is only
 * in memory.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort, type Server, temporaryFolder } from '../../dev/lib/processes.ts'
import { startEdge } from '../../dev/servers/workerd.ts'
import { identityOf, visitorKey } from '../../edge/http/visitor-secret.ts'
import { newKeySet } from '../../shared/keys.ts'
import { eventually } from '../lib/eventually.ts'
import { useOrigin } from '../lib/origin-process.ts'
import { visitorsOf } from '../lib/visitor.ts'

const AT_ONCE = 40

const origin = useOrigin()
const queueKeys = newKeySet()
const folder = temporaryFolder('edge-killed')
let edge: Server
beforeAll(async () => {
  edge = await startEdge({
    port: await freePort(),
    originUrl: origin.url(),
    dataDir: folder.path,
    vars: {
      EDGE_TOKEN: origin.edgeToken,
      QUEUE_KEYS: JSON.stringify(queueKeys),
      ADMISSION_KEYS: JSON.stringify(origin.keys()),
      ENVIRONMENT: 'development',
    },
  })
})
afterAll(async () => {
  await edge?.stop()
  folder.remove()
})

test('a number that was issued in a lease outlives the edge, and nobody else gets it', async () => {
  const visitors = visitorsOf(edge.url, await origin.sale())
  await expect.poll(() => visitors.join()).toMatchObject({ status: 201 })
  const cookies = () =>
    Array.from({ length: AT_ONCE }, () => `visitor-secret=${identityOf(randomUUID(), visitorKey(queueKeys)).cookie}`)
  const strangers = Array<undefined>(AT_ONCE).fill(undefined)
  const joinAs = async (cookie?: string) => ({
    cookie,
    ...(await visitors.join({ headers: cookie ? { cookie } : {} })),
  })
  const areIn = (all: readonly (string | undefined)[]) =>
    Promise.all(
      all.map((cookie) =>
        eventually(
          () => joinAs(cookie),
          ({ status }) => status === 201,
        ),
      ),
    )

  const before = await areIn([...cookies(), ...strangers])
  const inFlight = [...cookies(), ...strangers].map(joinAs)
  // The first response of many concurrent joins shows that the others are in progress.
  await Promise.any(inFlight)
  await edge.kill()
  const answered = (await Promise.allSettled(inFlight)).flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  await edge.restart()

  const issued = [...before, ...answered.filter(({ status }) => status === 201)]
  for (const { cookie, body } of issued) {
    const again = async () => (cookie ? (await joinAs(cookie)).body : visitors.status(body.queue_token ?? ''))
    expect(await eventually(again, ({ number }) => number !== undefined)).toMatchObject({ number: body.number })
  }
  const numbers = [...issued, ...(await areIn([...cookies(), ...strangers]))].map(({ body }) => body.number)
  expect(new Set(numbers).size).toBe(numbers.length)
})
