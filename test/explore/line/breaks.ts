/**
 * Breaks of the line's protocol, each a change of the product's text. The explorer must find every one of them; they
 * were written down before it was tried on any.
 */
import type { Break } from '../breaks.ts'

const LEASE = 'edge/queue/numbers/lease.ts'
const ROOM = 'edge/queue/waiting-room.ts'
const SHARD = 'edge/queue/numbers/ticket-shard.ts'

export const BREAKS: Readonly<Record<string, Break>> = {
  'a lease is used after its end': {
    file: LEASE,
    from: 'export const LEASE_MS = 250',
    to: 'export const LEASE_MS = 2_000',
    part: 'line',
  },
  'the next number is only in memory': {
    file: ROOM,
    from: "this.ctx.storage.kv.put('next', next)",
    to: '',
    part: 'line',
  },
  'a known visitor is written after the answer': {
    file: SHARD,
    from: 'this.ctx.storage.sql.exec(\n      `insert into visitors',
    to: 'const late = (...values: [string, ...never[]]) => void setTimeout(() => this.ctx.storage.sql.exec(...values), 5)\n    late(\n      `insert into visitors',
    part: 'line',
  },
  'an unused range comes back after others were granted': {
    file: LEASE,
    from: 'isEndOfLease && next === last + 1 ? first : next',
    to: 'isEndOfLease ? first : next',
    part: 'line',
  },
  'a number of the closed pre-queue is granted again': {
    file: ROOM,
    from: 'Math.max(this.#grants.takeBack(range, this.#next), fixed + FIRST_NUMBER)',
    to: 'this.#grants.takeBack(range, this.#next)',
    part: 'line',
  },
  'an isolate goes on after the end of what it knows': {
    file: 'edge/queue/room-clock.ts',
    from: 'Math.min(Math.max(roomMs(known, nowMs), stampedMs), certainUntilMs)',
    to: 'Math.max(roomMs(known, nowMs), stampedMs)',
    part: 'line',
  },
  'a change holds at once': {
    file: 'edge/queue/timeline.ts',
    from: '(isStanding && isFinal(phase) ? 0 : ANNOUNCE_MS)',
    to: '0',
    part: 'line',
  },
  'an older answer takes the place of a newer copy': {
    file: 'edge/queue/room-clock.ts',
    from: '(version < known.version || (version === known.version && at_ms < known.stampedMs))',
    to: '(version < 0)',
    part: 'line',
  },
  'those who are called and have not come do not count': {
    file: 'edge/queue/pace/controller.ts',
    from: '(units - settings.admissionsPerUnit * coming_units)',
    to: 'units',
    part: 'line',
  },
  'a line that a ceiling held back leaps ahead': {
    file: 'edge/queue/pace/controller.ts',
    from: 'rate === previous.rate_per_second && wasHeld === isHeld',
    to: 'rate === previous.rate_per_second',
    part: 'line',
  },
  'a turn passes before its time': {
    file: 'edge/queue/pace/memory.ts',
    from: 'sampleUntil(memory, memory.open_ms - claimSeconds * 1000)',
    to: 'sampleUntil(memory, memory.open_ms - claimSeconds * 500)',
    part: 'line',
  },
  'a shard that was refused a lease once asks no more': {
    file: SHARD,
    from: 'this.#leaseOnce(queue).finally(() => {\n        this.#leasing = null\n      })',
    to: 'this.#leaseOnce(queue).then((leased) => {\n        this.#leasing = null\n        return leased\n      })',
    part: 'line',
  },
  'each instance of the room makes a seed': {
    file: ROOM,
    from: 'this.#sale = stored ?? null',
    to: 'this.#sale = stored ? { ...stored, seed: freshSeed() } : null',
    part: 'line',
  },
}
