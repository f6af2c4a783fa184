/**
 * What a shop's payment server says, as a response or as a webhook: its form, and what of it counts as no answer. Each
 * such fault has a name, under which operators find it. Pure.
 */
import * as v from 'valibot'
import { DECLINE_CODES } from '../../shared/api/public.ts'
import type { JsonResponse } from '../lib/http/json-client.ts'
import type { ChargeRecord, ProviderRefund } from './provider.ts'

/** What the shop was asked to charge. */
export interface AskedCharge {
  readonly charge: string
  readonly order: string
  readonly attempt: number
  readonly amountMinor: number
  readonly currency: string
}

/** Why what the shop said counts as no answer; `another_reference` alone is noted, and the answer counts. */
export type Fault =
  | 'redirect'
  | 'too_large'
  | 'not_json'
  | 'malformed'
  | 'unknown_status'
  | 'unexpected_response'
  | 'unknown_charge'
  | 'another_charge'
  | 'another_amount'
  | 'another_currency'
  | 'another_reference'

export class AnswerFault extends Error {
  override readonly name = 'AnswerFault'
  readonly fault: Fault
  constructor(fault: Fault, message: string) {
    super(message)
    this.fault = fault
  }
}

/** The shop did nothing, because of a rate limit, or because it does not accept the signature. */
export class TurnedAway extends Error {
  override readonly name = 'TurnedAway'
}

/** The shop can never do what it was asked. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const STATUSES = [
  'authorized',
  'requires_action',
  'declined',
  'captured',
  'cancelled',
  'refunded',
  'pending',
  'unknown',
] as const
/** No charge leaves these statuses, except that what was captured is given back. */
const FINAL: readonly string[] = ['captured', 'refunded', 'declined', 'cancelled']
const MAX_REFUNDS = 1_000
/** How much of a text that was not understood a finding shows. */
const SHOWN_CHARACTERS = 200

const text = v.pipe(v.string('a text is required'), v.maxLength(500, 'at most 500 characters'))
const minor = v.pipe(v.number('a number is required'), v.safeInteger('a whole number is required'), v.minValue(0))
const entries = {
  status: v.picklist(STATUSES, `one of ${STATUSES.join(', ')} is required`),
  order: v.optional(text),
  reference: v.optional(text),
  amount_minor: v.optional(minor),
  currency: v.optional(text),
  next_action: v.optional(
    v.object({
      type: v.literal('redirect', 'redirect is required'),
      url: v.pipe(text, v.url('a URL is required'), v.regex(/^https?:/, 'an http(s) URL is required')),
    }),
  ),
  code: v.optional(text),
  message: v.optional(text),
  refunds: v.optional(
    v.pipe(
      v.array(
        v.object({
          reference: text,
          refund: v.optional(text),
          amount_minor: minor,
          failed: v.optional(v.boolean('true or false is required')),
        }),
      ),
      v.maxLength(MAX_REFUNDS),
    ),
  ),
}
/** Fields that are not known are ignored. */
export const Answer = v.object({ ...entries, charge: v.optional(text) })
export type Answer = v.InferOutput<typeof Answer>
export const Webhook = v.object({ ...entries, charge: text })

/** Reads a response. Throws for each that is no answer: an AnswerFault is the shop's mistake. */
export function readAnswer({ status, text }: JsonResponse): Answer {
  if (status >= 300 && status < 400) throw new AnswerFault('redirect', `it answered with a redirect (${status})`)
  if (status === 401 || status === 403 || status === 429) throw new TurnedAway(`the shop answered ${status}`)
  if (status >= 500) throw new Error(`the shop answered ${status}`)
  const shown = text.slice(0, SHOWN_CHARACTERS).replaceAll('\0', '')
  if (status === 400 || status === 422) throw refusalIn(status, text)
  if (status < 200 || status > 299)
    throw new AnswerFault('unexpected_response', `it answered ${status} ${shown}`.trim())
  const body = jsonOf(text)
  if (body === undefined) throw new AnswerFault('not_json', `it is not JSON: ${shown}`)
  const read = v.safeParse(Answer, body)
  if (read.success) return checked(read.output)
  const [issue] = read.issues
  const fault = issue.type === 'picklist' ? 'unknown_status' : 'malformed'
  throw new AnswerFault(fault, `${v.getDotPath(issue) ?? 'body'}: ${issue.message}: ${shown}`)
}

/** The answer, if it says what its status needs. */
export function checked<Said extends Answer>(said: Said): Said {
  if (said.status === 'requires_action' && !said.next_action)
    throw new AnswerFault('malformed', 'next_action: is missing, and the buyer has nowhere to go')
  return said
}

function refusalIn(status: number, text: string): Refused {
  const { code, message } = Object(jsonOf(text)) as { code?: unknown; message?: unknown }
  const name = typeof code === 'string' && /^[\w.-]{1,64}$/.test(code) ? code : `response_${status}`
  return new Refused(name, typeof message === 'string' ? message.slice(0, SHOWN_CHARACTERS) : `it answered ${status}`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Throws if the answer is about another charge than the one that was asked for. */
export function requireSameCharge({ charge, order }: AskedCharge, said: Answer): void {
  if ((said.charge ?? charge) === charge && (said.order ?? order) === order) return
  throw new AnswerFault('another_charge', `it is about ${said.charge ?? ''} of the order ${said.order ?? ''}`.trim())
}

/** Throws if the answer names another sum than the one that was asked for. One that names none means that. */
export function requireSameSum({ amountMinor, currency }: AskedCharge, said: Answer): void {
  if ((said.amount_minor ?? amountMinor) !== amountMinor)
    throw new AnswerFault('another_amount', `${said.amount_minor} instead of ${amountMinor} ${currency}`)
  if ((said.currency ?? currency) !== currency)
    throw new AnswerFault('another_currency', `${said.currency} instead of ${currency}`)
}

/** The charge as the shop says it is; undefined if it does not know it. */
export function recordOf(asked: AskedCharge, said: Answer): ChargeRecord | undefined {
  const { charge, order, attempt } = asked
  const sum = { amountMinor: said.amount_minor ?? asked.amountMinor, currency: said.currency ?? asked.currency }
  const { status } = said
  switch (status) {
    case 'unknown':
      return undefined
    case 'authorized':
      return { charge, order, status, ...sum }
    case 'captured': {
      const refundedMinor = refundsIn(said).reduce((all, one) => (one.isMade ? all + one.amountMinor : all), 0)
      return { charge, order, status, ...sum, ...(refundedMinor > 0 && { refundedMinor }) }
    }
    case 'requires_action':
      return { charge, order, status, attempt, action: { charge, url: said.next_action?.url ?? '' } }
    case 'declined': {
      const code = DECLINE_CODES.find((one) => one === said.code) ?? 'declined'
      return { charge, order, status, attempt, code }
    }
    default:
      return { charge, order, status }
  }
}

export const isFinal = ({ status }: Pick<ChargeRecord, 'status'>) => FINAL.includes(status)

export const refundsIn = ({ refunds = [] }: Answer): ProviderRefund[] =>
  refunds.map(({ reference, refund = null, amount_minor, failed = false }) => ({
    id: reference,
    key: refund,
    amountMinor: amount_minor,
    isMade: !failed,
  }))
