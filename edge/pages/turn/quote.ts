/** The price of a choice, as the origin calculates it before a reservation. */
import * as v from 'valibot'
import { Totals } from '../../../shared/api/public.ts'

export const Quote = v.object({
  ...Totals.entries,
  /** The valid promo codes, and the reasons why others are not valid. */
  promo_codes: v.optional(
    v.array(v.object({ code: v.string(), holds: v.boolean(), reason: v.optional(v.string()) })),
    [],
  ),
  /** True if the totals are without delivery, whose price depends on the country. */
  needs_country: v.optional(v.boolean(), false),
})
export type Quote = v.InferOutput<typeof Quote>
