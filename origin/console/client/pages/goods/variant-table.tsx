/** The variants of a product as a table: price, units, what is taken, and SKU, with a row that fills all of them. */
import { useSignal } from '@preact/signals'
import { decimal, minorOf } from '../../../../../shared/format.ts'
import { count } from '../../format.ts'
import { Icon } from '../../sheet/icon.tsx'
import { Dot, StockMeter } from '../../sheet/marks.tsx'
import { atOnce, inWords } from '../sale-form/changes/field-words.ts'
import type { Body, Json } from '../sale-form/draft.ts'
import { Framed, isWithin, useForm } from '../sale-form/fields/form.tsx'
import { numberOf, useMoney, useNumber, useText } from '../sale-form/fields/inputs.ts'
import { signOf } from '../sale-form/fields/rows.tsx'
import { labelOf, optionsOf, unitsOf, type Variant, variantsOf } from './variants.ts'

interface TableProps {
  readonly path: string
  readonly product: Body
}

export function VariantTable({ path, product }: TableProps) {
  const { wrong, changes, isRunning, body } = useForm()
  const variants = variantsOf(product)
  const currency = String(product.currency)
  const price = typeof product.unit_price_minor === 'number' ? decimal(product.unit_price_minor, currency) : 'as above'
  const isSaved = variants.some(({ sold }) => sold !== undefined)
  const own = changes.filter((one) => isWithin(one.path, path) && one.before !== undefined)
  const faults = [...wrong].filter(([field]) => isWithin(field, path))
  return (
    <div class="stack close">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <section class="scroll" aria-label="Variants" tabIndex={0}>
        <table class="variants">
          <thead>
            <tr>
              <th scope="col">
                {optionsOf(product)
                  .map(({ name }) => name)
                  .join(', ')}
              </th>
              <th scope="col" class="n">
                Price, {signOf(currency)}
              </th>
              <th scope="col" class="n">
                Units
              </th>
              {isSaved && (
                <>
                  <th scope="col" class="wide">
                    <span class="key no-wrap">
                      <span>
                        <i style="--c: var(--c1)" />
                        sold
                      </span>
                      <span>
                        <i style="--c: var(--c2)" />
                        held
                      </span>
                    </span>
                  </th>
                  <th scope="col" class="n wide">
                    Taken
                  </th>
                  <th scope="col" class="n">
                    Free
                  </th>
                </>
              )}
              <th scope="col" class="wide">
                SKU
              </th>
            </tr>
          </thead>
          <tbody>
            <FillRow path={path} variants={variants} currency={currency} columns={isSaved ? 4 : 1} />
            {variants.map((variant, i) => (
              <VariantRow
                key={variant.variant_id}
                path={`${path}.${i}`}
                variant={variant}
                currency={currency}
                price={price}
                isSaved={isSaved}
                onPaste={(field, text) => pasted({ variants, from: i, field, text, currency })}
              />
            ))}
            <Totals variants={variants} isSaved={isSaved} path={path} />
          </tbody>
        </table>
      </section>
      {faults.map(([field, text]) => (
        <p key={field} class="note is-bad">
          <Dot level="bad" />
          {field === path ? text : `${labelAt(variants, path, field)}: ${text}`}
        </p>
      ))}
      {own.map((change) => (
        <p key={change.path} class="note">
          <Dot level="info" />
          <b>
            {labelAt(variants, path, change.path)} was {inWords(change.path, change.before, body)}.
          </b>{' '}
          {isRunning && `${atOnce(change)}.`}
        </p>
      ))}
    </div>
  )
}

const labelAt = (variants: readonly Variant[], path: string, field: string) => {
  const variant = variants[Number(field.slice(path.length + 1).split('.')[0])]
  return variant ? labelOf(variant) : 'A variant'
}

type Field = 'total' | 'unit_price_minor' | 'sku'

const readAs = (field: Field, text: string, currency: string): Json =>
  field === 'total' ? numberOf(text) : field === 'sku' ? text : (minorOf(text, currency) ?? text)

interface Pasted {
  readonly variants: readonly Variant[]
  readonly from: number
  readonly field: Field
  readonly text: string
  readonly currency: string
}

/** The variants with a column that was copied from a sheet, from one of them downwards. */
function pasted({ variants, from, field, text, currency }: Pasted): readonly Body[] | undefined {
  const lines = text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split('\t')[0]?.trim() ?? '')
  if (lines.length < 2) return undefined
  return variants.map((variant, i) => {
    const line = lines[i - from]
    return line === undefined || i < from ? variant : { ...variant, [field]: readAs(field, line, currency) }
  })
}

interface FillProps {
  readonly path: string
  readonly variants: readonly Variant[]
  readonly currency: string
  readonly columns: number
}

/** Fills a column with one value. */
function FillRow({ path, variants, currency, columns }: FillProps) {
  const { set } = useForm()
  const price = useSignal('')
  const units = useSignal('')
  const isEmpty = price.value === '' && units.value === ''
  const fill = () => {
    const to = {
      ...(price.value !== '' && { unit_price_minor: readAs('unit_price_minor', price.value, currency) }),
      ...(units.value !== '' && { total: readAs('total', units.value, currency) }),
    }
    set(
      path,
      variants.map((variant) => ({ ...variant, ...to })),
    )
    price.value = ''
    units.value = ''
  }
  const input = (signal: typeof price, label: string, mode: 'decimal' | 'numeric') => (
    <Framed level="">
      <input
        inputMode={mode}
        aria-label={label}
        placeholder="each"
        size={5}
        autocomplete="off"
        value={signal.value}
        onInput={({ currentTarget }) => (signal.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          if (!isEmpty) fill()
        }}
      />
    </Framed>
  )
  return (
    <tr>
      <td>
        <button type="button" class="btn" disabled={isEmpty} onClick={fill}>
          <Icon name="fill" />
          Fill all {count(variants.length)}
        </button>
      </td>
      <td class="n">{input(price, 'Price of each', 'decimal')}</td>
      <td class="n">{input(units, 'Units of each', 'numeric')}</td>
      <td colSpan={columns} class="wide small quiet">
        or paste a column from a sheet into its first field
      </td>
    </tr>
  )
}

interface VariantRowProps {
  readonly path: string
  readonly variant: Variant
  readonly currency: string
  readonly price: string
  readonly isSaved: boolean
  /** Returns the variants with a pasted column; undefined for a single value. */
  onPaste(field: Field, text: string): readonly Body[] | undefined
}

function VariantRow({ path, variant, currency, price, isSaved, onPaste }: VariantRowProps) {
  const { set, changes } = useForm()
  const label = labelOf(variant)
  const cost = useMoney({ path: `${path}.unit_price_minor`, currency, none: price, optional: true })
  const units = useNumber({ path: `${path}.total` })
  const sku = useText({ path: `${path}.sku`, optional: true })
  const [total, withheld, sold, held] = [variant.total, variant.buffer, variant.sold, variant.held].map(
    (value) => Number(value) || 0,
  ) as [number, number, number, number]
  const paste = (field: Field) => (event: ClipboardEvent) => {
    const next = onPaste(field, event.clipboardData?.getData('text') ?? '')
    if (!next) return
    event.preventDefault()
    set(path.replace(/\.\d+$/, ''), next)
  }
  const isChanged = changes.some((one) => isWithin(one.path, path))
  return (
    <tr class={isChanged ? 'chosen' : undefined}>
      <th scope="row">
        <b>{label}</b> <small class="quiet mono wide">{variant.variant_id}</small>
      </th>
      <td class="n">
        <Framed level={cost.level}>
          <input {...cost.input} aria-label={`Price of ${label}`} size={5} onPaste={paste('unit_price_minor')} />
        </Framed>
      </td>
      <td class="n">
        <Framed level={units.level}>
          <input {...units.input} aria-label={`Units of ${label}`} size={5} onPaste={paste('total')} />
        </Framed>
      </td>
      {isSaved && (
        <>
          <td class="wide">
            <StockMeter total={total} sold={sold} held={held} />
          </td>
          <td class="n wide">{count(sold + held)}</td>
          <td class="n">
            <b>{count(total - withheld - sold - held)}</b>
          </td>
        </>
      )}
      <td class="wide">
        <Framed level={sku.level}>
          <input {...sku.input} aria-label={`SKU of ${label}`} size={6} onPaste={paste('sku')} />
        </Framed>
      </td>
    </tr>
  )
}

interface TotalsProps {
  readonly variants: readonly Variant[]
  readonly isSaved: boolean
  readonly path: string
}

function Totals({ variants, isSaved, path }: TotalsProps) {
  const { changes } = useForm()
  const units = unitsOf(variants)
  const sum = (field: 'sold' | 'held' | 'buffer') => variants.reduce((all, one) => all + (Number(one[field]) || 0), 0)
  const taken = sum('sold') + sum('held')
  const more = changes
    .filter(({ path: at }) => isWithin(at, path) && at.endsWith('.total'))
    .reduce((all, { before, after }) => all + (Number(after) || 0) - (Number(before) || 0), 0)
  return (
    <tr>
      <th scope="row">In all</th>
      <td />
      <td class="n">
        <b>{units === null ? 'not yet' : count(units)}</b>
      </td>
      {isSaved && (
        <>
          <td class="wide small quiet">{units !== null && more !== 0 && `was ${count(units - more)}`}</td>
          <td class="n wide">
            <b>{count(taken)}</b>
          </td>
          <td class="n">
            <b>{units !== null && count(units - taken - sum('buffer'))}</b>
          </td>
        </>
      )}
      <td class="wide" />
    </tr>
  )
}
