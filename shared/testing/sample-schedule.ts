/** A schedule for measurements and tests: of an open sale after its draw, with a stopped queue. */

import { commitmentOf } from '../draw.ts'
import { USUAL_MS } from '../next-read.ts'
import type { Schedule } from '../schedule.ts'

const SEED = 'ab'.repeat(32)

export const sampleSchedule = (changes: Partial<Schedule> = {}): Schedule => ({
  sale: 's',
  version: 1,
  phase: 'open',
  anchor_at_ms: 0,
  anchor_position: 0,
  rate_per_second: 0,
  ceiling: 0,
  missed_through: 0,
  pre_queue_size: 0,
  draw_commitment: commitmentOf(SEED),
  draw_seed: SEED,
  draw_beacon: null,
  beacon_announced: false,
  pre_queue_opens_at: '2026-11-27T11:00:00.000Z',
  opens_at: '2026-11-27T12:00:00.000Z',
  ends_at: null,
  pre_queue_opens_at_ms: 0,
  ends_at_ms: null,
  products: [],
  lasts_for_positions: null,
  announcement: null,
  feed_version: 0,
  pause_reason: null,
  next_read_ms: USUAL_MS,
  server_time_ms: 0,
  ...changes,
})
