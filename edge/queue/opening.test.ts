/** The opening, as the waiting room brings it about: with shards that are awake, and the beacon that was announced. */
import { runInDurableObject } from 'cloudflare:test'
import { expect, it, vi } from 'vitest'
import type { Schedule } from '../../shared/schedule.ts'
import type { Env } from '../http/config.ts'
import { stopClock } from '../testing/clocks.ts'
import { edgeEnv, requestsTo, stub } from '../testing/origin.ts'
import { TestSale } from '../testing/visitors.ts'
import { LAPSE_MS } from './numbers/lease.ts'
import { BEACON_WITHIN_MS, roundAfter } from './sale-record.ts'
import { WaitingRoom } from './waiting-room.ts'

/** Runs a sale's waiting room with settings of its own. */
function inRoom(sale: TestSale, changed: object, act: (room: WaitingRoom, state: DurableObjectState) => Promise<void>) {
  const env = { ...edgeEnv, ...changed } as Env
  return runInDurableObject(sale.room, (_, state) => act(new WaitingRoom(state, env), state))
}

/** The schedule announced last, after a refresh. */
async function announced(room: WaitingRoom, sale: TestSale): Promise<Schedule> {
  // On a busy machine the first request to the origin may be too late.
  let response = await room.refresh(sale.name)
  for (; !response.known; response = await room.refresh(sale.name)) await scheduler.wait(20)
  const schedule = response.snapshot.timeline.at(-1)?.schedule
  if (!schedule) throw new Error('nothing is announced')
  return schedule
}

const RANDOMNESS = 'ab'.repeat(32)
const beacon = (sale: TestSale) => ({ DRAW_BEACON_URL: `${edgeEnv.ORIGIN_URL}/rounds/${sale.name}/{round}` })

/** Opens a sale with ten in the lobby; returns the path of its beacon. */
async function opened(room: WaitingRoom, sale: TestSale): Promise<string> {
  const { opens_at } = await announced(room, sale)
  await room.lease({ queue: sale.name, count: 10 })
  stopClock()
  vi.setSystemTime(Date.parse(opens_at) + 20)
  await sale.publish()
  const { anchor_at_ms: openedAtMs } = await announced(room, sale)
  return `/rounds/${sale.name}/${roundAfter(openedAtMs)}`
}

it('waits at the opening for the beacon’s next round, and mixes it into the draw', async () => {
  const sale = await new TestSale(30_000).publish()
  await inRoom(sale, beacon(sale), async (room) => {
    const path = await opened(room, sale)
    expect(await announced(room, sale)).toMatchObject({ phase: 'pre_queue', draw_seed: null, beacon_announced: true })
    expect((await requestsTo(path)).calls).toBe(1)
    await stub(path, 200, { round: 1, randomness: RANDOMNESS })
    const drawn = await announced(room, sale)
    expect(drawn).toMatchObject({ phase: 'open', pre_queue_size: 10, draw_beacon: RANDOMNESS })
    expect(drawn.draw_seed).toMatch(/^[0-9a-f]{64}$/)
  })
})

it('goes without a beacon that is late, and does not draw again when it comes', async () => {
  const sale = await new TestSale(30_000).publish()
  await inRoom(sale, beacon(sale), async (room) => {
    const path = await opened(room, sale)
    const closedAtMs = Date.now()
    const announcedAt = async (ms: number) => {
      vi.setSystemTime(closedAtMs + ms)
      await sale.publish()
      return announced(room, sale)
    }
    expect((await announcedAt(BEACON_WITHIN_MS - 1_000)).draw_seed).toBeNull()
    const drawn = await announcedAt(BEACON_WITHIN_MS)
    expect(drawn).toMatchObject({
      phase: 'open',
      draw_seed: expect.any(String),
      draw_beacon: null,
      beacon_announced: true,
    })
    await stub(path, 200, { round: 1, randomness: RANDOMNESS })
    const { calls } = await requestsTo(path)
    expect((await announcedAt(BEACON_WITHIN_MS + 1_000)).draw_beacon).toBeNull()
    expect((await requestsTo(path)).calls).toBe(calls)
  })
})

it('starts every ticket shard in the minute before the opening, and none long before', async () => {
  const started = async (opensInMs: number) => {
    const sale = await new TestSale(opensInMs).publish()
    const names: string[] = []
    const getByName = (name: string) => {
      names.push(name)
      return { poll: async () => ({ known: false, reason: 'unavailable' }) }
    }
    let alarmInMs = 0
    await inRoom(sale, { TICKET_SHARDS: '20', TICKET_SHARD: { getByName } }, async (room, state) => {
      await announced(room, sale)
      alarmInMs = ((await state.storage.getAlarm()) ?? Number.NaN) - Date.now()
      for (let alarm = 0; alarm < 3; alarm++) await room.alarm()
    })
    return { alarmInMs, shards: names.map((name) => name.replace(`${sale.name}/`, '')) }
  }
  expect((await started(50_000)).shards).toEqual([...Array(20).keys(), ...Array(16).keys()].map(String))
  const early = await started(90_000)
  expect(early.shards).toEqual([])
  // It refreshes when that minute begins.
  expect(early.alarmInMs).toBeLessThanOrEqual(30_000)
})

it('leases numbers of the pre-queue only until the opening', async () => {
  stopClock()
  for (const [opensInMs, lapses_in_ms] of [
    [LAPSE_MS + 100, LAPSE_MS],
    [100, 100],
    [-100, null],
  ] as const) {
    const sale = await new TestSale(opensInMs).publish()
    await inRoom(sale, {}, async (room) => {
      const leased = await room.lease({ queue: sale.name, count: 1 })
      expect(leased).toMatchObject({ granted: true, lease: { lapses_in_ms } })
    })
  }
})

it.each([
  ['before the pre-queue opens', 60_000, { pre_queue_opens_in_ms: 30_000 }],
  ['once all is sold', -1_000, { phase: 'sold_out' }],
  ['after the end', -1_000, { phase: 'ended' }],
] as const)('leases no number %s', async (_, opensInMs, state) => {
  const sale = await new TestSale(opensInMs).publish(state)
  await inRoom(sale, {}, async (room) => {
    const { phase } = await announced(room, sale)
    expect(phase).toBe('phase' in state ? state.phase : 'upcoming')
    expect(await room.lease({ queue: sale.name, count: 1 })).toEqual({ granted: false })
  })
})

it('never reuses a number of the closed pre-queue that comes back unused', async () => {
  stopClock()
  const sale = await new TestSale(100).publish()
  await inRoom(sale, {}, async (room) => {
    const leased = await room.lease({ queue: sale.name, count: 10 })
    if (!leased.granted) throw new Error('no lease')
    vi.setSystemTime(Date.now() + 100)
    await sale.publish()
    expect(await announced(room, sale)).toMatchObject({ phase: 'open', pre_queue_size: 10 })
    const { id = 0 } = leased.lease
    await room.takeBack({ lease: id, first: 5, count: 6 })
    expect(await room.lease({ queue: sale.name, count: 1 })).toMatchObject({ lease: { first: 11 } })
  })
})
