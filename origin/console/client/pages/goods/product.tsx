/** One product as a row that opens to its fields: pictures, texts, sizes, limits. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { money } from '../../../../../shared/format.ts'
import { count } from '../../format.ts'
import { Icon } from '../../sheet/icon.tsx'
import { Dot, State, StockMeter } from '../../sheet/marks.tsx'
import { Picture } from '../../sheet/picture.tsx'
import { type Body, valueAt } from '../sale-form/draft.ts'
import { Framed, isWithin, Row, useField, useForm } from '../sale-form/fields/form.tsx'
import { FixedRow, MoneyRow, NumberRow, OtherLanguages, TextRow } from '../sale-form/fields/rows.tsx'
import { RemoveProduct, unitsOfProduct } from '../sale-form/sections/main-sections.tsx'
import { ListRow, MarkdownRow } from './goods-fields.tsx'
import { Options } from './options.tsx'
import { Pictures } from './picture-fields.tsx'
import { VariantTable } from './variant-table.tsx'
import { optionsOf, type Variant, variantsOf } from './variants.ts'

/** A fold that opens by itself once it contains an error, and stays as the operator left it. */
export function useFold(isWrong: boolean, isOpenAtFirst = false) {
  const ref = useRef<HTMLDetailsElement>(null)
  const [open] = useState(isOpenAtFirst)
  useEffect(() => {
    if (isWrong && ref.current) ref.current.open = true
  }, [isWrong])
  return { ref, open }
}

/** True if there is an error in one of these fields. */
export function useIsWrong(paths: readonly string[]): boolean {
  const { wrong, conflicts } = useForm()
  const fields = [...wrong.keys(), ...conflicts.map(({ path }) => path)]
  return fields.some((field) => paths.some((path) => isWithin(field, path)))
}

export function Product({ i, isFirst }: { readonly i: number; readonly isFirst: boolean }) {
  const { body } = useForm()
  const path = `products.${i}`
  const product = valueAt(body, path) as Body
  const variants = variantsOf(product)
  const currency = String(product.currency)
  const fold = useFold(useIsWrong([path]), isFirst)
  return (
    <details class="item" {...fold}>
      <Summary path={path} product={product} variants={variants} />
      <div class="stack product">
        <TextRow path={`${path}.name`} label="Name" />
        <MoneyRow
          path={`${path}.unit_price_minor`}
          label="Price"
          currency={currency}
          note="What is in carts and paid keeps its price."
        />
        {variants.length === 0 && <NumberRow path={`${path}.total`} label="Units" />}
        <NumberRow
          path={`${path}.limit`}
          label="Most for one visitor"
          none={`${valueAt(body, 'limit_per_visitor')}, as of the sale`}
          note={variants.length > 0 ? 'Of all variants together.' : undefined}
        />
        <h3>
          Pictures <span class="quiet plain">drag to order; the first stands for the product</span>
        </h3>
        <Pictures path={`${path}.images`} />
        <MarkdownRow path={`${path}.description`} label="Description" note="Markdown." />
        <h3>Sizes and variants</h3>
        <Options i={i} product={product} />
        {variants.length > 0 && <VariantTable path={`${path}.variants`} product={product} />}
        <RarelyNeeded path={path} product={product} variants={variants} />
        <RemoveProduct i={i} />
      </div>
    </details>
  )
}

interface SummaryProps {
  readonly path: string
  readonly product: Body
  readonly variants: readonly Variant[]
}

function Summary({ path, product, variants }: SummaryProps) {
  const { total, sold, held, withheld } = unitsOfProduct(product)
  const { unit_price_minor: price, currency } = product
  const kinds = optionsOf(product).map(({ name, values }) => `${values.length} × ${name.toLowerCase()}`)
  const taken = sold + held
  return (
    <summary>
      <Picture products={[product as unknown as Parameters<typeof Picture>[0]['products'][number]]} />
      <span class="stack none">
        <b>{String(product.name || 'A new product')}</b>
        <small class="quiet">{String(product.product_id)}</small>
      </span>
      <span>{variants.length > 0 ? kinds.join(', ') : <span class="quiet">one kind</span>}</span>
      <b>
        {typeof price === 'number' ? money('en', price, String(currency)) : <span class="is-bad mark">no price</span>}
      </b>
      <span class="stack tight">
        <StockMeter total={total} sold={sold} held={held} />
        <small class="quiet">
          {product.sold === undefined
            ? `${count(total - withheld)}, from when it is saved`
            : `${count(taken)} of ${count(total)} taken`}
        </small>
      </span>
      <span>
        <ProductState path={path} />
      </span>
      <span class="turn">
        <Icon name="down" />
      </span>
    </summary>
  )
}

/** What needs the operator first, then what is new or changed. */
function ProductState({ path }: { readonly path: string }) {
  const { changes, wrong, conflicts } = useForm()
  const inside = (field: string) => isWithin(field, path)
  const faults = [...wrong.keys()].filter(inside).length
  if (faults > 0) return <State level="bad">{faults === 1 ? '1 field wrong' : `${faults} fields wrong`}</State>
  if (conflicts.some((one) => inside(one.path))) return <State level="watch">To decide</State>
  const own = changes.filter((one) => inside(one.path))
  if (own.length === 0) return null
  if (own.some((one) => one.path === path)) return <State level="info">New</State>
  return <State level="info">{own.length === 1 ? '1 change' : `${own.length} changes`}</State>
}

const RARE = ['names', 'subtitle', 'weight_grams', 'tags', 'terms', 'product_id', 'currency', 'buffer']

function RarelyNeeded({ path, product, variants }: SummaryProps) {
  const fold = useFold(useIsWrong(RARE.map((name) => `${path}.${name}`)))
  const isSaved = product.sold !== undefined
  const tags = ((product.tags ?? []) as readonly string[]).length
  const inShort = [
    typeof product.weight_grams === 'number' ? `${count(product.weight_grams)} g` : 'no weight',
    tags === 0 ? 'no tags' : tags === 1 ? '1 tag' : `${tags} tags`,
    product.terms ? 'terms to accept' : 'no terms',
    `${count(unitsOfProduct(product).withheld)} withheld`,
  ].join(', ')
  return (
    <details class="parts" {...fold}>
      <summary>
        <h3>Rarely needed</h3>
        <span class="quiet">{inShort}</span>
        <span class="turn end">
          <Icon name="down" />
        </span>
      </summary>
      <div class="stack more">
        <Row label="Line below the name">
          <OtherLanguages path={`${path}.subtitle`} label="Line below the name" summary="Such as an edition" />
        </Row>
        <NumberRow
          path={`${path}.weight_grams`}
          label="Weight"
          unit="g"
          none="none"
          note="Decides what delivery costs."
        />
        <ListRow path={`${path}.tags`} label="Tags" none="none" note="With commas between them. Found by the search." />
        <MarkdownRow path={`${path}.terms`} label="Terms to accept" rows={2} note="Whoever buys it must accept them." />
        <Row label="Names elsewhere">
          <OtherLanguages path={`${path}.names`} label="Name of the product" />
        </Row>
        {variants.length > 0 ? (
          <WithheldOfEach path={`${path}.variants`} variants={variants} />
        ) : (
          <NumberRow
            path={`${path}.buffer`}
            label="Withheld"
            unit="units"
            note="A buffer, to fulfil oversold orders."
          />
        )}
        {isSaved ? (
          <FixedRow
            label="Id, currency"
            value={
              <>
                <span class="mono">{String(product.product_id)}</span>
                <span>{String(product.currency)}</span>
              </>
            }
            why="in orders and exports"
          />
        ) : (
          <>
            <TextRow path={`${path}.product_id`} label="Product id" isShort note="In orders and exports." />
            <TextRow path={`${path}.currency`} label="Currency" isShort />
          </>
        )}
      </div>
    </details>
  )
}

/** One number of withheld units for all variants; empty while they differ. */
function WithheldOfEach({ path, variants }: { readonly path: string; readonly variants: readonly Variant[] }) {
  const { form, attributes } = useField({ path: `${path}.0.buffer` })
  const buffers = new Set(variants.map(({ buffer }) => Number(buffer ?? 0)))
  const fault = variants.map((_, i) => form.wrong.get(`${path}.${i}.buffer`)).find((one) => one !== undefined)
  const [only] = buffers
  return (
    <Row
      label="Withheld"
      id={attributes.id}
      level={fault === undefined ? '' : 'is-bad'}
      note={
        fault === undefined ? (
          'A buffer, to fulfil oversold orders.'
        ) : (
          <>
            <Dot level="bad" />
            {fault}
          </>
        )
      }
    >
      <Framed level={fault === undefined ? '' : 'is-bad'} isShort unit="of each">
        <input
          id={attributes.id}
          inputMode="numeric"
          autocomplete="off"
          value={buffers.size === 1 ? String(only) : ''}
          placeholder="they differ"
          onInput={({ currentTarget: { value } }) => {
            const buffer = Number(value)
            if (Number.isInteger(buffer))
              form.set(
                path,
                variants.map((variant) => ({ ...variant, buffer })),
              )
          }}
        />
      </Framed>
    </Row>
  )
}
