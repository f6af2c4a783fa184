/** Which views count: each rule by itself, and what must hold for every log. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ViewRule } from '../../shared/api/operators/views.ts'
import type { ViewEvent } from '../../shared/api/views/view-events.ts'
import { addressHash, dayKey, networkOf } from '../../shared/api/views/view-identity.ts'
import { type CountState, type Decision, decide, newState } from './count.ts'
import { compile } from './rules.ts'
import { newKeys, Tally } from './tally.ts'
import { viewOf } from './testing.ts'

const TOKEN = 'the token of the edge'
const NOON = Date.parse('2026-11-28T12:00:00Z')
const SECOND = 1_000

const rules = (...given: ({ kind: ViewRule['kind'] } & Record<string, unknown>)[]) =>
  compile(
    given.map((rule) => ({ rule: rule.kind, on: true, note: '', ...rule }) as ViewRule),
    TOKEN,
  )

function play(given: ReturnType<typeof rules>, log: readonly ViewEvent[], state: CountState = newState()): Decision[] {
  return log.flatMap((event) => decide(state, given, event))
}
/** `counted`, or the rule that dropped it, of each view in the end. */
function ends(decisions: readonly Decision[]): string[] {
  const by = new Map<string, string>()
  for (const one of decisions)
    if (one.kind === 'counted' || one.kind === 'dropped')
      by.set(one.view.view, one.kind === 'counted' ? 'counted' : one.rule)
  return [...by.values()]
}
const at = (seconds: number, changes: Partial<ViewEvent> = {}) => viewOf({ at_ms: NOON + seconds * SECOND, ...changes })
const heartbeat = (event: ViewEvent, seen: number, after = seen) => ({
  ...event,
  seen_seconds: seen,
  at_ms: event.at_ms + after * SECOND,
})

test('a view counts once, and its heartbeats add seconds', () => {
  const view = at(0)
  const decisions = play(rules(), [view, heartbeat(view, 15), heartbeat(view, 15), heartbeat(view, 31)])
  expect(decisions).toMatchObject([
    { kind: 'counted' },
    { kind: 'seen', seconds: 15 },
    { kind: 'seen', seconds: 16, atMs: NOON + 31 * SECOND },
  ])
})

test('a view whose first beacon was lost counts by its next; one that began elsewhere does not count again', () => {
  expect(play(rules(), [heartbeat(at(0), 15)])).toMatchObject([{ kind: 'counted' }, { kind: 'seen', seconds: 15 }])
  expect(play(rules(), [heartbeat(at(0), 600)])).toEqual([])
})

test('bots, networks of data centres, and named networks are dropped by the first rule that drops them', () => {
  const given = rules({ kind: 'bots' }, { kind: 'data_centres' }, { kind: 'networks', asns: [64500] })
  const log = [at(0), at(0, { device: 'bot', asn: 16509 }), at(0, { asn: 16509 }), at(0, { asn: 64500 })]
  expect(ends(play(given, log))).toEqual(['counted', 'bots', 'data_centres', 'networks'])
})

test('a repeat within some minutes is dropped: of the same page, sale and visitor', () => {
  const ann = at(0, { pseudonym: 'a'.repeat(16) })
  const again = (seconds: number, changes = {}) => ({ ...at(seconds), pseudonym: ann.pseudonym, ...changes })
  const log = [ann, again(60), again(61, { page: 'line' }), again(62, { sale: 'other' }), at(63), again(600)]
  const verdicts = ['counted', 'repeat', 'counted', 'counted', 'counted', 'counted']
  expect(ends(play(rules({ kind: 'repeat', minutes: 5 }), log))).toEqual(verdicts)
})

test('views beyond a rate are dropped, by visitor or by address', () => {
  const by = (per: string) => rules({ kind: 'rate', views: 2, minutes: 1, per })
  const address = 'b'.repeat(16)
  const log = [0, 1, 2, 3].map((seconds) => at(seconds, { address }))
  expect(ends(play(by('address'), log))).toEqual(['counted', 'counted', 'rate', 'rate'])
  expect(ends(play(by('pseudonym'), log))).toEqual(['counted', 'counted', 'counted', 'counted'])
  expect(ends(play(by('address'), [...log, at(120, { address })])).at(-1)).toBe('counted')
})

test('staff are known by an address, which the log has as a hash, or by a network', () => {
  const from = (address: string) =>
    at(0, { address: addressHash(dayKey(TOKEN, NOON), address), network: networkOf(address) })
  const given = rules({ kind: 'staff', addresses: ['198.51.100.7', '2001:db8::/32', '203.0.0.0/16'] })
  const addresses = ['198.51.100.7', '198.51.100.8', '2001:db8:5::1', '2001:db9::1', '203.0.113.9', '203.1.1.1']
  const log = addresses.map(from)
  expect(ends(play(given, log))).toEqual(['staff', 'counted', 'staff', 'counted', 'staff', 'counted'])
})

test('a view that is seen too short counts once it is seen long enough, by the rules after that one', () => {
  const given = rules({ kind: 'min_seconds', seconds: 20 }, { kind: 'repeat', minutes: 5 })
  const view = at(0, { pseudonym: 'c'.repeat(16) })
  const again = at(30, { pseudonym: view.pseudonym })
  const log = [view, heartbeat(view, 15), heartbeat(view, 30), again, heartbeat(again, 30)]
  const kinds = play(given, log).map((one) => `${one.kind} ${'rule' in one ? one.rule : ''}`.trim())
  expect(kinds).toEqual([
    ...['dropped min_seconds', 'undropped min_seconds', 'counted', 'seen'],
    ...['dropped min_seconds', 'undropped min_seconds', 'dropped repeat'],
  ])
  const late = at(0)
  expect(ends(play(given, [late, heartbeat(late, 25, 1_900)]))).toEqual(['min_seconds'])
})

// -- Every log ------------------------------------------------------------------------------------------------------

const ALL = rules(
  { kind: 'bots' },
  { kind: 'min_seconds', seconds: 10 },
  { kind: 'rate', views: 3, minutes: 2, per: 'address' },
  { kind: 'repeat', minutes: 4 },
)
/** Logs of few visitors, views and addresses, so that rules meet. */
const Log = fc
  .array(
    fc.record({
      view: fc.nat(12),
      who: fc.nat(3),
      page: fc.constantFrom('sale', 'line'),
      seen: fc.nat(40),
      gap: fc.nat(90),
      device: fc.constantFrom('phone', 'phone', 'bot'),
    }),
    { maxLength: 60 },
  )
  .map((steps) => {
    let seconds = 0
    return steps.map(({ view, who, page, seen, gap, device }) => {
      seconds += gap
      return at(seconds, {
        view: `view-${view}`,
        page: page as 'sale' | 'line',
        seen_seconds: seen,
        pseudonym: `visitor-${who}`,
        address: `address-${who % 2}`,
        device: device as 'phone' | 'bot',
      })
    })
  })

function rowsOf(decisions: readonly Decision[]) {
  const tally = new Tally(newKeys())
  for (const one of decisions) tally.add(one)
  return tally.rows
}

test('replaying a log gives the same counts, however it is cut into pages', () => {
  fc.assert(
    fc.property(Log, fc.nat(60), (log, cut) => {
      const state = newState()
      const inPages = [...play(ALL, log.slice(0, cut), state), ...play(ALL, log.slice(cut), state)]
      expect(rowsOf(inPages)).toEqual(rowsOf(play(ALL, log)))
    }),
  )
})

test('every view is counted once or dropped once, and no row is below zero', () => {
  fc.assert(
    fc.property(Log, (log) => {
      const rows = rowsOf(play(ALL, log))
      for (const row of rows) expect(Math.min(row.counted, row.dropped, row.seconds)).toBeGreaterThanOrEqual(0)
      const sum = (by: string) =>
        rows.filter((row) => row.by === by).reduce((all, { counted, dropped }) => all + counted + dropped, 0)
      const begun = new Set(log.filter(({ view }, i) => begins(log, view, i)).map(({ view }) => view))
      for (const by of ['total', 'page', 'source', 'device', 'network']) expect(sum(by)).toBe(begun.size)
    }),
  )
})

/** True if the view is not known before, and this is no heartbeat of one that began elsewhere. */
const begins = (log: readonly ViewEvent[], view: string, at: number) =>
  (log[at]?.seen_seconds ?? 0) <= 30 && !log.slice(0, at).some((one) => one.view === view && one.seen_seconds <= 30)

test('the rules count alike from a later start, if it is early enough for them', () => {
  fc.assert(
    fc.property(Log, (log) => {
      // Views that began before the start are heartbeats of unknown views for a reader that starts there.
      const begin = NOON + 10 * 60 * SECOND
      const whole = play(
        ALL,
        log.map((event, i) => ({ ...event, view: `${event.view}/${i}`, seen_seconds: 0 })),
      )
      const warm = log
        .map((event, i) => ({ ...event, view: `${event.view}/${i}`, seen_seconds: 0 }))
        .filter(({ at_ms }) => at_ms >= begin - 5 * 60 * SECOND)
      const since = (decisions: Decision[]) => decisions.filter(({ view }) => view.at_ms >= begin)
      expect(since(play(ALL, warm))).toEqual(since(whole))
    }),
  )
})
