/**
 * Mails the waiting visitors who requested it when their turn comes. It reads the public schedule of their queue at
 * the edge, as their pages do, and calculates their positions.
 */
import * as v from 'valibot'
import { PUBLIC_LINE } from '../../shared/api/access.ts'
import { Schedule } from '../../shared/api/public.ts'
import { positionOf } from '../../shared/draw.ts'
import { calledAtMs, isDrawn, isFinal, serving } from '../../shared/schedule.ts'
import type { Sql } from '../ledger/connection.ts'
import { endTurns, place, queueNear, queueTurns, requestsWithoutPosition, waitingLines } from './mail-requests.ts'

/** The first mail is sent this long before the turn. */
const NEAR_MS = 5 * 60_000
const TIMEOUT_MS = 3_000

/**
 * Returns true if there is more to do at once. `edgeUrl` is the address of the schedules, and `perAddress` the limit
 * of mails to an address.
 */
export async function mailTurns(sql: Sql, edgeUrl: string, perAddress: number): Promise<boolean> {
  let isMore = false
  for (const waiting of await waitingLines(sql)) {
    const schedule = await scheduleOf(edgeUrl, waiting)
    if (schedule) isMore = (await mailLine(sql, waiting, schedule, perAddress)) || isMore
  }
  return isMore
}

type Waiting = Awaited<ReturnType<typeof waitingLines>>[number]

async function mailLine(sql: Sql, waiting: Waiting, schedule: Schedule, perAddress: number): Promise<boolean> {
  const nowMs = schedule.server_time_ms
  const { phase } = schedule
  if (isFinal(phase)) {
    const kind = phase === 'sold_out' ? phase : null
    return (await sql.begin((tx) => endTurns(tx, waiting, kind, perAddress))) > 0
  }
  // Before the draw nobody has a position.
  if (!isDrawn(schedule)) return false
  const { draw_seed: seed, pre_queue_size: size, draw_beacon: beacon } = schedule
  const numbers = await requestsWithoutPosition(sql, waiting)
  const placed = numbers.map(({ ask_id, number }) => ({ ask_id, position: positionOf({ seed, size, beacon }, number) }))
  if (placed.length > 0) await place(sql, placed)
  if (phase !== 'open') return false
  const [called, near] = [serving(schedule, nowMs), serving(schedule, nowMs + NEAR_MS)]
  const secondsTo = (position: number) => Math.round((calledAtMs(schedule, position) - nowMs) / 1000)
  const many = await sql.begin(
    async (tx) =>
      (await queueTurns(tx, waiting, called, perAddress)) + (await queueNear(tx, waiting, near, secondsTo, perAddress)),
  )
  return many > 0 || placed.length > 0
}

async function scheduleOf(edgeUrl: string, { saleId, line }: Waiting): Promise<Schedule | null> {
  const url = new URL(`/sales/${saleId}/schedule`, edgeUrl)
  if (line !== PUBLIC_LINE) url.searchParams.set('line', line)
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const read = response.ok ? v.safeParse(Schedule, await response.json()) : null
  return read?.success ? read.output : null
}
