/** Runs one rehearsal from the sale's creation to its judgement. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { hallOf } from '../../dev/demo/hall.ts'
import { UsageError } from '../../dev/lib/command.ts'
import { codeOf } from '../../dev/release/commit.ts'
import { type DemoShop, startDemoShop } from '../../dev/servers/demo-shop.ts'
import { PRODUCTION_LIMITS } from '../../dev/servers/workerd.ts'
import { type System, startSystem } from '../../dev/system.ts'
import { visitorKey } from '../../edge/http/visitor-secret.ts'
import { shardsFor } from '../../shared/api/internal.ts'
import { REHEARSAL_PREFIX } from '../../shared/api/operators/report.ts'
import { seededRandom } from '../../shared/lib/random.ts'
import { Attackers } from '../attacks/attackers.ts'
import { Crowd, isOwn } from '../crowd/crowd.ts'
import { KINDS, type Kind } from '../crowd/tally.ts'
import { ASN_HEADER, VIEWER_RULES, Viewers } from '../crowd/viewers.ts'
import { visit } from '../crowd/visit.ts'
import { arrivalTimes, leadMs } from '../crowd/visitors/arrivals.ts'
import { Issuer, UNKNOWN } from '../crowd/visitors/identities.ts'
import { Prover } from '../crowd/visitors/prover.ts'
import { HallPicture, MOST_PER_VISITOR, seekerOf } from '../crowd/visitors/seekers.ts'
import { MOST_PER_SHOPPER, shopperOf } from '../crowd/visitors/shoppers.ts'
import { PLAN, visitorsOf } from '../crowd/visitors/visitors.ts'
import { type FaultRecord, isGood } from '../invariants/evidence.ts'
import { judge } from '../invariants/invariants.ts'
import { dropOf, promoCodes } from '../lib/demo-drop.ts'
import { n } from '../lib/figures.ts'
import { Histogram, type Percentiles } from '../lib/histogram.ts'
import { openHall } from '../lib/open-hall.ts'
import { admin } from '../lib/operator.ts'
import { startFaults, startFragileSystem } from './faults/faults.ts'
import { Operator, postMeanwhile } from './operator-calls.ts'
import type { Options } from './options.ts'
import { type Programs, ProgramsUsed } from './programs-used.ts'
import { Live } from './progress.ts'
import { watchConsole } from './records/console-watch.ts'
import { drawHall } from './records/hall-records.ts'
import { evidenceOf, PRODUCT, requireEdge, settledRecords, type Target } from './records/records.ts'
import { viewRecordOf } from './records/view-records.ts'
import type { Dot } from './report/charts.ts'

/** The time between the sale's creation and the first visitor. */
const LEAD_MS = 2_000
/** The edge knows a new sale within a second; on a busy machine a little later. */
const KNOWN_WITHIN_MS = 10_000
const PRICE = { unit_price_minor: 4900, currency: 'EUR' }
/** An interruption waits at most this long for the sale to be ended. */
const END_WITHIN_MS = 3_000
const MAX_DOTS = 4_000
/** The paths of the front, its search, and the sale's posts. */
const FRONT_PATHS = '^/($|search|sales/[^/]+/(feed|posts))'

/** The complete result of a rehearsal, which is written to report.json. */
export type Result = Awaited<ReturnType<Rehearsal['play']>>

/** A running system, with the stand-in for its shop if visitors need accounts. */
interface Given {
  readonly to: Target
  readonly shop?: DemoShop
}

/** A rehearsal that can be interrupted, because its sale must not stay live on a running system. */
export class Rehearsal {
  readonly sale = `${REHEARSAL_PREFIX}${randomUUID().slice(0, 8)}`
  readonly #options: Options
  readonly #given: Given | undefined
  #shop: DemoShop | undefined
  #live: Live | undefined
  #endSale = async (_timeoutMs?: number) => {}

  /** Tests pass their own system; otherwise the options name one, or the rehearsal starts one. */
  constructor(options: Options, given?: Given) {
    this.#options = options
    this.#given = given
    this.#shop = given?.shop
  }

  /** Stops the progress display, and ends the sale. */
  async interrupt(): Promise<void> {
    this.#live?.quiet()
    await this.#endSale(END_WITHIN_MS)
  }

  /** `failed` is called when a part of its own system ends by itself. */
  async play(failed: (how: string) => void) {
    const beganMs = performance.now()
    if (this.#options.identities === 'accounts') this.#shop ??= await startDemoShop()
    const tested = this.#given ? onRunning(this.#given.to) : await systemUnderTest(this.#options, this.#shop, failed)
    const { to } = tested
    this.#endSale = async (timeoutMs) => {
      this.#endSale = async () => {}
      await admin(to, 'POST', `/sales/${this.sale}/end`, undefined, timeoutMs).catch(() => {})
    }
    try {
      const result = await this.#play(tested)
      return { ...result, seconds: Math.round((performance.now() - beganMs) / 100) / 10 }
    } finally {
      await this.#endSale()
      if (!this.#given) this.#shop?.stop()
    }
  }

  async #play({ to, worker, killable, cdn, programs, prover, key }: SystemUnderTest) {
    const options = this.#options
    const { sale } = this
    const spreadMs = options.spreadSeconds * 1000
    const opensInMs = LEAD_MS + leadMs(options.arrivals, spreadMs)
    const opensAtMs = performance.now() + opensInMs
    const hall = options.seats === null ? null : hallOf(options.seats)
    const isDrop = options.goods !== null
    const limit = hall ? MOST_PER_VISITOR : isDrop ? MOST_PER_SHOPPER : options.shares.pairs > 0 ? 2 : 1
    const needsAccount = options.identities === 'accounts'
    // Places that were taken before accounts were required must not give an account more places.
    const asksLater = needsAccount && options.attacks.includes('stuff')
    const terms = {
      name: 'Rehearsal',
      opens_at: new Date(Date.now() + opensInMs).toISOString(),
      hold_seconds: options.holdSeconds,
      limit_per_visitor: limit,
      max_unpaid_orders: options.maxUnpaid,
      ...(isDrop
        ? dropOf(options.stock)
        : {
            products: hall
              ? [{ ...hall.product, currency: hall.currency }]
              : [{ product_id: PRODUCT, name: 'Unit', ...PRICE, total: options.stock }],
          }),
      admission: { rate_per_second: options.rate },
      access: {
        sign_in: needsAccount && !asksLater ? 'required' : 'optional',
        invitation: options.identities === 'invitations' ? 'required' : 'off',
        proof_of_work: options.proof,
      },
      expected_visitors: needsAccount ? options.visitors : null,
    }
    await admin(to, 'PUT', `/sales/${sale}`, terms)
    if (options.goods) await admin(to, 'PUT', `/sales/${sale}/promo-codes`, promoCodes(options.goods.codeUses))
    if (hall) {
      const sql = postgres(to.databaseUrl ?? '', { max: 1, onnotice: () => {} })
      await openHall(sql, sale, hall, () => admin(to, 'POST', `/sales/${sale}/reconcile`))
      await sql.end({ timeout: 2 })
    }
    const issuer = new Issuer({ ...options, kind: options.identities, shop: this.#shop })
    if (options.identities === 'invitations') {
      const codes = [...issuer.invitations(options.attacks)].join('\n')
      await admin(to, 'PUT', `/sales/${sale}/invitations`, codes)
    }

    const isPlain = options.identities === 'cookies' && !options.limits
    const random = seededRandom(options.seed)
    const arrivals = arrivalTimes(options.arrivals, options.visitors, spreadMs, random).map((ms) => opensAtMs + ms)
    const operator = new Operator({
      to,
      share: options.refunds,
      restocks: options.faults.length > 0,
      random: seededRandom(options.seed + 3),
    })
    const visitors = visitorsOf(arrivals, options.shares, random)
    const used = programs && new ProgramsUsed(programs, options.stock, opensAtMs - performance.now())
    const wishes = seededRandom(options.seed + 4)
    const picture = hall && new HallPicture(hall)
    if (picture || isDrop)
      for (const visitor of visitors) visitor.wishes = picture ? seekerOf(picture, wishes) : shopperOf(wishes)
    const crowd = new Crowd(
      visitors,
      {
        edge: to.edgeUrl,
        worker,
        sale,
        thinkMs: options.thinkSeconds * 1000,
        hangUps: options.hangUps,
        claimSeconds: options.claimSeconds,
        random,
        identityOf: isPlain ? () => UNKNOWN : (id) => issuer.ofVisitor(id),
        prover,
        visitorKey: key,
        onBought: (order, units) => {
          operator.confirmed(order)
          used?.bought(units)
        },
      },
      visit,
    )
    const viewers =
      options.viewers === 0 || this.#given
        ? null
        : new Viewers(worker, sale, options.viewers, seededRandom(options.seed + 5))
    if (viewers) await admin(to, 'PUT', '/view-rules', { rules: VIEWER_RULES })
    const recorded = await cdn?.record(FRONT_PATHS)
    const stopPosts = options.shares.front > 0 ? await postMeanwhile(to, sale) : undefined
    await firstSchedule(crowd)
    console.log(
      `${n(options.visitors)} visitors (${options.arrivals}), ${n(options.stock)} units, ${n(options.rate)}/s; ` +
        `sale ${sale}, seed ${options.seed}`,
    )

    const live = new Live(crowd, opensAtMs)
    this.#live = live
    let cutShort = false
    const end = setTimeout(() => {
      cutShort = true
      crowd.stop()
    }, options.maxMinutes * 60_000)
    live.start()
    const killSeconds = options.spreadSeconds + opensInMs / 1000
    const killing = killable && startFaults(killable, options.faults, killSeconds, crowd, options.seed)
    const before = await cdn?.counts()
    const attackers = new Attackers({
      ...options,
      edge: to.edgeUrl,
      sale,
      asks: hall ? '{"lines":[{"quantity":2,"together":true}]}' : '{}',
      issuer,
      prover,
      random: seededRandom(options.seed + 1),
      bots: options.attackBots,
      holdMs: options.holdSeconds * 1000,
      comeWithinMs: Math.max(0, opensAtMs - performance.now() - LEAD_MS / 2),
    })
    if (asksLater) {
      await attackers.takeUnknown()
      await admin(to, 'PUT', `/sales/${sale}`, { ...terms, access: { ...terms.access, sign_in: 'required' } })
    }
    attackers.start()
    const consoleSaid = options.providerRate === null ? undefined : watchConsole(to, sale)
    const [use] = await Promise.all([crowd.play().then(() => used?.stop() ?? null), viewers?.play()])
    const limited = (await consoleSaid?.()) ?? []
    const lastedMs = performance.now() - opensAtMs
    await attackers.stop()
    const after = await cdn?.counts()
    const toEdge = before && after && after.toEdge - before.toEdge
    const reached = await recorded?.()
    await stopPosts?.()
    clearTimeout(end)
    const faults: FaultRecord | null = (await killing?.stop()) ?? null
    const samples = live.stop()

    console.log('\nEvery visitor has left. Waiting for the stores to settle ...')
    await crowd.schedule.read().catch(() => {})
    const given = await operator.done()
    const due = {
      holdSeconds: options.holdSeconds,
      unitMinor: PRICE.unit_price_minor,
      hall,
      hasGoods: isDrop,
      operator: given,
    }
    const records = await settledRecords(to, sale, due)
    const gains = attackers.gains(records.orders, lastedMs)
    const refusedByLimit = crowd.visitors.filter((visitor) => visitor.refusedByLimit && !visitor.has(PLAN.bot)).length
    const isAttacked = options.attacks.length > 0 || options.limits
    const judged = judge({
      ...evidenceOf(crowd, attackers.numbers()),
      ...records,
      attackers: isAttacked
        ? { gains, orders: attackers.orders(), refusedByLimit, accounts: needsAccount ? options.botIdentities : null }
        : null,
      operator: given,
      stock: options.stock,
      rate: options.rate,
      limit,
      currency: PRICE.currency,
      holdMs: options.holdSeconds * 1000,
      ownSystem: options.edge === undefined,
      cutShort,
      shards: needsAccount ? shardsFor(options.visitors) : options.shards,
      faults,
      front: reached ? { ...reached, requests: crowd.tally.requests } : null,
      views: viewers && (await viewRecordOf(to, sale, viewers)),
    })
    const checks = judged.concat(limited)
    crowd.close()
    const { adminToken: _, ...shown } = options
    return {
      sale,
      at: new Date().toISOString(),
      options: shown,
      good: isGood(checks),
      checks,
      ends: crowd.tally.ends,
      /** The gains of each attack, and the crowd's losses through attacks and defences. */
      attacks: gains,
      honest: honestOf(crowd, opensAtMs, refusedByLimit),
      requests: crowd.tally.requests,
      /** The failures and problem responses by kind and status. */
      refusals: byTimes(crowd.tally.refusals),
      ...requestsOf(crowd, toEdge),
      /**
       * The requests from the turn to the receipt of those who bought with a browser, and how many needed the
       * minimum.
       */
      afterTurn: crowd.tally.afterTurn,
      latencies: latenciesOf(crowd),
      /** The use of processor and memory by program; null on a running system, and with faults, which kill them. */
      programs: use,
      samples,
      fairness: fairnessOf(crowd, opensAtMs),
      /** The seats, each with the time in the sale at which it was bought. */
      hall: records.hall && 'orders' in records.hall ? drawHall(records.hall) : null,
      complaints: byTimes(crowd.tally.complaints),
      memoryMb: Math.max(...samples.map((sample) => sample.memoryMb)),
    }
  }
}

type SystemUnderTest = Awaited<ReturnType<typeof systemUnderTest>>

const onRunning = (to: Target) => ({
  to,
  worker: to.edgeUrl,
  killable: undefined,
  cdn: undefined,
  programs: null,
  prover: null,
  key: null,
})

/** The system of a rehearsal: the running one that is named, or its own. */
async function systemUnderTest(options: Options, shop: DemoShop | undefined, failed: (how: string) => void) {
  const { edge, origin, adminToken, faults, from, holdSeconds, claimSeconds, shards, cdn, limits, proof, seed } =
    options
  const rate = String(options.providerRate ?? '')
  if (edge && origin) {
    if (!adminToken)
      throw new UsageError('A running system needs --admin-token, ADMIN_TOKEN, or --data with its folder.')
    await requireEdge(edge)
    const { DATABASE_URL, REDIS_URL } = process.env
    const stores = { databaseUrl: DATABASE_URL || undefined, redisUrl: REDIS_URL || undefined }
    return onRunning({ edgeUrl: edge, originUrl: origin, adminToken, ...stores })
  }
  console.log('Starting a system ...')
  const settings = {
    cdn,
    originEnv: {
      LOG_LEVEL: 'warn',
      PAYMENT_ACTION_SECONDS: String(holdSeconds),
      // An empty value means that it is not set.
      PAYMENTS_PER_SECOND: rate,
      SANDBOX_CALLS_PER_SECOND: rate,
    },
    edgeVars: {
      CLAIM_SECONDS: String(claimSeconds),
      TICKET_SHARDS: String(shards),
      ASN_HEADER,
      ...(limits && PRODUCTION_LIMITS),
      ...shop?.vars,
    },
  }
  const killable =
    faults.length > 0 ? await startFragileSystem(settings, faults, from && (await codeOf(from))) : undefined
  const system = killable?.system ?? (await startSystem(settings))
  if (!killable) void system.failed.then(failed)
  const prover = proof === 'off' ? null : new Prover(system.secrets.queueKeys, seededRandom(seed + 2))
  return {
    to: system,
    worker: system.edge.url,
    killable,
    cdn: system.cdn,
    programs: killable ? null : programsOf(system),
    prover,
    key: visitorKey(system.secrets.queueKeys),
  }
}

/** The processes of each program, a cache first. */
const programsOf = ({ cdn, edge, origin, postgres, redis }: System): Programs =>
  Object.fromEntries(
    Object.entries({ CDN: cdn, edge, origin, Postgres: postgres, Redis: redis }).flatMap(([name, server]) =>
      server ? [[name, [server.pid]]] : [],
    ),
  )

const byTimes = (counts: ReadonlyMap<string, number>) => [...counts].sort((a, b) => b[1] - a[1])

/** Waits for the first published schedule, whose commitment fixes the draw. */
async function firstSchedule(crowd: Crowd): Promise<void> {
  const untilMs = performance.now() + KNOWN_WITHIN_MS
  for (;;) {
    try {
      return await crowd.schedule.read()
    } catch (error) {
      if (performance.now() > untilMs)
        throw new UsageError(
          `The edge at ${crowd.options.edge} does not know the sale: ${(error as Error).message}. Is its ` +
            `ORIGIN_URL this origin's?`,
        )
      await sleep(100)
    }
  }
}

/**
 * If there is a cache in front of the edge, `toEdge` is the number of requests for public content that reached the
 * edge, including refreshes.
 */
function requestsOf({ visitors, schedule, tally }: Crowd, toEdge: number | undefined) {
  // The bank is not part of the system.
  const sent = (own: boolean) =>
    KINDS.reduce((total, kind) => total + (kind !== 'bank' && isOwn(kind) === own ? tally.requests[kind] : 0), 0)
  const requests = sent(true) + sent(false)
  const worker = toEdge === undefined ? requests : toEdge + sent(true)
  const fromCdn = tally.scheduleReads
  return {
    /**
     * The real reads of the public schedule, one a second for all, and the reads that the crowd's scripts would have
     * made.
     */
    schedule: { read: schedule.reads, fromCdn },
    perVisitor: {
      worker: worker / visitors.length,
      /** The requests that the cache in front of the edge served. */
      cache: Math.max(0, requests - worker) / visitors.length,
      cdn: fromCdn / visitors.length,
    },
  }
}

/** The latencies by kind of request, of payments, and of reads of the schedule. */
export function latenciesOf({ tally, schedule }: Crowd) {
  const byKind = Object.fromEntries(KINDS.map((kind) => [kind, tally.latency[kind].summary()]))
  return {
    ...(byKind as Record<Kind, Percentiles>),
    settled: tally.settled.summary(),
    schedule: schedule.latency.summary(),
  }
}

/** The results of the crowd during the attacks. Waits are from the join, or from the opening, to the turn. */
function honestOf({ visitors, tally }: Crowd, opensAtMs: number, refusedByLimit: number) {
  const waits = new Histogram()
  for (const { admittedMs, joinAnsweredMs } of visitors)
    if (admittedMs > 0) waits.add(admittedMs - Math.max(opensAtMs, joinAnsweredMs))
  const { bought, failed, gave_up, missed_turn } = tally.ends
  return { bought, lost: failed + gave_up + missed_turn, refusedByLimit, waits: waits.summary() }
}

/** The visitors by the time of joining and their position. */
function fairnessOf(crowd: Crowd, opensAtMs: number): Dot[] {
  const { visitors } = crowd
  const draw = crowd.draw()
  if (!draw) return []
  // Buyers get up to a third of the chart.
  const step = Math.max(1, Math.ceil(visitors.length / (MAX_DOTS * 0.67)))
  const buyers = Math.max(1, Math.ceil(crowd.tally.ends.bought / (MAX_DOTS * 0.33)))
  let bought = 0
  return visitors.flatMap(({ id, number, end, joinAnsweredMs }) => {
    const strong = end === 'bought'
    if (number === null || (strong ? bought++ % buyers : id % step) !== 0) return []
    const x = Math.round((joinAnsweredMs - opensAtMs) / 10) / 100
    return [{ x, y: draw.positionOf(number), kind: strong ? 'strong' : 'plain' }]
  })
}
