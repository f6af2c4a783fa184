/** The report as the API answers it, and its figures as sentences show them. */
import { money } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { count, tenths } from '../../format.ts'

export const readReport = (sale: string) => read(admin.sales[':sale'].report.$get({ param: { sale } }))
export type Report = Awaited<ReturnType<typeof readReport>>

export const countOrUnknown = (value: number | null) => (value === null ? 'unknown' : count(value))

/** A share as "86.6 %"; "unknown" if there is none. */
export const percent = (share: number | null) => (share === null ? 'unknown' : `${tenths(100 * share)} %`)

/** What went, of all that were there: "−24.5 %". */
export const loss = (share: number | null) => (share === null ? '–' : `−${percent(share)}`)

/** How far a figure is from another: "same", "+1.6 %", "−12.8 %". */
export function apart(from: number | null, to: number | null): string {
  if (from === null || to === null) return 'unknown'
  if (from === to) return 'same'
  if (from === 0) return `+${count(to)}`
  const by = (to - from) / from
  return `${by > 0 ? '+' : '−'}${percent(Math.abs(by))}`
}

export const inMoney = (minor: number, currency: string | undefined) =>
  currency === undefined ? '–' : money('en', minor, currency)

/** All counts of the report's minutes together. */
export function totalsOf({ curves }: Pick<Report, 'curves'>): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {}
  for (const { counts } of curves.minutes)
    for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value
  return sums
}
