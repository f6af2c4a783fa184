/** One client of an attacker. It makes real calls, one after the other or many at once, and counts each of them. */
import { decodeJwt } from 'jose'
import type { QueueAnswer } from '../../shared/api/public.ts'
import { type Identity, SESSION } from '../crowd/visitors/identities.ts'
import type { ProofServer } from '../crowd/visitors/prover.ts'
import { type Answer, FORM_TYPE, type HttpClient, headerOf, requestSlowly, requestText } from '../lib/http.ts'
import { orderIn, placeIn, problemType } from '../lib/responses.ts'

export interface Ground {
  readonly client: HttpClient
  readonly sale: string
  /** The body of a checkout. */
  readonly asks: string
  readonly holdMs: number
  readonly random: () => number
  /** Resolves after this time, or at once when the attack is over. */
  readonly pause: (ms: number) => Promise<void>
  readonly over: () => boolean
  readonly loot: Loot
  /** Solves proofs of work; null if the sale requires none. */
  readonly proofs: ProofServer | null
}

/** The pause between two attempts after a refusal, which is limited. */
const PAUSE_MS = 1_000
const PAUSE_MAX_MS = 15_000
/** A slow body sends its last bytes, this many, after this delay. */
const SLOW_BYTES = 5
const SLOW_MS = 1_200

export class Bot {
  readonly #ground: Ground
  /** Called for each call, because its address may differ each time. */
  readonly #identity: () => Identity
  #place = ''
  /** A place that the bot has given up, and sends when it joins. */
  #lost = ''
  #isSignedIn = true
  admission = ''

  constructor(ground: Ground, identity: () => Identity) {
    this.#ground = ground
    this.#identity = identity
  }

  /** Joins as a new visitor. True with a place; a refusal that may end is tried again. */
  async join(tries: number): Promise<boolean> {
    const { loot } = this.#ground
    this.#place = this.admission = ''
    for (let i = 0; i < tries && !this.#ground.over(); i++) {
      const answer = await this.#joinOnce()
      const place = placeIn(answer)
      if (place?.queue_token) {
        this.#place = place.queue_token
        if (loot.givenUp.has(place.number)) {
          // While the edge's objects are silent it keeps every place: this one has to be given up once more.
          await this.#ground.pause(PAUSE_MS)
          await this.giveUp()
          continue
        }
        loot.numbers.add(place.number)
        if (this.#isSignedIn) loot.visitors.add(decodeJwt(place.queue_token).sub)
        this.#see(place)
        return true
      }
      if (answer.status === 410) return false
      await this.#ground.pause(patienceOf(answer))
    }
    return false
  }

  /** Joins without its account while the sale requires none. */
  async joinUnknown(tries: number): Promise<void> {
    this.#isSignedIn = false
    await this.join(tries)
    this.#isSignedIn = true
  }

  /** Gives its place up if it has one. It does so after the draw, because places are kept before it. */
  async giveUp(): Promise<void> {
    const { sale, loot, over, pause } = this.#ground
    while (this.#place !== '' && !over()) {
      const place = placeIn(await this.poll())
      if (place && place.status !== 'pre_queue') {
        this.#lost = this.#place
        loot.givenUp.add(place.number)
        await this.call('DELETE', `/sales/${sale}/queue`, this.#lost)
        this.#place = ''
        return
      }
      await pause(PAUSE_MS)
    }
  }

  /** Returns the response to the join, or to the request for a challenge if that is refused. */
  async #joinOnce(): Promise<Answer> {
    const { sale, proofs, pause } = this.#ground
    const invitation = this.#identity().invitation ?? undefined
    if (!proofs) return this.call('POST', `/sales/${sale}/queue`, this.#lost, [], JSON.stringify({ invitation }))
    const challenge = await this.call('GET', `/sales/${sale}/challenge`, this.#lost)
    if (challenge.status !== 200) return challenge
    const { altcha, takesMs } = await proofs.solve(challenge.body)
    await pause(takesMs)
    return this.call('POST', `/sales/${sale}/queue`, this.#lost, [], JSON.stringify({ invitation, altcha }))
  }

  /** Waits for the turn. True with an admission; false when the place is no longer valid, or the sale is over. */
  async wait(): Promise<boolean> {
    while (!this.#ground.over() && this.admission === '') {
      const answer = await this.poll()
      const place = placeIn(answer)
      if (place) {
        if (this.#see(place)) break
        if (place.status === 'missed_turn' || place.status === 'sold_out' || place.status === 'ended') return false
        await this.#ground.pause(Math.max(PAUSE_MS, place.poll_after_ms))
      } else if (answer.status === 401 || answer.status === 410) return false
      else await this.#ground.pause(patienceOf(answer))
    }
    return this.admission !== ''
  }

  poll(): Promise<Answer> {
    return this.call('GET', `/sales/${this.#ground.sale}/queue/status`, this.#place)
  }

  page(): Promise<Answer> {
    return this.call('GET', `/sales/${this.#ground.sale}/line`, this.#place)
  }

  /** Requests a unit with its own key. */
  async checkout(key: string): Promise<Answer> {
    const { sale, loot, asks } = this.#ground
    const headers = [`idempotency-key: ${key}`]
    const answer = await this.call('POST', `/sales/${sale}/checkout`, this.admission || this.#place, headers, asks)
    const order = orderIn(answer)
    if (order) loot.orders.add(order.order_id)
    return answer
  }

  pay(order: string, payment_method = 'pm_ok'): Promise<Answer> {
    return this.call('POST', `/orders/${order}/payment`, this.admission, [], JSON.stringify({ payment_method }))
  }

  look(order: string): Promise<Answer> {
    return this.call('GET', `/orders/${order}`, this.admission)
  }

  giveBack(order: string): Promise<Answer> {
    return this.call('DELETE', `/orders/${order}`, this.admission)
  }

  /** The same as `pay` with a slow body. */
  paySlowly(order: string): Promise<Answer> {
    return this.#slowly(`/orders/${order}/payment`, '{"payment_method":"pm_ok"}')
  }

  /** Sends a turn's form slowly, for a product that the sale does not have. */
  buySlowly(): Promise<Answer> {
    return this.#slowly(`/sales/${this.#ground.sale}/buy`, 'product_id=nothing&quantity=1', FORM_TYPE)
  }

  call(method: string, path: string, token: string, headers: readonly string[] = [], body?: string): Promise<Answer> {
    const { client } = this.#ground
    return this.#counted(client.request(requestText(method, path, client.host, this.#headers(token, headers), body)))
  }

  #slowly(path: string, body: string, type?: string): Promise<Answer> {
    const { client, pause } = this.#ground
    const text = requestText('POST', path, client.host, this.#headers(this.admission), body, type)
    return this.#counted(requestSlowly(client.host, text, SLOW_BYTES, pause(SLOW_MS)))
  }

  #headers(token: string, more: readonly string[] = []): string[] {
    const authorization = token === '' ? [] : [`authorization: Bearer ${token}`]
    const identity = this.#identity().headers.filter((line) => this.#isSignedIn || !line.startsWith(SESSION))
    return ['accept: application/json', ...authorization, ...identity, ...more]
  }

  async #counted(asked: Promise<Answer>): Promise<Answer> {
    const { loot } = this.#ground
    loot.calls++
    const answer = await asked
    if (answer.status >= 400) loot.refusals.set(refusalOf(answer), (loot.refusals.get(refusalOf(answer)) ?? 0) + 1)
    return answer
  }

  #see({ admission_token }: QueueAnswer): boolean {
    if (!admission_token) return false
    this.admission = admission_token
    this.#ground.loot.admissions++
    return true
  }
}

const refusalOf = (answer: Answer) => `${answer.status} ${problemType(answer).replace('/problems/', '')}`

/** The time to wait after a refusal. */
export function patienceOf(answer: Answer): number {
  const askedMs = Number(headerOf(answer, 'retry-after')) * 1000 || PAUSE_MS
  return Math.min(PAUSE_MAX_MS, askedMs)
}

/** The gains of an attack. */
export class Loot {
  readonly numbers = new Set<number>()
  readonly givenUp = new Set<number>()
  /** The names under which it joined since the sale has its requirements. */
  readonly visitors = new Set<string | undefined>()
  readonly orders = new Set<string>()
  readonly refusals = new Map<string, number>()
  calls = 0
  admissions = 0
  /** The period in which each order was held and not paid. */
  readonly #holds = new Map<string, { readonly fromMs: number; toMs: number }>()

  /** Several bots may hold the one order of their account. */
  hold(order: string, fromMs: number, toMs: number): void {
    const hold = this.#holds.get(order) ?? { fromMs, toMs }
    hold.toMs = Math.max(hold.toMs, toMs)
    this.#holds.set(order, hold)
  }

  heldMs(): number {
    return [...this.#holds.values()].reduce((all, { fromMs, toMs }) => all + toMs - fromMs, 0)
  }
}
