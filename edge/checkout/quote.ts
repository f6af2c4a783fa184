/** What a choice would cost, as the origin says it before anything is reserved. */
import * as v from 'valibot'
import { Totals } from '../../shared/api/public.ts'

export const Quote = v.object({
  ...Totals.entries,
  /** Which codes hold, and why the others do not. */
  promo_codes: v.optional(
    v.array(v.object({ code: v.string(), holds: v.boolean(), reason: v.optional(v.string()) })),
    [],
  ),
  /** The totals are without delivery, whose price depends on the country. */
  needs_country: v.optional(v.boolean(), false),
})
export type Quote = v.InferOutput<typeof Quote>
