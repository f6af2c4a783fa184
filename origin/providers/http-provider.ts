/**
 * A shop's own payment server as a payment provider (docs/payments.md). Each call is a signed POST to one address,
 * whose `webhook-id` is the same for each repetition; the shop says what became of the charge in its response, by a
 * signed webhook, or when it is asked for the state. An answer to another question is noted and counts as none.
 */
import { randomUUID } from 'node:crypto'
import { parseJson } from '../../shared/parse.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import { jsonClient, ResponseTooLarge } from '../lib/http/json-client.ts'
import { isSigned, signedHeaders } from '../lib/http/standard-webhooks.ts'
import { traceHeaders } from '../lib/tracing.ts'
import {
  type Answer,
  AnswerFault,
  checked,
  type Fault,
  isFinal,
  Refused,
  readAnswer,
  recordOf,
  refundsIn,
  requireSameCharge,
  requireSameSum,
  TurnedAway,
  Webhook,
} from './http-answers.ts'
import type { HttpCharges, NotedCharge } from './http-charges.ts'
import {
  authorizeResult,
  type ChargeRecord,
  capturedOf,
  chargeKey,
  type PaymentProvider,
  PROVIDER_TIMEOUT_MS,
  type ProviderRefund,
  type Returns,
} from './provider.ts'

/** An answer has a few hundred bytes, and some more for each refund. */
const MAX_ANSWER_BYTES = 64 * 1024
/** The limit is above the charges, captures and refunds that a worker has in progress. */
const CONNECTIONS = 512

type Call = 'authorize' | 'capture' | 'cancel' | 'refund' | 'state'

/** Something that the shop said and must not have said. */
export interface NotedFault {
  readonly fault: Fault
  readonly reason: string
  readonly call: Call | 'webhook'
  readonly charge: string
  /** Null: the charge is unknown. */
  readonly order: string | null
}

const UNKNOWN = { call: 'webhook', order: null } as const

interface HttpProviderOptions {
  readonly url: string
  /** Each signs the calls, and any of them may sign a webhook. */
  readonly secrets: readonly string[]
  readonly charges: HttpCharges
  readonly note: (fault: NotedFault) => Promise<void>
  /** The ledger's time, for the timestamps of calls and the age of webhooks. */
  readonly nowMs: () => number
  readonly timeoutMs?: number
}

export function httpProvider(options: HttpProviderOptions): PaymentProvider {
  const { charges, secrets, nowMs, timeoutMs = PROVIDER_TIMEOUT_MS } = options
  const { origin, pathname, search } = new URL(options.url)
  const send = jsonClient({ url: origin, timeoutMs, connections: CONNECTIONS, maxBytes: MAX_ANSWER_BYTES })

  const noteFault = ({ fault, message: reason }: AnswerFault, call: NotedFault['call'], about: NotedCharge) =>
    options.note({ fault, reason, call, charge: about.charge, order: about.order })

  /**
   * Calls the shop about a charge. `id` names what is to be done, once, however often it is sent; the state is read
   * anew each time. Throws if there is no answer.
   */
  async function call(
    kind: Call,
    asked: NotedCharge,
    more: object = {},
    id = `${asked.charge}-${kind === 'state' ? randomUUID() : kind}`,
  ): Promise<Answer> {
    const { charge, order, amountMinor: amount_minor, currency } = asked
    const body = { call: kind, charge, order, amount_minor, currency, ...more }
    const signed = signedHeaders(secrets, id, JSON.stringify(body), new Date(nowMs()))
    const headers = { ...signed, ...traceHeaders() }
    try {
      const said = readAnswer(await send(pathname + search, { body, headers }))
      requireSameCharge(asked, said)
      if (kind === 'authorize' || kind === 'capture') requireSameSum(asked, said)
      await noteReference(kind, asked, said)
      return said
    } catch (error) {
      const fault = error instanceof ResponseTooLarge ? new AnswerFault('too_large', error.message) : error
      if (fault instanceof AnswerFault) await noteFault(fault, kind, asked)
      throw fault
    }
  }

  async function noteReference(kind: NotedFault['call'], asked: NotedCharge, said: Answer): Promise<void> {
    const { charge } = asked
    const { reference = null } = said
    if (reference === null || reference === asked.reference) return
    const first = await charges.said({ charge, reference, isFinal: false })
    if (reference === first) return
    const reason = `it named ${first} before, and ${reference} now: the buyer may have paid twice`
    await noteFault(new AnswerFault('another_reference', reason), kind, asked)
  }

  const noteFinal = (charge: string) => charges.said({ charge, reference: null, isFinal: true })

  async function noted(charge: string): Promise<NotedCharge> {
    const found = await charges.find(charge)
    if (!found) throw new Error(`the shop was never asked for the charge ${charge}`)
    return found
  }

  /**
   * The charge as the shop says it is. A shop that answers what counts as no answer is there, and knows of a charge that
   * is not final: its order ends with its hold, and the charge is asked about until the shop says more.
   */
  async function stateOf(asked: NotedCharge): Promise<ChargeRecord | undefined> {
    try {
      return recordOf(asked, await call('state', asked))
    } catch (error) {
      if (error instanceof AnswerFault) return { charge: asked.charge, order: asked.order, status: 'pending' }
      throw error
    }
  }

  /**
   * The charge after an action; throws if the shop does not know it, since the action may still be done. What was to be
   * done is final. Anything else is not, until the ledger has it too: an ended process leaves it to the next check.
   */
  async function act(kind: 'capture' | 'cancel', charge: string): Promise<ChargeRecord> {
    const asked = await noted(charge)
    const record = recordOf(asked, await call(kind, asked))
    if (!record) throw new Error('the shop does not know the charge')
    if (record.status === (kind === 'capture' ? 'captured' : 'cancelled')) await noteFinal(charge)
    return record
  }

  const returnsIn = (asked: NotedCharge, said: Answer): Returns => {
    const isTaken = said.status === 'captured' || said.status === 'refunded'
    return isTaken
      ? { takenMinor: said.amount_minor ?? asked.amountMinor, refunds: refundsIn(said) }
      : { takenMinor: 0, refunds: [] }
  }

  /** A signed webhook. Throws the problem in it, which is noted too. */
  async function readSaid(body: string) {
    try {
      return parseJson(Webhook, body)
    } catch (error) {
      if (error instanceof ProblemError)
        await options.note({ ...UNKNOWN, fault: 'malformed', charge: '', reason: error.message })
      throw error
    }
  }

  /** What the shop still has of a charge's money. */
  async function leftOf(asked: NotedCharge) {
    const state = await call('state', asked)
    const { takenMinor, refunds } = returnsIn(asked, state)
    const amount_minor = refunds.reduce((left, one) => (one.isMade ? left - one.amountMinor : left), takenMinor)
    return { amount_minor, currency: state.currency }
  }

  return {
    name: 'payment',

    async authorize({ order, attempt, amountMinor, currency, method, returnUrl }) {
      const asked = await charges.ask({ charge: chargeKey(order, attempt), order, attempt, amountMinor, currency })
      try {
        const said = await call('authorize', asked, { payment_method: method, return_url: returnUrl })
        const record = recordOf(asked, said)
        return record ? authorizeResult(record) : { result: 'unknown', reason: 'the shop does not know the charge' }
      } catch (error) {
        if (error instanceof Refused) return { result: 'refused', code: error.code, reason: error.message }
        return { result: error instanceof TurnedAway ? 'turned_away' : 'unknown', reason: String(error) }
      }
    },

    read: async (charge) => stateOf(await noted(charge)),

    capture: async ({ charge }) => capturedOf(await act('capture', charge)),

    cancel: (charge) => act('cancel', charge),

    async returns(charge) {
      const asked = await noted(charge)
      return returnsIn(asked, await call('state', asked))
    },

    async refund({ charge, key, amountMinor, failed }): Promise<ProviderRefund> {
      const asked = await noted(charge)
      const { amount_minor, currency } = amountMinor === null ? await leftOf(asked) : { amount_minor: amountMinor }
      // An attempt with an amount that differs is a refund of its own: the shop did not make the first.
      const id = `refund-${key}-${failed}-${amount_minor}`
      const said = await call('refund', asked, { amount_minor, ...(currency && { currency }), refund: key }, id)
      const own = refundsIn(said).findLast((one) => one.key === key)
      if (own) return own
      if (said.status === 'refunded') return { id, key, amountMinor: amount_minor, isMade: true }
      throw new Error(`the charge is ${said.status}`)
    },

    async find(order): Promise<ChargeRecord | undefined> {
      const records: ChargeRecord[] = []
      for (const asked of await charges.ofOrder(order)) {
        const record = await stateOf(asked)
        if (record) records.push(record)
      }
      const first = (status: ChargeRecord['status']) => records.find((one) => one.status === status)
      return first('captured') ?? first('authorized') ?? first('requires_action') ?? first('pending') ?? records[0]
    },

    /** The shop keeps no list of changes: the charges without a final state are asked about, one after the other. */
    async *changes() {
      for (;;) {
        const asked = await charges.takeOpen()
        if (!asked) return
        const record = await stateOf(asked)
        yield { records: record ? [record] : [], cursor: asked.charge }
        // The ledger has it by now.
        if (record && isFinal(record)) await noteFinal(asked.charge)
      }
    },

    async readWebhook(header, body) {
      if (!isSigned(secrets, header, body, nowMs())) return undefined
      const said = await readSaid(body)
      const asked = await charges.find(said.charge)
      if (!asked) {
        await options.note({
          ...UNKNOWN,
          fault: 'unknown_charge',
          charge: said.charge,
          reason: 'it was never asked for',
        })
        throw new ProblemError(problem('not-found', { detail: `${said.charge}: there is no such charge.` }))
      }
      try {
        requireSameCharge(asked, checked(said))
        requireSameSum(asked, said)
      } catch (error) {
        if (!(error instanceof AnswerFault)) throw error
        await noteFault(error, 'webhook', asked)
        throw new ProblemError(problem('conflict', { detail: error.message }))
      }
      await noteReference('webhook', asked, said)
      const { charge, order } = asked
      if (refundsIn(said).some((one) => !one.isMade)) return { charge, order, status: 'refund_failed' }
      return recordOf(asked, said) ?? null
    },
  }
}
