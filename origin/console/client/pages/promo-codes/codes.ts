/** Converts promo codes to lists, files and words. Pure. */
import type { PromoCode, PromoCodesCheck } from '../../../../../shared/api/goods.ts'
import { money } from '../../../../../shared/format.ts'
import type { Problem } from '../../../../../shared/problem.ts'
import { count } from '../../format.ts'
import type { Mark } from '../../sheet/marks.tsx'

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

/** Describes the discount: "20 %", "€5.00", "€9.00 each". */
export function offOf({ percent, amount_minor, price_minor }: PromoCode, currency: string): string {
  if (percent !== undefined) return `${percent} %`
  if (amount_minor !== undefined) return money('en', amount_minor, currency)
  return `${money('en', price_minor ?? 0, currency)} each`
}

/** The groups of the list: codes that work, that come later, and that are over. */
export type Group = 'work' | 'come' | 'over'
export interface CodeState {
  readonly group: Group
  readonly level: Mark
  readonly text: string
}

/** With less than this share of its uses left, a code needs a look. */
const FEW = 0.05

/** The state of a code at a time: it works, comes later, or is over. */
export function stateOf(
  { from, until, uses, used }: ListedCode,
  nowMs: number,
  at: (iso: string) => string,
): CodeState {
  if (uses !== null && used >= uses) return { group: 'over', level: 'off', text: uses === 0 ? 'Stopped' : 'Used up' }
  if (until !== null && Date.parse(until) <= nowMs) return { group: 'over', level: 'off', text: 'Over' }
  if (from !== null && Date.parse(from) > nowMs) return { group: 'come', level: 'info', text: `From ${at(from)}` }
  const left = uses === null ? null : uses - used
  if (left !== null && left <= FEW * (uses ?? 0)) return { group: 'work', level: 'watch', text: `${count(left)} left` }
  return { group: 'work', level: 'good', text: 'Works' }
}

/** When a code is valid. */
export function validOf({ from, until }: PromoCode, at: (iso: string) => string): string {
  if (from === null && until === null) return 'at any time'
  return [from && `from ${at(from)}`, until && `until ${at(until)}`].filter(Boolean).join(' ')
}

/** The goods to which a code applies. `nameOf` names a product or variant by its id. */
export function forOf({ products, units_per_use, combined }: PromoCode, nameOf: (id: string) => string): string {
  return [
    products === null ? 'all products' : products.map(nameOf).join(', '),
    units_per_use !== null && `${count(units_per_use)} units an order`,
    combined && 'beside others',
  ]
    .filter(Boolean)
    .join(', ')
}

/** What an import does to one code. */
export interface PlannedCode {
  readonly line: number
  readonly code: PromoCode
  /** `new`, `as it is`, or each field that changes. */
  readonly effect: string
  readonly kind: 'new' | 'changed' | 'same'
}

export interface Plan {
  readonly codes: readonly PlannedCode[]
  /** Codes that were used and are not in the list, which therefore cannot take the place of the old one. */
  readonly missing: readonly ListedCode[]
  /** Codes that were never used, and go. */
  readonly gone: readonly ListedCode[]
}

const LABELS: Readonly<Record<(typeof COLUMNS)[number], string>> = {
  code: 'code',
  percent: 'percent',
  amount_minor: 'amount',
  price_minor: 'price',
  uses: 'uses',
  uses_per_visitor: 'uses of a visitor',
  units_per_use: 'units of a use',
  from: 'from',
  until: 'until',
  products: 'products',
  combined: 'beside others',
}

/** What would become of the list. */
export function planOf(understood: PromoCodesCheck['understood'], now: readonly ListedCode[]): Plan {
  const byCode = new Map(now.map((one) => [one.code, one]))
  const next = new Set(understood.map(({ code }) => code.code))
  const left = now.filter(({ code }) => !next.has(code))
  return {
    codes: understood.map(({ line, code }) => {
      const before = byCode.get(code.code)
      if (!before) return { line, code, effect: 'new', kind: 'new' }
      const changed = COLUMNS.filter((column) => cellOf(before[column]) !== cellOf(code[column]))
      if (changed.length === 0) return { line, code, effect: 'as it is', kind: 'same' }
      const effects = changed.map(
        (one) => `${LABELS[one]} ${cellOf(before[one]) || 'none'} → ${cellOf(code[one]) || 'none'}`,
      )
      return { line, code, effect: effects.join(', '), kind: 'changed' }
    }),
    missing: left.filter(({ used }) => used > 0),
    gone: left.filter(({ used }) => used === 0),
  }
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
