/** Helpers of the edge's tests: a sale for one test, and visitors who call the Worker. */
import { type Challenge, solveChallenge } from 'altcha-lib'
import { vi } from 'vitest'
import { PUBLIC_LINE, queueName } from '../../shared/api/access.ts'
import type { SaleState } from '../../shared/api/internal.ts'
import type { QueueAnswer } from '../../shared/api/public.ts'
import type { SecretJwkSet } from '../../shared/keys.ts'
import type { Schedule } from '../../shared/schedule.ts'
import { ADMISSION, signToken } from '../../shared/tokens.ts'
import { deriveKey } from '../admission/proofs/proof-of-work.ts'
import { type Env, readConfig } from '../http/config.ts'
import { identityOf, visitorKey } from '../http/visitor-secret.ts'
import type { TicketShard } from '../queue/numbers/ticket-shard.ts'
import type { WaitingRoom } from '../queue/waiting-room.ts'
import worker from '../worker.ts'
import { waitUntil } from './background.ts'
import { eventually, stopClock } from './clocks.ts'
import { edgeEnv, requestsTo, stub } from './origin.ts'
import { stateOf } from './simulation.ts'

/** A sale that no other test uses. The origin responds with the state that the test publishes. */
export class TestSale {
  readonly name = `sale-${crypto.randomUUID().slice(-12)}`
  #opensAtMs: number
  #published: Partial<SaleState> = {}

  constructor(opensInMs = -1_000) {
    this.#opensAtMs = Date.now() + opensInMs
  }

  /** Sets the origin's further responses, on top of earlier settings; times count from the test's own clock. */
  async publish(changes: Partial<SaleState> & { status?: number; delayMs?: number; opensInMs?: number } = {}) {
    const { status = 200, delayMs = 0, opensInMs, ...state } = changes
    if (opensInMs !== undefined) this.#opensAtMs = Date.now() + opensInMs
    this.#published = { ...this.#published, ...state }
    await stub(`/internal/sales/${this.name}`, status, { ...this.#state(), ...this.#published }, delayMs)
    if (!firstReads.has(this.name)) firstReads.set(this.name, null)
    return this
  }

  #state(): SaleState {
    const opens_in_ms = this.#opensAtMs - Date.now()
    return {
      ...stateOf({ rate: 100, maxInside: null }, { available: 10_000 }),
      sale: this.name,
      phase: opens_in_ms > 0 ? 'upcoming' : 'open',
      opens_at: new Date(this.#opensAtMs).toISOString(),
      opens_in_ms,
    }
  }

  /** The same for another of its lines, which may open at another time. */
  async publishLine(
    line: string,
    { opensInMs = -1_000, ...changes }: Partial<SaleState> & { opensInMs?: number } = {},
  ) {
    const opensAtMs = Date.now() + opensInMs
    const phase = opensInMs > 0 ? 'upcoming' : 'open'
    const times = { phase, opens_at: new Date(opensAtMs).toISOString(), opens_in_ms: opensInMs } as const
    const state = { ...this.#state(), ...this.#published, ...times, line, ...changes }
    await stub(`/internal/sales/${queueName(this.name, line)}`, 200, state)
    return this
  }

  /** Makes the edge refresh now, as the origin does after an operator's change. */
  async push(line = PUBLIC_LINE, settings = edgeEnv) {
    const headers = { authorization: `Bearer ${edgeEnv.EDGE_TOKEN}` }
    return call(`/internal/sales/${queueName(this.name, line)}/refresh`, { method: 'POST', headers }, settings)
  }

  get room() {
    return edgeEnv.WAITING_ROOM.getByName(this.name) as DurableObjectStub<WaitingRoom>
  }

  shard(index: number) {
    return edgeEnv.TICKET_SHARD.getByName(`${this.name}/${index}`) as DurableObjectStub<TicketShard>
  }

  async schedule(line?: string): Promise<Schedule> {
    return (await call(`/sales/${this.name}/schedule${line === undefined ? '' : `?line=${line}`}`)).json()
  }

  /** The number of requests for the state from the waiting room. */
  async asked(): Promise<number> {
    return (await requestsTo(`/internal/sales/${this.name}`)).calls
  }

  /**
   * Waits until the waiting room has requested the state twice more by itself, each after about a second. It is for
   * visitors who come meanwhile.
   */
  async untilAskedAgain(): Promise<void> {
    const before = await this.asked()
    await eventually(async () => {
      await this.schedule()
      return (await this.asked()) >= before + 2
    })
  }

  /** Waits until the public schedule matches. */
  until(wanted: (schedule: Schedule) => boolean, line?: string): Promise<Schedule> {
    return eventually(async () => {
      const schedule = await this.schedule(line)
      return wanted(schedule) && schedule
    })
  }

  /** Moves the clock forward until the end of the test, so that the turns up to this number have been missed. */
  async missed(number: number): Promise<void> {
    stopClock()
    await eventually(async () => {
      vi.setSystemTime(Date.now() + 1_000)
      await this.room.refresh(this.name)
      return (await this.schedule()).missed_through >= number
    })
  }

  join(headers: Headers = {}, settings = edgeEnv) {
    return call(`/sales/${this.name}/queue`, { method: 'POST', headers }, settings)
  }

  /** Joins with the body of a program. */
  joinWith(body: unknown, headers: Headers = {}, settings = edgeEnv) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const type = { 'content-type': 'application/json', 'content-length': String(text.length) }
    const init = { method: 'POST', headers: { ...type, ...headers }, body: text }
    return call(`/sales/${this.name}/queue`, init, settings)
  }

  async joined(headers: Headers = {}, settings = edgeEnv): Promise<Joined> {
    // The join is repeated, as every client does, because an object may be late on a busy machine.
    const response = await eventually(async () => {
      const joined = await this.join(headers, settings)
      return joined.status !== 503 && joined
    })
    if (!response.ok) throw new Error(`join: ${response.status} ${await response.text()}`)
    return response.json()
  }

  /** The status of the holder of a token; without one, of the visitor in the headers. */
  status(token: string | null, headers: Headers = {}, settings = edgeEnv) {
    const all = token === null ? headers : { authorization: `Bearer ${token}`, ...headers }
    return call(`/sales/${this.name}/queue/status`, { headers: all }, settings)
  }

  async statusOf(token: string, settings = edgeEnv): Promise<QueueAnswer> {
    return (await this.status(token, {}, settings)).json()
  }

  /** Joins, and waits until the turn has come. */
  async ready(headers: Headers = {}): Promise<Joined> {
    const { queue_token } = await this.joined(headers)
    return eventually(async () => {
      const now = await (await this.status(queue_token, headers)).json<QueueAnswer>()
      return now.status === 'ready' && { ...now, queue_token }
    })
  }

  leave(token: string, settings = edgeEnv) {
    const headers = { authorization: `Bearer ${token}` }
    return call(`/sales/${this.name}/queue`, { method: 'DELETE', headers }, settings)
  }

  /** Sends a form of the sale's pages, as a browser without scripts does. */
  form(path: string, fields: Record<string, string>, headers: Headers = {}, settings = edgeEnv) {
    const body = new URLSearchParams(fields).toString()
    const type = 'application/x-www-form-urlencoded'
    const form = { 'content-type': type, 'content-length': String(body.length), accept: 'text/html' }
    const init = { method: 'POST', headers: { ...form, ...headers }, body }
    return call(`/sales/${this.name}${path}`, init, settings)
  }

  /** The sale's page, as a browser opens it. */
  page(headers: Headers = {}, settings = edgeEnv) {
    return call(`/sales/${this.name}`, { headers: { accept: 'text/html', ...headers } }, settings)
  }

  /** The visitor's own page. */
  line(headers: Headers = {}, settings = edgeEnv) {
    return call(`/sales/${this.name}/line`, { headers: { accept: 'text/html', ...headers } }, settings)
  }
}

type Headers = Record<string, string>
export type Joined = QueueAnswer & { queue_token: string }

/** The cookie of a returning visitor, as the Worker issued it. */
export function knownCookie(secret: string, { QUEUE_KEYS }: Env = edgeEnv): string {
  return `visitor-secret=${identityOf(secret, visitorKey(JSON.parse(QUEUE_KEYS) as SecretJwkSet)).cookie}`
}

/** The proof of work that solves the challenge in a response. */
export async function proofFor(asked: Response): Promise<string> {
  const challenge = await asked.json<Challenge>()
  return btoa(JSON.stringify({ challenge, solution: await solveChallenge({ challenge, deriveKey }) }))
}

/** The settings of an isolate with these ticket shards. */
export function withShards(getByName: (name: string) => object): Env {
  return { ...edgeEnv, TICKET_SHARD: { getByName } } as unknown as Env
}

/** Work behind the response is not awaited before the end of the file's tests. */
const context = { waitUntil, passThroughOnException: () => {}, props: {} } as unknown as ExecutionContext

/**
 * Calls the Worker's own handler, in the isolate in which it runs, because a call through a service binding takes
 * longer with every call of a test. The Worker knows the sale by then, since on a busy machine it answers "try again"
 * at first.
 */
export async function call(
  path: string,
  init: RequestInit = {},
  settings: Env = edgeEnv,
  ctx: object = {},
): Promise<Response> {
  const [site] = JSON.parse(settings.PROTECT ?? '[]') as { sale: string }[]
  const sale = site?.sale ?? /sale-[0-9a-f]{12}/.exec(path)?.[0] ?? ''
  if (firstReads.get(sale) === null) firstReads.set(sale, read(sale))
  await firstReads.get(sale)
  return callNow(path, init, settings, ctx)
}

/** The first reads of the published sales; null until the read begins. */
const firstReads = new Map<string, Promise<void> | null>()

async function read(sale: string): Promise<void> {
  await eventually(async () => (await callNow(`/sales/${sale}/schedule`)).status !== 503)
}

/** Calls the Worker without waiting until it knows the sale. */
export function callNow(path: string, init: RequestInit = {}, settings: Env = edgeEnv, ctx: object = {}) {
  const request = new Request(`http://edge.test${path}`, { redirect: 'manual', ...init })
  return worker.fetch(request as Request<unknown, IncomingRequestCfProperties>, settings, { ...context, ...ctx })
}

/** The cookies of a response in the form in which a browser would send them back. */
export function cookiesOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0] ?? '')
    .filter((pair) => !pair.endsWith('='))
    .join('; ')
}

/** An admission, as the Worker issues it. */
export async function admission(sale: string, changed: { ttl?: number; aud?: string; sub?: string } = {}) {
  const { keys } = await readConfig(edgeEnv)
  const iat = Math.floor(Date.now() / 1000) - 400
  const claims = {
    sub: changed.sub ?? 'a-visitor',
    sale,
    num: 1,
    jti: 'one',
    iat,
    exp: iat + 400 + (changed.ttl ?? 60),
  }
  return signToken(ADMISSION, keys.admission, claims)
}
