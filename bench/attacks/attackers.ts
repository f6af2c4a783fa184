/**
 * The attackers of one rehearsal. It starts their bots with the crowd, stops them afterwards, and reports what they
 * got.
 */
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSold } from '../../shared/api/order-status.ts'
import type { Issuer } from '../crowd/visitors/identities.ts'
import { ProofServer, type Prover } from '../crowd/visitors/prover.ts'
import type { Gains, LedgerOrder } from '../invariants/evidence.ts'
import { HttpClient } from '../lib/http.ts'
import { type Attack, PLAYS, TRIES } from './attacks.ts'
import { Bot, type Ground, Loot } from './bot.ts'

/** The number of sockets of one attacker. */
const CONNECTIONS = 1_000
/** Calls in progress when the crowd has left are awaited for this long. */
const STOP_WITHIN_MS = 10_000

interface Options {
  readonly edge: string
  readonly sale: string
  /** The body of a checkout. */
  readonly asks: string
  readonly attacks: readonly Attack[]
  /** The number of bots of each attack. */
  readonly bots: number
  readonly holdMs: number
  /** The bots come within this time, all of them before the opening. */
  readonly comeWithinMs: number
  readonly issuer: Issuer
  readonly random: () => number
  /** Solves proofs of work; null if the sale requires none. */
  readonly prover: Prover | null
}

/** The bots of one attack, and the system that they attack. */
interface Team {
  readonly ground: Ground
  readonly bots: readonly Bot[]
}

export class Attackers {
  readonly #options: Options
  readonly #loot: ReadonlyMap<Attack, Loot>
  readonly #clients: HttpClient[] = []
  readonly #teams: ReadonlyMap<Attack, Team>
  readonly #stop = new AbortController()
  #playing: Promise<unknown> = Promise.resolve()

  constructor(options: Options) {
    this.#options = options
    this.#loot = new Map(options.attacks.map((attack) => [attack, new Loot()]))
    setMaxListeners(0, this.#stop.signal)
    this.#teams = new Map([...this.#loot].map(([attack, loot]) => [attack, this.#team(attack, loot)]))
  }

  /**
   * Takes places before the sale requires accounts. `stuff` later gives them up and sends them again with one
   * account.
   */
  async takeUnknown(): Promise<void> {
    await Promise.all((this.#teams.get('stuff')?.bots ?? []).map((bot) => bot.joinUnknown(TRIES)))
  }

  start(): void {
    this.#playing = Promise.all([...this.#teams].map(([attack, team]) => this.#attack(attack, team)))
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.race([this.#playing, sleep(STOP_WITHIN_MS, undefined, { ref: false })])
    for (const client of this.#clients) client.close()
  }

  /** All ticket numbers that the bots were given. */
  numbers(): number[] {
    return [...this.#loot.values()].flatMap(({ numbers }) => [...numbers])
  }

  orders(): Set<string> {
    return new Set([...this.#loot.values()].flatMap(({ orders }) => [...orders]))
  }

  gains(ledger: readonly LedgerOrder[], lastedMs: number): Gains[] {
    return [...this.#loot].map(([attack, loot]) => gainsOf(attack, this.#options.bots, loot, ledger, lastedMs))
  }

  #team(attack: Attack, loot: Loot): Team {
    const { edge, sale, asks, bots, holdMs, issuer, random, prover } = this.#options
    // Each attacker has its own sockets, so that its calls do not wait for those of another.
    const client = new HttpClient({ url: edge, connections: CONNECTIONS })
    this.#clients.push(client)
    const { signal } = this.#stop
    const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {})
    const proofs = prover && new ProofServer(prover)
    const ground = { client, sale, asks, holdMs, random, pause, over: () => signal.aborted, loot, proofs }
    const all = Array.from({ length: bots }, (_, i) => new Bot(ground, () => issuer.ofBot(attack, i, random)))
    return { ground, bots: all }
  }

  async #attack(attack: Attack, { ground, bots }: Team): Promise<void> {
    const { comeWithinMs, random } = this.#options
    const { together, play } = PLAYS[attack]
    const groups = Array.from({ length: Math.ceil(bots.length / together) }, (_, i) =>
      bots.slice(i * together, (i + 1) * together),
    )
    await Promise.all(
      groups.map(async (group) => {
        await ground.pause(random() * comeWithinMs)
        await play(ground, group)
      }),
    )
  }
}

function gainsOf(attack: string, bots: number, loot: Loot, ledger: readonly LedgerOrder[], lastedMs: number): Gains {
  const { numbers, givenUp, visitors, orders, refusals, calls, admissions } = loot
  const sold = ledger.filter((order) => orders.has(order.order_id) && isSold(order.status))
  return {
    attack,
    bots,
    calls,
    admissions,
    places: numbers.size - givenUp.size,
    visitors: visitors.size,
    bought: sold.reduce((units, { quantity }) => units + quantity, 0),
    held: lastedMs > 0 ? loot.heldMs() / lastedMs : 0,
    refusals: [...refusals].sort((a, b) => b[1] - a[1]),
  }
}
