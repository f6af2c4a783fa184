/** Makes the sale and the actors of an order of events from its seed. Pure. */

import { seededRandom } from '../../../shared/lib/random.ts'
import type { Chances } from '../decisions.ts'
import type { Actor, Event, Operation, Wants } from './actors.ts'
import { ACCEPTS_LATER, type Method } from './bank.ts'
import type { Round } from './members.ts'

export interface SaleTerms {
  readonly total: number
  readonly limit: number
  readonly holdSeconds: number
  readonly hasReplica: boolean
  readonly has: 'units' | 'one product' | 'codes' | 'seats'
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
    has: oneOf(['units', 'units', 'one product', 'codes', 'seats']),
  }
}

const WANTS: Readonly<Record<SaleTerms['has'], readonly Wants[]>> = {
  units: ['one', 'one', 'one', 'both'],
  'one product': ['one'],
  codes: ['one', 'with a code', 'with a code'],
  seats: ['a seat', 'a choice of seats', 'one'],
}

/** What an order of events is about: each brings those together that meet seldom by chance. */
interface Theme {
  readonly part: 'checkout' | 'payments'
  readonly buyers: number
  /** Further tabs of the same buyers. */
  readonly tabs: number
  /** The keys of those tabs; left out: most often that of the first tab. */
  readonly keys?: readonly string[]
  /** True if some buyers always come late. */
  readonly isLate?: boolean
  readonly methods: readonly (Method | null)[]
  readonly after: readonly ('leaves' | 'pays' | 'gives back')[]
  readonly rounds: readonly Round[]
  readonly works: number
  readonly operations: readonly Operation[]
  readonly events: readonly Event[]
  /** These act before all others. */
  readonly first?: readonly Actor[]
  /** These act in this order, among the others. */
  readonly plot?: readonly Actor[]
  /** True if each of a story, the buyers, the plot and then their tabs, begins once the one before has ended. */
  readonly isStory?: boolean
  /** Time passes by one of these at once. */
  readonly passes: readonly number[]
  /** The points at which a fault matters most. */
  readonly aims: readonly string[]
  /** The fault that matters at some points. */
  readonly faults?: NonNullable<Chances['faults']>
  /** True if most actors go in their turn. */
  readonly isOrdered?: boolean
  /** True if nothing fails: then gate and ledger never differ. */
  readonly isCalm?: boolean
}

/** Longer than an answer waits, and than an intent is left to its process. */
const LATE_MS = 2_100
/** Longer than a hold, and than a charge waits for its buyer. */
const OVER_MS = 11_000
const LONG_OVER_MS = 31_000
/** When a plot goes, among the turns of the others. */
const PLOT = [0.3, 2.5] as const

const RECORDS = 'records reservations in the ledger'
const CARTS = 'records carts in the ledger'
const MOVES = 'moves orders in the ledger'
const RESERVES = 'reserves at the gate'
const FENCES = 'fences the gate'
const RESTORES = 'restores orders at the gate'
const ENDS = 'ends holds at the gate'
const REBUILDS = [FENCES, RESTORES, 'opens the gate']

const happens = (what: Event): Actor => ({ does: 'happens', what })
const operates = (what: Operation, at: string): Actor => ({ does: 'operates', what, at })
const works = (round: Round, at: string): Actor => ({ does: 'works', round, at })
const passes = (ms: number): Actor => ({ does: 'waits', ms })
const buys = (name: string, key: string, at: string): Actor => ({
  ...{ does: 'buys', name, key, at, wants: 'one', units: 1, method: null, after: 'leaves', tries: 1 },
})

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
  passes: [300, LATE_MS, OVER_MS],
  aims: [RESERVES, RECORDS, CARTS, 'marks intents'],
}
const PAYMENTS: Theme = {
  ...CHECKOUT,
  part: 'payments',
  buyers: 2,
  tabs: 1,
  methods: ['ok', 'ok', 'declined', 'declined-first', '3ds', null],
  after: ['pays', 'pays', 'gives back'],
  rounds: ['runs jobs', 'runs jobs', 'begins payments', 'compares charges', 'sweeps the holds of the ledger'],
  works: 4,
  operations: ['cancels an order'],
  aims: [
    ...(['authorizes at the provider', 'captures at the provider', 'cancels at the provider'] as const),
    ...(['confirms paid orders in the ledger', 'begins payments in the ledger', 'ends jobs'] as const),
  ],
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
    passes: [LATE_MS, LATE_MS, 6_000],
  },
  // Rebuilds beside buyers and ends.
  {
    ...CHECKOUT,
    buyers: 2,
    after: ['gives back', 'leaves'],
    rounds: ['watches the gate', 'sweeps the holds of the gate', 'sweeps the holds of the ledger', 'records intents'],
    operations: ['rebuilds the gate', 'rebuilds the gate', 'restocks'],
    events: ['Redis restarts', 'Redis is emptied', 'worker 1 ends'],
    passes: [OVER_MS, OVER_MS, LATE_MS],
    aims: [...REBUILDS, RECORDS, ENDS],
  },
  // Buyers who are promised orders between the begin of a rebuild and its fence.
  {
    ...CHECKOUT,
    buyers: 1,
    tabs: 1,
    rounds: ['records intents'],
    works: 0,
    first: [operates('rebuilds the gate', 'worker 1')],
    passes: [300],
    aims: [FENCES],
    isOrdered: true,
    faults: { [FENCES]: 'held', [RECORDS]: 'failed', [CARTS]: 'failed' },
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
    passes: [LATE_MS, OVER_MS],
  },
  // The same of a ledger that is away.
  {
    ...CHECKOUT,
    buyers: 1,
    tabs: 1,
    rounds: ['watches the gate'],
    works: 1,
    first: [happens('Postgres goes away')],
    plot: [passes(LATE_MS), happens('a replica takes over')],
    passes: [LATE_MS, OVER_MS],
  },
  // The ledger refuses what the gate has taken, and units come back.
  {
    ...CHECKOUT,
    buyers: 2,
    after: ['gives back', 'gives back', 'leaves'],
    rounds: ['records intents', 'records intents', 'sweeps the holds of the ledger'],
    operations: ['takes a unit away unheard', 'takes a unit away unheard', 'restocks', 'rebuilds the gate'],
    passes: [LATE_MS, LATE_MS, OVER_MS],
    aims: [RESERVES, RECORDS, RECORDS, 'marks intents'],
  },
  // The same from the begin, while others record what waits.
  {
    ...CHECKOUT,
    buyers: 1,
    tabs: 1,
    rounds: ['records intents'],
    works: 1,
    operations: ['restocks', 'rebuilds the gate'],
    first: [happens('the ledger has a unit less')],
    plot: [operates('rebuilds the gate', 'worker 1')],
    passes: [LATE_MS],
    aims: [RECORDS],
    isOrdered: true,
    faults: { [RESERVES]: 'delayed', [RECORDS]: 'held', [CARTS]: 'held' },
  },
  // Rebuilds where nothing fails.
  {
    ...CHECKOUT,
    buyers: 2,
    tabs: 1,
    after: ['gives back', 'gives back', 'leaves'],
    rounds: ['sweeps the holds of the gate', 'sweeps the holds of the ledger', 'watches the gate'],
    operations: ['rebuilds the gate', 'rebuilds the gate', 'cancels an order', 'cancels an order'],
    passes: [OVER_MS, 300],
    aims: [...REBUILDS, RESTORES],
    isCalm: true,
  },
  // The same of an order that ends meanwhile.
  {
    ...CHECKOUT,
    buyers: 1,
    tabs: 0,
    after: ['leaves'],
    rounds: ['sweeps the holds of the ledger'],
    works: 1,
    plot: [operates('rebuilds the gate', 'worker 1'), operates('cancels an order', 'api 1')],
    passes: [300],
    aims: [RESTORES, FENCES],
    isOrdered: true,
    faults: { [RESTORES]: 'held' },
    isCalm: true,
  },
  // A key that comes again once its order has ended, the gate was rebuilt, and the ledger is away.
  {
    ...CHECKOUT,
    buyers: 1,
    tabs: 3,
    isStory: true,
    after: ['gives back', 'gives back', 'leaves'],
    rounds: ['watches the gate'],
    works: 0,
    plot: [
      ...[operates('rebuilds the gate', 'worker 1'), buys('dee', 'k1', 'api 1')],
      ...[happens('Postgres goes away'), passes(LATE_MS)],
    ],
    passes: [300],
    aims: [],
    isOrdered: true,
  },
  // A key that is answered with the order of another key, which ends before the key comes again.
  {
    ...CHECKOUT,
    buyers: 0,
    tabs: 0,
    isStory: true,
    after: ['leaves'],
    works: 0,
    plot: [buys('ann', 'k3', 'api 1'), operates('cancels an order', 'api 1'), buys('ann', 'k3', 'api 2')],
    passes: [300],
    aims: [],
    isOrdered: true,
    isCalm: true,
  },
  // A key that comes again once the sale has ended.
  {
    ...CHECKOUT,
    buyers: 0,
    isStory: true,
    works: 0,
    plot: [operates('ends the sale', 'api 1'), passes(1_100)],
    passes: [300],
    aims: ['looks up keys in the ledger'],
    isOrdered: true,
  },
  // Buyers who try to get more than they may, from a ledger alone.
  {
    ...CHECKOUT,
    buyers: 1,
    tabs: 3,
    keys: ['k1', 'k2', 'k3'],
    after: ['leaves'],
    rounds: ['records intents', 'watches the gate'],
    works: 1,
    first: [happens('Redis goes away')],
    events: ['Redis comes back', 'Redis is emptied'],
    passes: [300],
    aims: [RECORDS, 'looks up keys in the ledger', 'commits'],
  },
  // What an operator does beside buyers.
  { ...CHECKOUT, operations: ['ends the sale', 'cancels an order', 'restocks', 'takes a unit away'] },
  PAYMENTS,
  // Buyers at their bank.
  {
    ...PAYMENTS,
    methods: ['3ds', '3ds-away', '3ds-away', 'declined-first'],
    rounds: ['runs jobs', 'ends abandoned charges', 'ends abandoned charges', 'compares charges'],
    passes: [OVER_MS, LONG_OVER_MS],
  },
  // A declined charge that is authorized after all, as its hold ends.
  {
    ...PAYMENTS,
    buyers: 0,
    tabs: 0,
    isStory: true,
    methods: ['declined-first'],
    rounds: ['runs jobs'],
    works: 0,
    operations: [],
    plot: [
      passes(100),
      works('runs jobs', 'worker 1'),
      passes(OVER_MS),
      works('sweeps the holds of the ledger', 'worker 1'),
    ],
    passes: [300],
    aims: [ACCEPTS_LATER, MOVES],
    isOrdered: true,
    faults: { [ACCEPTS_LATER]: 'held long', [MOVES]: 'held' },
  },
  // Workers that end, and jobs that go to others.
  {
    ...PAYMENTS,
    methods: ['ok'],
    rounds: ['runs jobs', 'runs jobs', 'runs jobs', 'resumes what is forgotten', 'sweeps the holds of the ledger'],
    events: ['worker 1 ends', 'worker 2 ends', 'Postgres goes away', 'Postgres comes back'],
    passes: [OVER_MS, OVER_MS, 125_000],
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
      ...(['refunds a part', 'gives money back by hand'] as const),
    ],
    passes: [1_100, 1_100, 6_000, OVER_MS],
    aims: ['refunds at the provider', 'reads returns at the provider', 'ends jobs'],
    isOrdered: true,
  },
  // The same, of which the shop has not heard.
  {
    ...PAYMENTS,
    buyers: 0,
    tabs: 0,
    isStory: true,
    methods: ['ok'],
    after: ['pays'],
    rounds: ['runs jobs'],
    works: 0,
    operations: [],
    plot: [
      passes(100),
      works('runs jobs', 'worker 1'),
      passes(1_100),
      works('runs jobs', 'worker 1'),
      operates('refunds a part', 'api 1'),
      operates('gives money back by hand', 'api 1'),
      passes(1_100),
      works('runs jobs', 'worker 1'),
    ],
    passes: [1_100],
    aims: ['refunds at the provider'],
    isOrdered: true,
    faults: { 'reports a charge as captured': 'failed', 'refunds at the provider': 'lost' },
  },
  // A sale that sells out, and is asked by those who have bought, and by others.
  {
    ...PAYMENTS,
    buyers: 0,
    tabs: 3,
    isStory: true,
    methods: ['ok'],
    after: ['leaves'],
    rounds: ['runs jobs'],
    works: 0,
    operations: [],
    plot: [
      ...[passes(100), works('runs jobs', 'worker 1'), passes(1_100)],
      ...[buys('bob', 'k1', 'api 1'), buys('bob', 'k2', 'api 2')],
    ],
    passes: [1_100],
    aims: [],
    isOrdered: true,
  },
]

type PartName = Theme['part']

const themeOf = (seed: number, part: PartName) =>
  chanceOf(seed ^ 0x2345678).oneOf(THEMES.filter((one) => one.part === part))

/** The chances of its faults. */
export const chancesOf = (seed: number, part: PartName): Chances => themeOf(seed, part)

export function actorsFrom(seed: number, part: PartName): Actor[] {
  const { random, upTo, oneOf, several } = chanceOf(seed ^ 0x7654321)
  const { has } = termsFrom(seed)
  const theme = themeOf(seed, part)
  const inTurn = (actor: Actor): Actor => (theme.isStory ? { ...actor, inTurn: true } : actor)
  const buyer = (name: string): Extract<Actor, { does: 'buys' }> => ({
    does: 'buys',
    name,
    key: oneOf(['k1', 'k1', 'k2']),
    at: oneOf(['api 1', 'api 2']),
    wants: oneOf(WANTS[has]),
    units: 1 + Math.max(0, upTo(4) - 2),
    method: oneOf(theme.methods),
    after: oneOf(theme.after),
    tries: oneOf([1, 3, 3]),
  })
  const people = ['ann', 'bob', 'cid', 'dee'].slice(0, Math.max(1, theme.buyers + upTo(1))).map(buyer)
  // The same buyer in a second tab, with the same key or another one; the same key asks for the same.
  const tabs = several(theme.tabs, (): Actor => {
    const again = oneOf(people)
    return { ...again, at: oneOf(['api 1', 'api 2']), key: oneOf(theme.keys ?? [again.key, again.key, 'k3']) }
  })
  const works = Array.from({ length: 1 + upTo(theme.works) }, (): Actor => {
    return { does: 'works', round: oneOf(theme.rounds), at: oneOf(['worker 1', 'worker 2']) }
  })
  const operates = several(theme.operations.length > 0 ? 3 : 0, (): Actor => {
    return { does: 'operates', what: oneOf(theme.operations), at: oneOf(['api 1', 'worker 1', 'worker 2']) }
  })
  const happens = Array.from({ length: theme.events.length > 0 ? 1 + upTo(2) : 0 }, (): Actor => {
    return { does: 'happens', what: oneOf(theme.events) }
  })
  const waits = several(3, (): Actor => ({ does: 'waits', ms: oneOf(theme.passes) }))
  // Undisturbed, buyers come early, and workers early and late; what happens to all of them is in between.
  const TURNS = {
    buys: theme.isStory ? [0, PLOT[0]] : theme.isLate || random() < 0.5 ? [0, 2.5] : [0, 1],
    waits: [0.5, 2],
    happens: [0.5, 2],
    operates: [1, 2],
    works: [0.5, 3],
  } as const
  const turnOf = ({ does }: Actor) => TURNS[does][0] + random() * (TURNS[does][1] - TURNS[does][0])
  const { first: begins = [], plot = [] } = theme
  const turns = plot.map(() => PLOT[0] + random() * (PLOT[1] - PLOT[0])).toSorted((a, b) => a - b)
  const plotted = [
    ...begins.map((actor) => ({ actor, turn: -1 })),
    ...plot.map((actor, i) => ({ actor: inTurn(actor), turn: turns[i] ?? 0 })),
  ]
  const late = tabs.map((actor) => ({ actor: inTurn(actor), turn: theme.isStory ? PLOT[1] : turnOf(actor) }))
  return [...people.map(inTurn), ...works, ...operates, ...happens, ...waits]
    .map((actor) => ({ actor, turn: turnOf(actor) }))
    .concat(late, plotted)
    .sort((a, b) => a.turn - b.turn)
    .map(({ actor }) => actor)
}
