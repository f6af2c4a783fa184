/** Makes the sale and the actors of an order of events from its seed. Pure. */

import { seededRandom } from '../../../shared/lib/random.ts'
import type { Actor, Event, Operation, Wants } from './actors.ts'
import type { Method } from './bank.ts'
import type { Round } from './members.ts'

export interface SaleTerms {
  readonly total: number
  readonly limit: number
  readonly holdSeconds: number
  readonly hasReplica: boolean
  readonly has: 'units' | 'codes' | 'seats'
}

const chanceOf = (seed: number) => {
  const random = seededRandom(seed)
  const upTo = (most: number) => Math.floor(random() * (most + 1))
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const several = <T>(most: number, make: () => T): T[] => Array.from({ length: upTo(most) }, make)
  return { random, upTo, oneOf, several }
}

export function termsFrom(seed: number): SaleTerms {
  const { upTo, oneOf, random } = chanceOf(seed ^ 0x1234567)
  return {
    total: oneOf([1, 1, 2, 3]),
    limit: 1 + upTo(2),
    holdSeconds: 10,
    hasReplica: random() < 0.4,
    has: oneOf(['units', 'units', 'codes', 'seats']),
  }
}

const WANTS: Readonly<Record<SaleTerms['has'], readonly Wants[]>> = {
  units: ['one', 'one', 'one', 'both'],
  codes: ['one', 'with a code', 'with a code'],
  seats: ['a seat', 'a choice of seats', 'one'],
}

/** What an order of events is about: each brings those together that meet seldom by chance. */
interface Theme {
  readonly part: 'checkout' | 'payments'
  readonly buyers: number
  /** Further tabs of the same buyers. */
  readonly tabs: number
  readonly methods: readonly (Method | null)[]
  readonly after: readonly ('leaves' | 'pays' | 'gives back')[]
  readonly rounds: readonly Round[]
  readonly works: number
  readonly operations: readonly Operation[]
  readonly events: readonly Event[]
  readonly waits: readonly number[]
}

/** Longer than an answer waits, and than an intent is left to its process. */
const LATE_MS = 2_100
/** Longer than a hold, and than a charge waits for its buyer. */
const OVER_MS = 11_000
const LONG_OVER_MS = 31_000

const CHECKOUT: Theme = {
  part: 'checkout',
  buyers: 3,
  tabs: 2,
  methods: [null],
  after: ['leaves', 'leaves', 'gives back'],
  rounds: ['records intents', 'sweeps the holds of the gate', 'sweeps the holds of the ledger', 'reconciles'],
  works: 3,
  operations: [],
  events: [],
  waits: [300, LATE_MS, OVER_MS],
}
const PAYMENTS: Theme = {
  ...CHECKOUT,
  part: 'payments',
  buyers: 2,
  tabs: 1,
  methods: ['ok', 'ok', 'declined', '3ds', null],
  after: ['pays', 'pays', 'gives back'],
  rounds: ['runs jobs', 'runs jobs', 'begins payments', 'compares charges', 'sweeps the holds of the ledger'],
  works: 4,
  operations: ['cancels an order'],
}

const THEMES: readonly Theme[] = [
  CHECKOUT,
  // A ledger that is slow or away: promises, and who records them.
  {
    ...CHECKOUT,
    buyers: 2,
    tabs: 3,
    rounds: ['records intents', 'records intents', 'watches the gate'],
    operations: ['takes a unit away', 'takes a unit away', 'rebuilds the gate'],
    events: ['Postgres goes away', 'Postgres comes back', 'api 1 ends'],
    waits: [LATE_MS, LATE_MS, 6_000],
  },
  // Rebuilds beside buyers and ends.
  {
    ...CHECKOUT,
    buyers: 2,
    after: ['gives back', 'leaves'],
    rounds: ['watches the gate', 'sweeps the holds of the gate', 'sweeps the holds of the ledger', 'records intents'],
    operations: ['rebuilds the gate', 'rebuilds the gate', 'restocks'],
    events: ['Redis restarts', 'Redis is emptied', 'worker 1 ends'],
    waits: [OVER_MS, OVER_MS, LATE_MS],
  },
  // A Redis that loses what it had.
  {
    ...CHECKOUT,
    tabs: 3,
    rounds: ['watches the gate', 'watches the gate', 'records intents'],
    events: [
      ...(['the moment is kept', 'Redis is put back', 'a replica takes over', 'Redis is emptied'] as const),
      ...(['Redis goes away', 'Redis comes back'] as const),
    ],
    waits: [LATE_MS, OVER_MS],
  },
  // The same of a ledger that is away.
  {
    ...CHECKOUT,
    buyers: 2,
    tabs: 2,
    rounds: ['records intents', 'watches the gate'],
    events: ['Postgres goes away', 'Postgres goes away', 'a replica takes over', 'Redis restarts'],
    waits: [LATE_MS, LATE_MS, OVER_MS],
  },
  // What an operator does beside buyers.
  { ...CHECKOUT, operations: ['ends the sale', 'cancels an order', 'restocks', 'takes a unit away'] },
  PAYMENTS,
  // Buyers at their bank.
  {
    ...PAYMENTS,
    methods: ['3ds', '3ds-away', '3ds-away'],
    rounds: ['runs jobs', 'ends abandoned charges', 'ends abandoned charges', 'compares charges'],
    waits: [OVER_MS, LONG_OVER_MS],
  },
  // Workers that end, and jobs that go to others.
  {
    ...PAYMENTS,
    methods: ['ok'],
    rounds: ['runs jobs', 'runs jobs', 'runs jobs', 'resumes what is forgotten', 'sweeps the holds of the ledger'],
    events: ['worker 1 ends', 'worker 2 ends', 'Postgres goes away', 'Postgres comes back'],
    waits: [OVER_MS, OVER_MS, 125_000],
  },
  // Money that goes back.
  {
    ...PAYMENTS,
    buyers: 1,
    methods: ['ok'],
    rounds: ['runs jobs', 'runs jobs', 'runs jobs', 'compares charges'],
    works: 6,
    operations: [
      ...(['refunds an order', 'refunds an order with its units', 'refunds a part', 'cancels an order'] as const),
      ...(['puts refunded units on sale', 'puts refunded units on sale', 'hands an order over'] as const),
    ],
    waits: [1_100, 1_100, 6_000],
  },
]

export function actorsFrom(seed: number, part: 'checkout' | 'payments'): Actor[] {
  const { random, upTo, oneOf, several } = chanceOf(seed ^ 0x7654321)
  const { has } = termsFrom(seed)
  const theme = oneOf(THEMES.filter((one) => one.part === part))
  const buyer = (name: string): Extract<Actor, { does: 'buys' }> => ({
    does: 'buys',
    name,
    key: oneOf(['k1', 'k1', 'k2']),
    at: oneOf(['api 1', 'api 2']),
    wants: oneOf(WANTS[has]),
    units: 1 + Math.max(0, upTo(4) - 2),
    method: oneOf(theme.methods),
    after: oneOf(theme.after),
  })
  const first = ['ann', 'bob', 'cid', 'dee'].slice(0, theme.buyers + upTo(1)).map(buyer)
  // The same buyer in a second tab, with the same key or another one; the same key asks for the same.
  const tabs = several(theme.tabs, (): Actor => {
    const again = oneOf(first)
    return { ...again, at: oneOf(['api 1', 'api 2']), key: oneOf([again.key, again.key, 'k3']) }
  })
  const works = Array.from({ length: 1 + upTo(theme.works) }, (): Actor => {
    return { does: 'works', round: oneOf(theme.rounds), at: oneOf(['worker 1', 'worker 2']) }
  })
  const operates = several(theme.operations.length > 0 ? 2 : 0, (): Actor => {
    return { does: 'operates', what: oneOf(theme.operations), at: oneOf(['api 1', 'worker 1', 'worker 2']) }
  })
  const happens = several(
    theme.events.length > 0 ? 3 : 0,
    (): Actor => ({ does: 'happens', what: oneOf(theme.events) }),
  )
  const waits = several(3, (): Actor => ({ does: 'waits', ms: oneOf(theme.waits) }))
  // Undisturbed, buyers come early, and workers early and late; what happens to all of them is in between.
  const TURNS = { buys: [0, 1], waits: [0.5, 2], happens: [0.5, 2], operates: [1, 2], works: [0.5, 3] } as const
  const turnOf = ({ does }: Actor) => TURNS[does][0] + random() * (TURNS[does][1] - TURNS[does][0])
  return [...first, ...tabs, ...works, ...operates, ...happens, ...waits]
    .map((actor) => ({ actor, turn: turnOf(actor) }))
    .sort((a, b) => a.turn - b.turn)
    .map(({ actor }) => actor)
}
