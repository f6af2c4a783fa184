/**
 * The seats that the shop would choose now: what the form asks of it, and what it answers. Nothing is held until the
 * form is sent.
 */
import type { SeatOffer, SeatOfferRequest } from '../../../shared/api/hall.ts'
import type { Hall, Seat } from '../../../shared/hall/hall-model.ts'
import { seatsNamed } from './choice.ts'

const OFFER_WITHIN_MS = 8_000

/** What the part of the form for the best seats asks for; null if it says no number. */
export function wishIn(form: HTMLFormElement): SeatOfferRequest | null {
  const fields = new FormData(form)
  const value = (name: string) => String(fields.get(`best-${name}`) ?? '')
  const quantity = Number(value('quantity'))
  if (!(quantity >= 1)) return null
  const [section_id, category, kind] = [value('section'), value('category'), value('kind')]
  return {
    quantity,
    ...(section_id && { section_id }),
    ...(category && { category }),
    ...(kind && { kind: kind as NonNullable<SeatOfferRequest['kind']> }),
  }
}

/** The offered seats; null if there are not that many. Fails if the shop does not answer. */
export async function fetchOffer(
  sale: string,
  hall: Hall,
  wish: SeatOfferRequest,
  leftOut: readonly Seat[],
): Promise<readonly Seat[] | null> {
  const response = await fetch(`${sale}/seats/offer`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...wish, ...(leftOut.length > 0 && { not: leftOut.map(({ seat_id }) => seat_id) }) }),
    signal: AbortSignal.timeout(OFFER_WITHIN_MS),
  })
  if (response.status === 409 || response.status === 410) return null
  if (!response.ok) throw new Error(`offer: ${response.status}`)
  return seatsNamed(hall, (await response.json()) as SeatOffer)
}
