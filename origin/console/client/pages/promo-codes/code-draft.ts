/** A promo code while it is edited: texts as they are typed, and the code that they make. Pure. */
import type { PromoCode } from '../../../../../shared/api/goods.ts'
import { decimal, minorOf } from '../../../../../shared/format.ts'
import { instantOf, localOf } from '../../local-time.ts'
import { valuesIn } from '../goods/variants.ts'

export type Kind = 'percent' | 'amount_minor' | 'price_minor'
const KINDS: readonly Kind[] = ['percent', 'amount_minor', 'price_minor']

export interface CodeDraft {
  readonly code: string
  readonly kind: Kind
  readonly value: string
  readonly uses: string
  readonly each: string
  readonly units: string
  readonly from: string
  readonly until: string
  readonly products: string
  readonly combined: boolean
}

const EMPTY: CodeDraft = {
  code: '',
  kind: 'percent',
  value: '',
  uses: '',
  each: '',
  units: '',
  from: '',
  until: '',
  products: '',
  combined: false,
}

const numeral = (value: number | null) => (value === null ? '' : String(value))
const local = (iso: string | null) => (iso === null ? '' : localOf(iso))

/** The draft of an existing code, or of a new one. */
export function draftOf(code: PromoCode | undefined, currency: string): CodeDraft {
  if (!code) return EMPTY
  const kind = KINDS.find((one) => code[one] !== undefined) ?? 'percent'
  const value = code[kind] ?? 0
  return {
    code: code.code,
    kind,
    value: kind === 'percent' ? String(value) : decimal(value, currency),
    uses: numeral(code.uses),
    each: numeral(code.uses_per_visitor),
    units: numeral(code.units_per_use),
    from: local(code.from),
    until: local(code.until),
    products: code.products?.join(', ') ?? '',
    combined: code.combined,
  }
}

const numberIn = (text: string) => (text.trim() === '' ? null : Number(text.replaceAll(',', '')))

/**
 * The code of a draft. Throws for an invalid amount or time; the API checks the other fields. `before` is the code
 * that the draft changes, whose exact times are kept.
 */
export function codeOf(draft: CodeDraft, currency: string, before?: PromoCode): PromoCode {
  const { kind, value } = draft
  const amount = kind === 'percent' ? numberIn(value) : minorOf(value, currency)
  if (amount === null || Number.isNaN(amount)) throw new Error('Write what it takes off as a number, such as 5.00.')
  const timeOf = (name: 'from' | 'until') => (draft[name] === '' ? null : instantOf(draft[name], before?.[name]))
  const products = valuesIn(draft.products)
  return {
    code: draft.code.trim().toUpperCase(),
    [kind]: amount,
    uses: numberIn(draft.uses),
    uses_per_visitor: numberIn(draft.each),
    units_per_use: numberIn(draft.units),
    from: timeOf('from'),
    until: timeOf('until'),
    products: products.length > 0 ? [...products] : null,
    combined: draft.combined,
  }
}
