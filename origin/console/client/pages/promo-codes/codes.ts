/** Converts promo codes to lists, files and words. Pure. */
import type { PromoCode } from '../../../../../shared/api/goods.ts'
import { decimal } from '../../../../../shared/format.ts'
import type { Problem } from '../../../../../shared/problem.ts'

/** A code as a GET lists it. `used` counts the orders that were not given up. */
export type ListedCode = PromoCode & { readonly used: number }

const COLUMNS = [
  'code',
  'percent',
  'amount_minor',
  'price_minor',
  'uses',
  'uses_per_visitor',
  'units_per_use',
  'from',
  'until',
  'products',
  'combined',
] as const

/** The file that an import takes. */
export function csvOf(codes: readonly ListedCode[]): string {
  const rows = codes.map((code) => COLUMNS.map((column) => cellOf(code[column])).join(','))
  return `${[COLUMNS.join(','), ...rows].join('\n')}\n`
}

const cellOf = (value: PromoCode[(typeof COLUMNS)[number]]) =>
  Array.isArray(value) ? value.join(' ') : value === false ? '' : String(value ?? '')

/** Describes the discount: "20 %", "5.00 EUR", "each for 9.00 EUR". */
export function offOf({ percent, amount_minor, price_minor }: PromoCode, currency: string): string {
  if (percent !== undefined) return `${percent} %`
  if (amount_minor !== undefined) return `${decimal(amount_minor, currency)} ${currency}`
  return `each for ${decimal(price_minor ?? 0, currency)} ${currency}`
}

/** Finds the codes whose text or products contain these letters. */
export function foundIn(codes: readonly ListedCode[], words: string): readonly ListedCode[] {
  const typed = words.trim().toUpperCase()
  return codes.filter(({ code, products }) =>
    [code, ...(products ?? [])].some((one) => one.toUpperCase().includes(typed)),
  )
}

/** True if the code is unchanged, even if it was used meanwhile. */
export const isSameCode = (one: PromoCode | undefined, other: PromoCode | undefined): boolean =>
  one && other ? COLUMNS.every((column) => cellOf(one[column]) === cellOf(other[column])) : one === other

/** The list for a PUT, without the fields that only a GET has. */
export const sentOf = (codes: readonly ListedCode[]): readonly PromoCode[] => codes.map(({ used: _, ...code }) => code)

/**
 * Renames the errors of the only changed code to its own fields, because the operator does not see the list in which
 * it was sent.
 */
export const aboutOne = <P extends Pick<Problem, 'status'> & Partial<Problem>>(problem: P): P => ({
  ...problem,
  ...(problem.errors && {
    errors: problem.errors.map(({ field, detail }) => ({ field: field.replace(/^codes\.\d+\./, ''), detail })),
  }),
})

/** Replaces the code of the same name, or adds it at the end. */
export const withCode = (codes: readonly PromoCode[], code: PromoCode): readonly PromoCode[] =>
  codes.some((one) => one.code === code.code)
    ? codes.map((one) => (one.code === code.code ? code : one))
    : [...codes, code]
