/** Parses the few fields of a response that the crowd uses, because it does so half a million times. */
import type { Order, QueueAnswer } from '../../shared/api/public.ts'
import type { Answer } from './http.ts'

export function placeIn(answer: Answer): QueueAnswer | null {
  if (answer.status !== 200 && answer.status !== 201) return null
  const body = objectIn(answer) as Partial<QueueAnswer> | null
  const whole =
    typeof body?.status === 'string' &&
    Number.isSafeInteger(body.number) &&
    Number.isFinite(body.now_serving) &&
    Number.isFinite(body.poll_after_ms)
  return whole ? (body as QueueAnswer) : null
}

/** A page shows neither lines nor totals. */
export type OrderAnswer = Pick<Order, 'order_id' | 'status' | 'reason' | 'payment'> &
  Partial<Pick<Order, 'lines' | 'total_minor'>>

export function orderIn(answer: Answer): OrderAnswer | null {
  if (answer.status < 200 || answer.status > 202) return null
  const body = objectIn(answer) as Partial<OrderAnswer> | null
  return typeof body?.order_id === 'string' && typeof body.status === 'string' ? (body as OrderAnswer) : null
}

/**
 * The order that a page shows, with the text about its payment; null for another page. A page does not give the
 * reason of a cancellation.
 */
export function shownOrderIn({ status: httpStatus, body }: Answer): OrderAnswer | null {
  const shown = / data-order="([^"]+)" data-order-status="(\w+)" (?:data-progress="([^"]*)")?/.exec(body)
  if (httpStatus !== 200 || !shown) return null
  const [, order_id = '', status, progress = ''] = shown
  const [, payment, attempts] = progress.split(' ')
  const url = / href="(https?:[^"]+)"/.exec(body.slice(shown.index))?.[1]?.replaceAll('&amp;', '&')
  const isAtBank = payment === 'requires_action'
  const left = { attempts_left: Number(attempts), expires_in_seconds: Number(/ value="([\d.]+)"/.exec(body)?.[1]) || 0 }
  return {
    order_id,
    status,
    payment: payment
      ? { status: payment, ...left, ...(isAtBank && url && { next_action: { type: 'redirect', url } }) }
      : null,
  } as OrderAnswer
}

/** The value of a cookie that the response sets; null if it does not. */
export function cookieIn({ head }: Answer, name: string): string | null {
  const at = head.indexOf(`${name}=`)
  if (at < 0) return null
  const from = at + name.length + 1
  const end = /[;\r\n]|$/g
  end.lastIndex = from
  // The value is copied, because a slice would keep the whole head in memory for half a million visitors.
  return Buffer.from(head.slice(from, end.exec(head)?.index), 'latin1').toString('latin1')
}

/** The data of a visitor's own page: the position only while they wait, the admission with their turn. */
export function ownPageIn(answer: Answer, sale: string) {
  const { status, body } = answer
  const token = cookieIn(answer, `queue-${sale}`)
  const number = Number(/data-number="(\d+)"/.exec(body)?.[1])
  if ((status !== 200 && status !== 201) || token === null || !Number.isSafeInteger(number)) return null
  const position = body.includes('id="line" data-status="waiting"') && /id="position">([\d,]+)</.exec(body)?.[1]
  return {
    number,
    token,
    position: position ? Number(position.replaceAll(',', '')) : null,
    admission: cookieIn(answer, `admission-${sale}`),
  }
}

/** The part of a refused checkout that a buyer reads. */
export interface Refusal {
  readonly type: string
  /** The requested seats that are taken. */
  readonly seats?: readonly string[]
  readonly offer?: readonly { readonly section_id: string; readonly seats: readonly string[] }[]
}

/** The data of a refused checkout for a program. */
export const refusalIn = (answer: Answer): Refusal => ({ ...objectIn(answer), type: problemType(answer) })

/** The type of a problem, even if it is shown as a page. */
export function problemType(answer: Answer): string {
  const type = (objectIn(answer) as { type?: unknown } | null)?.type
  const shown = /<code>\d+ ([\w-]+) /.exec(answer.body)?.[1]
  return String(type ?? (shown ? `/problems/${shown}` : ''))
}

function objectIn(answer: Answer): object | null {
  try {
    const body: unknown = JSON.parse(answer.body)
    return typeof body === 'object' ? body : null
  } catch {
    return null
  }
}
