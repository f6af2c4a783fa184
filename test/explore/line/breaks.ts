/**
 * Breaks of the line's protocol, each a change of the product's text. The explorer must find every one of them; they
 * were written down before it was tried on any.
 */
import type { TextChange } from './machine.ts'

const LEASE = 'edge/queue/numbers/lease.ts'
const ROOM = 'edge/queue/waiting-room.ts'
const SHARD = 'edge/queue/numbers/ticket-shard.ts'

export const BREAKS: Readonly<Record<string, TextChange>> = {
  'a lease is used after its end': {
    file: LEASE,
    from: 'export const LEASE_MS = 250',
    to: 'export const LEASE_MS = 2_000',
  },
  'the next number is only in memory': {
    file: ROOM,
    from: "this.ctx.storage.kv.put('next', next)",
    to: '',
  },
  'a known visitor is written after the answer': {
    file: SHARD,
    from: 'this.ctx.storage.sql.exec(\n      `insert into visitors',
    to: 'const late = (...values: [string, ...never[]]) => void setTimeout(() => this.ctx.storage.sql.exec(...values), 5)\n    late(\n      `insert into visitors',
  },
  'an unused range comes back after others were granted': {
    file: LEASE,
    from: 'isEndOfLease && next === last + 1 ? first : next',
    to: 'isEndOfLease ? first : next',
  },
  'a number of the closed pre-queue is granted again': {
    file: ROOM,
    from: 'Math.max(this.#grants.takeBack(range, this.#next), fixed + FIRST_NUMBER)',
    to: 'this.#grants.takeBack(range, this.#next)',
  },
  'an isolate goes on after the end of what it knows': {
    file: 'edge/queue/room-clock.ts',
    from: 'Math.min(Math.max(roomMs(known, nowMs), stampedMs), certainUntilMs)',
    to: 'Math.max(roomMs(known, nowMs), stampedMs)',
  },
  'a change holds at once': {
    file: 'edge/queue/timeline.ts',
    from: '(isStanding && isFinal(phase) ? 0 : ANNOUNCE_MS)',
    to: '0',
  },
  'an older answer takes the place of a newer copy': {
    file: 'edge/queue/room-clock.ts',
    from: '(version < known.version || (version === known.version && at_ms < known.stampedMs))',
    to: '(version < 0)',
  },
  'those who are called and have not come do not count': {
    file: 'edge/queue/pace/controller.ts',
    from: '(units - settings.admissionsPerUnit * coming_units)',
    to: 'units',
  },
  'a line that a ceiling held back leaps ahead': {
    file: 'edge/queue/pace/controller.ts',
    from: 'rate === previous.rate_per_second && wasHeld === isHeld',
    to: 'rate === previous.rate_per_second',
  },
  'a turn passes before its time': {
    file: 'edge/queue/pace/memory.ts',
    from: 'sampleUntil(memory, memory.open_ms - claimSeconds * 1000)',
    to: 'sampleUntil(memory, memory.open_ms - claimSeconds * 500)',
  },
  'a shard that was refused a lease once asks no more': {
    file: SHARD,
    from: 'this.#leaseOnce(queue).finally(() => {\n        this.#leasing = null\n      })',
    to: 'this.#leaseOnce(queue).then((leased) => {\n        this.#leasing = null\n        return leased\n      })',
  },
  'each instance of the room makes a seed': {
    file: ROOM,
    from: 'this.#sale = stored ?? null',
    to: 'this.#sale = stored ? { ...stored, seed: freshSeed() } : null',
  },
}
