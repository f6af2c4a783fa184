/** Parses the options of a rehearsal. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hallOf, unitsOf } from '../../dev/demo/hall.ts'
import { numberOf, optionsOf, UsageError, wholeOf } from '../../dev/lib/command.ts'
import { ADMIN_TOKEN_FILE } from '../../dev/lib/data-folder.ts'
import { previousCommit } from '../../dev/release/commit.ts'
import { MAX_DIFFICULTY } from '../../shared/api/access.ts'
import { ATTACKS, type Attack } from '../attacks/attacks.ts'
import { SHAPES } from '../crowd/visitors/arrivals.ts'
import { IDENTITIES } from '../crowd/visitors/identities.ts'
import { NOBODY } from '../crowd/visitors/visitors.ts'
import { FAULTS, type Fault } from './faults/faults.ts'

/** The time for which a turn may be claimed at an edge with default settings. */
export const CLAIM_SECONDS = 180

export const HELP = `Runs a whole sale with a crowd of real HTTP clients, and judges it.

  npm run rehearse -- [options]

The crowd
  --visitors N         how many come (2000; with --faults 40 a second)
  --arrivals SHAPE     spike: a rush at the opening, a quarter of them just before it (the default)
                       ramp: evenly, from the opening on (with --faults)
                       early: nine in ten wait in the lobby     bots: a spike in which one in ten is a bot
                       late: in the last tenth of the spread, when attackers have been there since the opening
  --spread SECONDS     over how long they come (visitors / 800, at least 2)
  --declines SHARE     of buyers whose card is declined (0.05), some of them for lack of funds: six in ten then pay with
                       another one, two try the same one until the last attempt, two leave
  --banks SHARE        of buyers whose bank asks them first, by 3-D Secure (0.06; 0 on a running system): six in ten
                       approve it, two are declined there, two never come back
  --timeouts SHARE     of buyers whose payment never gets a response (0.01)
  --provider-rate N    calls a second that the provider takes, and turns away more (no limit; only with its own system)
  --abandon SHARE      of buyers who walk away from their cart (0.1)
  --refunds SHARE      of confirmed orders that an operator refunds, whole or in part (0.05; with --faults 0.2, and
                       cancels, or puts back for sale)
  --no-shows SHARE     of visitors who do not come when they are called (0)
  --pollers SHARE      of visitors whose client has no script, and polls the status (0.02), every other one by the
                       client that other teams install
  --known SHARE        of visitors who bring a cookie (0.02)
  --front SHARE        of visitors who come by the shop front, search, and read the sale's posts while they wait
                       (0.1; 0 is for an edge before another site, which has no front)
  --bots SHARE         of visitors who are bots (0; 0.1 with --arrivals bots)
  --identities WHO     what visitors have: cookies (the default), invitations, or accounts of the shop, which the sale
                       then asks for (only with its own system)
  --viewers N          people whose pages say that they are seen, a quarter as many bots by agent, network and dwell,
                       and one that comes 2,000 times: the verdict says how well the rules tell them apart (a tenth of
                       the visitors, at most 400; only with its own system, without --faults and --limits)
  --think SECONDS      from one click to the next, on average (0.5)
  --seed N             repeats a crowd, and its faults (a new one each time)

The sale
  --stock N            units (100; with --faults half the visitors; with failover enough for all of them)
  --seats N            sells a hall of so many seats and a standing section instead of units: to couples, families,
                       lovers of the front row, and people who click on the map (a running system: DATABASE_URL)
  --goods              sells a drop instead of units: eight sizes, shipping to three countries, and a code that three in
                       ten bring along (the verdict adds up each sum; a running system: DATABASE_URL)
  --code-uses N        how often that code may be used (a tenth of the stock)
  --rate N             admissions per second (200)
  --hold SECONDS       how long a cart is held (12; 60 from 50,000 visitors on; 4 with --faults)
  --unpaid N           unpaid orders from which on visitors count alike; those with fewer come first (3)
  --claim SECONDS      how long a turn may be claimed (20; 60 likewise; only with its own system)
  --shards N           ticket shards (1; only with its own system)
  --cdn                a real HTTP cache (Varnish) before the edge (only with its own system)

  --proof WHAT         the proof of work the sale asks for: off (the default), auto or a difficulty; the time it takes a
                       phone, or an attacker's server, is waited for (only with its own system)

Attackers
  --bots LIST          which: ${ATTACKS.join(',')}
  --limits             the edge limits calls as in production; visitors come from as many networks (its own system)
  --bot-count N        bots of each attack (a third of the visitors)
  --bot-networks N     networks that each attack comes from, half of them /24, half /48 (4)
  --bot-identities N   invitations or accounts that each attack has (1)

Faults, on its own system
  --faults LIST        kills these in turn under load: redis,postgres,api,worker; Redis sometimes loses its data.
                       network: between every two parts in turn, for seconds each, the network cuts, swallows, forgets,
                       resets in the middle of a reply, or delays by 300 ms
                       deploy (alone): begins with the code of another commit, puts this one into service, api, worker
                       and edge in turn, starts an old process last, and rolls back
                       failover (alone): two Redis behind one address swap their roles every 12 seconds, and no
                       connection is closed
  --from COMMIT        the other commit of deploy (that of the release before this one, which docs/CHANGELOG.md names;
                       before the first release HEAD)
  --minutes N          how long visitors come and faults are played (2)

Before another site, on its own system
  --protect            clients without cookies come to a site that the waiting room protects, leave it and come back:
                       judges who is let in, while the site is fast and slow, in four minutes
                       (4000 visitors and a rate of 50, unless --visitors and --rate say otherwise)

How many may come, on its own system
  --capacity           raises the arrivals until a p99 of joins, turns or checkouts is too long: prints the last rate
                       before it, and which program was the limit; all who come are called, and find a unit
  --from N             arrivals a second of the first step (50)
  --most N             of the last one (5000)
  --step SECONDS       how long each lasts (12)
  --target MS          what p99 must stay below (500)

What of all waits is the crowd's own
  --stand-in           plays the crowd against a stand-in that answers at once, and judges nothing: prints latencies and
                       what each program used (with --cdn behind the cache); --rate is best the one that the system
                       reached

The run
  --edge URL --origin URL [--admin-token T]    uses a running system (the token also from ADMIN_TOKEN); with DATABASE_URL
                       and REDIS_URL, payments and stores are judged too
  --data FOLDER        of an npm start on this machine, which has the token (./.data, or FLASH_SALE_DATA)
  --max-minutes N      an end in any case (15, or 5 more than all need to come and a cart is held)
  --out FOLDER         for report.html and report.json, capacity.json, or stand-in.json (bench/results)
  --help               this text

Exit status: 0 good, 1 not good, 2 it could not run, 130 interrupted.`

/**
 * The number of visitors per second, each with two pages and a join, that two cores sustain in addition to the
 * servers under test.
 */
const VISITORS_PER_SECOND = 800
const VIEWERS_PER_VISITOR = 0.1
const MOST_VIEWERS = 400
const FAULT_VISITORS_PER_SECOND = 40
/** The rush of this many called visitors takes a core half a minute, and carts must last longer than that. */
const LONG_FROM = 50_000
const MAX_VISITORS = 5_000_000
/** This many visitors per seat sell a hall out: each wants two to three units, and some leave without. */
const VISITORS_PER_SEAT = 0.6
const MAX_SEATS = 1_000_000
const MAX_SPREAD_SECONDS = 7_200
/** The units that a visitor of a rehearsal with faults wants at most. */
const MOST_UNITS = 2
const USUAL_MINUTES = 15
const MARGIN_MINUTES = 5

/** The shares of buyers under faults, so that everything that can go wrong happens often. */
const FAULT_SHARES = {
  abandon: 0.1,
  declines: 0.15,
  banks: 0.2,
  timeouts: 0.05,
  flaky: 0.1,
  webhookTwice: 0.1,
  giveBack: 0.1,
  bots: 0.08,
  pollers: 0.02,
  noShows: 0,
  known: 0.02,
  pairs: 0.2,
  payAtOnce: 0.3,
  front: 0.1,
}
const CALM_SHARES = {
  ...NOBODY,
  abandon: 0.1,
  declines: 0.05,
  banks: 0.06,
  timeouts: 0.01,
  pollers: 0.02,
  known: 0.02,
  front: 0.1,
}
const FAULT_HANG_UPS = 0.05
/** The number of bots of each attack for every visitor. */
const BOTS_PER_VISITOR = 1 / 3

const OPTIONS = {
  texts: [
    'visitors arrivals spread declines banks timeouts abandon refunds no-shows pollers known front bots identities think seed',
    'viewers',
    'stock seats code-uses rate provider-rate hold unpaid claim shards proof',
    'bot-count bot-networks bot-identities faults minutes from most step target',
    'edge origin admin-token data max-minutes out',
  ],
  flags: 'cdn limits capacity goods protect stand-in',
} as const

/** The options that a search for the capacity also uses. */
const OF_CAPACITY =
  'capacity from most step target declines banks timeouts abandon no-shows pollers known think seed out'
/** The options that a run against the stand-in also uses. */
const OF_STAND_IN =
  'stand-in visitors arrivals spread declines banks timeouts abandon pollers known front think seed ' +
  'stock rate hold claim cdn max-minutes out'
const OF_CAPACITY_ALONE = ['most', 'step', 'target'] as const

const givenOptions = (args: readonly string[]) => optionsOf('run rehearse', OPTIONS, args)
type Name = Exclude<
  keyof ReturnType<typeof givenOptions>,
  'cdn' | 'limits' | 'capacity' | 'goods' | 'protect' | 'stand-in'
>

export type Options = ReturnType<typeof readOptions>

export function readOptions(args: readonly string[]) {
  const given = givenOptions(args)
  const attacks = attacksOf(given.bots)
  const values = { ...given, bots: attacks.length > 0 ? undefined : given.bots }
  const number = (name: Name, usual: number, min: number, max: number) => numberOf(name, values[name], usual, min, max)
  const whole = (name: Name, usual: number, min: number, max: number) => wholeOf(name, values[name], usual, min, max)
  const capacity = values.capacity ? capacityOf(given, number, whole) : null
  const protect = values.protect ? protectOf(given, number, whole) : null
  const standIn = values['stand-in'] ?? false
  if (standIn) refuseOthers(given, OF_STAND_IN, '--stand-in')
  const alone = OF_CAPACITY_ALONE.find((name) => values[name] !== undefined)
  if (alone && !capacity) throw new UsageError(`--${alone} goes with --capacity.`)
  const faults = faultsOf(values.faults)
  const deploys = faults.includes('deploy')
  const single = faults.find((fault) => fault === 'deploy' || fault === 'failover')
  if (single && faults.length > 1) throw new UsageError(`--faults ${single} goes alone.`)
  const calm = faults.length === 0
  const identities = IDENTITIES.find((who) => who === (values.identities ?? 'cookies'))
  if (!identities) throw new UsageError(`--identities is one of ${IDENTITIES.join(', ')}.`)
  if (!calm && attacks.length > 0) throw new UsageError('--faults and a list of --bots do not go together.')
  for (const name of ['edge', 'origin'] as const) {
    const url = values[name]
    if (url === undefined) continue
    const ofItsEdge =
      (values.limits && '--limits') ||
      (identities === 'accounts' && '--identities accounts') ||
      (values.proof && '--proof') ||
      (values['provider-rate'] && '--provider-rate')
    const needs = calm ? ofItsEdge || (values.cdn && '--cdn') : '--faults'
    if (needs) throw new UsageError(`${needs} needs its own system, without --${name}.`)
    if (!/^http:\/\/[^/]+\/?$/.test(url)) throw new UsageError(`--${name} is an address such as http://127.0.0.1:8787.`)
  }
  if ((values.edge === undefined) !== (values.origin === undefined))
    throw new UsageError('--edge and --origin go together.')
  if (values.from !== undefined && !capacity && !deploys)
    throw new UsageError('--from goes with --capacity, or with --faults deploy.')
  if (values.minutes !== undefined && calm) throw new UsageError('--minutes goes with --faults.')
  const arrivals = SHAPES.find((shape) => shape === (values.arrivals ?? (calm ? 'spike' : 'ramp')))
  if (!arrivals) throw new UsageError(`--arrivals is one of ${SHAPES.join(', ')}.`)
  if (standIn && arrivals === 'bots') throw new UsageError('--arrivals bots and --stand-in do not go together.')
  const faultSeconds = number('minutes', 2, 0.01, 24 * 60) * 60
  const seats = values.seats === undefined ? null : whole('seats', 0, 1, MAX_SEATS)
  if (seats !== null && values.stock !== undefined) throw new UsageError('--stock and --seats do not go together.')
  if (seats !== null && values.edge !== undefined && !process.env.DATABASE_URL)
    throw new UsageError('--seats on a running system needs DATABASE_URL.')
  if (values.goods && seats !== null) throw new UsageError('--goods and --seats do not go together.')
  if (values.goods && values.edge !== undefined && !process.env.DATABASE_URL)
    throw new UsageError('--goods on a running system needs DATABASE_URL.')
  if (values['code-uses'] !== undefined && !values.goods) throw new UsageError('--code-uses goes with --goods.')
  const visitors = whole(
    'visitors',
    calm
      ? seats === null
        ? 2_000
        : Math.ceil(seats * VISITORS_PER_SEAT)
      : Math.ceil(faultSeconds * FAULT_VISITORS_PER_SECOND),
    1,
    MAX_VISITORS,
  )
  const isLong = visitors >= LONG_FROM
  const canView = calm && values.edge === undefined && !values.limits && !capacity && !standIn
  if (values.viewers !== undefined && !canView)
    throw new UsageError('--viewers needs its own system, without --faults, --limits and --capacity.')
  const usualSpread = calm ? Math.max(2, visitors / VISITORS_PER_SECOND) : faultSeconds
  const spreadSeconds = number('spread', usualSpread, 0.01, calm ? MAX_SPREAD_SECONDS : usualSpread)
  const holdSeconds = whole('hold', calm ? (isLong ? 60 : 12) : 4, 1, 3_600)
  const enoughMinutes = Math.ceil((spreadSeconds + holdSeconds) / 60) + MARGIN_MINUTES
  const maxMinutes = number('max-minutes', Math.max(USUAL_MINUTES, enoughMinutes), 0.05, 25 * 60)
  if (maxMinutes * 60 <= spreadSeconds)
    throw new UsageError(`--max-minutes ${maxMinutes} is over before all have come, in ${spreadSeconds} s.`)
  // After the last failover somebody must still be able to reserve.
  const usualStock = calm ? 100 : single === 'failover' ? visitors * MOST_UNITS : Math.ceil(visitors / 2)
  const stock = seats !== null ? unitsOf(hallOf(seats)) : whole('stock', usualStock, 1, 10_000_000)
  return {
    visitors,
    protect,
    standIn,
    seats,
    goods: values.goods ? { codeUses: whole('code-uses', Math.ceil(stock / 10), 0, 10_000_000) } : null,
    stock,
    rate: number('rate', 200, 0.01, 100_000),
    providerRate: values['provider-rate'] === undefined ? null : whole('provider-rate', 25, 1, 10_000),
    arrivals,
    spreadSeconds,
    identities,
    proof: proofOf(values.proof, () => whole('proof', 1, 1, MAX_DIFFICULTY)),
    attacks,
    limits: values.limits ?? false,
    attackBots: whole('bot-count', Math.ceil(visitors * BOTS_PER_VISITOR), 1, MAX_VISITORS),
    botNetworks: whole('bot-networks', 4, 1, 65_536),
    botIdentities: whole('bot-identities', 1, 1, 10_000_000),
    shares: sharesOf(
      // On a running system, a buyer who never returns from the bank would hold a unit for minutes.
      calm
        ? {
            ...CALM_SHARES,
            bots: arrivals === 'bots' ? 0.1 : 0,
            ...(values.edge !== undefined && { banks: 0 }),
            // The capacity is limited by joins, turns and checkouts, so nobody uses the shop front.
            ...(capacity && { front: 0 }),
          }
        : FAULT_SHARES,
      (name, usual) => number(name, usual, 0, 1),
    ),
    viewers: canView
      ? whole('viewers', Math.min(MOST_VIEWERS, Math.ceil(visitors * VIEWERS_PER_VISITOR)), 0, 100_000)
      : 0,
    refunds: number('refunds', calm ? 0.05 : 0.2, 0, 1),
    hangUps: calm ? 0 : FAULT_HANG_UPS,
    thinkSeconds: number('think', 0.5, 0, 600),
    holdSeconds,
    maxUnpaid: whole('unpaid', 3, 1, 1_000),
    claimSeconds: whole('claim', values.edge !== undefined ? CLAIM_SECONDS : isLong ? 60 : 20, 1, 3_600),
    shards: whole('shards', 1, 1, 256),
    cdn: values.cdn ?? false,
    faults,
    from: deploys ? (values.from ?? previousCommit()) : null,
    capacity,
    seed: whole('seed', Date.now() % 1_000_000, 0, 2 ** 32 - 1),
    maxMinutes,
    edge: values.edge?.replace(/\/$/, ''),
    origin: values.origin?.replace(/\/$/, ''),
    adminToken: values['admin-token'] || process.env.ADMIN_TOKEN || tokenIn(values.data, values.origin),
    out: values.out ?? 'bench/results',
  }
}

function refuseOthers(given: object, names: string, flag: string): void {
  const other = Object.keys(given).find((name) => !names.split(' ').includes(name))
  if (other !== undefined) throw new UsageError(`--${other} changes nothing with ${flag}.`)
}

type NumberOf = (name: Name, usual: number, min: number, max: number) => number

function capacityOf(given: ReturnType<typeof givenOptions>, number: NumberOf, whole: NumberOf) {
  refuseOthers(given, OF_CAPACITY, '--capacity')
  const from = whole('from', 50, 1, 100_000)
  return {
    from,
    most: whole('most', Math.max(from, 5_000), from, 100_000),
    stepSeconds: number('step', 12, 1, 30),
    targetMs: number('target', 500, 1, 3_600_000),
  }
}

const OF_PROTECT = 'protect visitors rate out'

function protectOf(given: ReturnType<typeof givenOptions>, number: NumberOf, whole: NumberOf) {
  refuseOthers(given, OF_PROTECT, '--protect')
  return { clients: whole('visitors', 4_000, 1, 100_000), rate: number('rate', 50, 1, 10_000) }
}

function faultsOf(list: string | undefined): Fault[] {
  return (list ?? '').split(',').flatMap((name) => {
    const fault = FAULTS.find((known) => known === name.trim())
    if (!fault && name !== '') throw new UsageError(`--faults is a list of ${FAULTS.join(',')}.`)
    return fault ?? []
  })
}

const proofOf = (text = 'off', difficulty: () => number) => (text === 'off' || text === 'auto' ? text : difficulty())

/** The list is empty if `--bots` is a share of the crowd. */
function attacksOf(list: string | undefined): Attack[] {
  if (list === undefined || Number.isFinite(Number(list))) return []
  return list.split(',').map((name) => {
    const attack = ATTACKS.find((known) => known === name.trim())
    if (!attack) throw new UsageError(`--bots is a share, or a list of ${ATTACKS.join(',')}.`)
    return attack
  })
}

function sharesOf(usual: typeof NOBODY, share: (name: Name, usual: number) => number) {
  const shares = { ...usual, noShows: share('no-shows', usual.noShows) }
  for (const name of ['abandon', 'declines', 'banks', 'timeouts', 'pollers', 'known', 'front', 'bots'] as const)
    shares[name] = share(name, usual[name])
  const { abandon, declines, banks, timeouts, flaky, webhookTwice, giveBack } = shares
  if (abandon + declines + banks + timeouts + flaky + webhookTwice + giveBack > 1)
    throw new UsageError('--declines, --banks, --timeouts and --abandon together are more than everyone.')
  if (shares.noShows + shares.pollers + shares.bots > 1)
    throw new UsageError('--no-shows, --pollers and --bots together are more than everyone.')
  return shares
}

/** The token of the system that `npm start` runs on this machine; it is sent to no other system. */
function tokenIn(folder = process.env.FLASH_SALE_DATA || '.data', origin = ''): string | undefined {
  const file = join(folder, ADMIN_TOKEN_FILE)
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(URL.parse(origin)?.hostname ?? '')
  return isHere && existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}
