/**
 * One product with the content of its pages and its terms of sale: pictures, texts, options with their variants,
 * limits.
 */
import { useRef } from 'preact/hooks'
import { decimal } from '../../../../../shared/format.ts'
import { count } from '../../parts.tsx'
import { type Body, valueAt } from '../sale-form/draft.ts'
import { MoneyField, NumberField, TextField, TextsField, useForm } from '../sale-form/fields.tsx'
import { Folded, RemoveProduct } from '../sale-form/sections.tsx'
import { ListField, MarkdownField, Rows } from './goods-fields.tsx'
import { Pictures } from './picture-fields.tsx'
import { VariantTable } from './variant-table.tsx'
import { type Option, optionsOf, unitsOf, type Variant, variantsOf, withOptions } from './variants.ts'

const MOST_OPTIONS = 3

export function Product({ i, isOpen }: { i: number; isOpen: boolean }) {
  const { body } = useForm()
  const product = valueAt(body, `products.${i}`) as Body
  const path = `products.${i}`
  const variants = variantsOf(product)
  const name = String(product.name || `Product ${i + 1}`)
  const currency = String(product.currency)
  const more = ['names', 'limit', 'weight_grams', 'tags', 'terms', 'product_id', 'currency', 'buffer']
  return (
    <Folded
      title={
        <>
          {name} <span class="quiet">{inShort(product, variants)}</span>
        </>
      }
      paths={[path]}
      isOpen={isOpen}
    >
      <div class="fields">
        <TextField path={`${path}.name`} label="Name" />
        <MoneyField path={`${path}.unit_price_minor`} label={`Price (${currency})`} currency={currency} />
        {variants.length === 0 && <NumberField path={`${path}.total`} label="Units" />}
      </div>
      <TextsField path={`${path}.subtitle`} label="Line below the name" />
      <h3>Pictures</h3>
      <Pictures path={`${path}.images`} />
      <MarkdownField
        path={`${path}.description`}
        label="Description"
        hint="Markdown: **bold**, lists with -, links. An empty language shows the English text."
      />
      <h3>Sizes, colours and other options</h3>
      <Options i={i} product={product} />
      <Folded title="Limit, terms, tags, weight, other languages" paths={more.map((one) => `${path}.${one}`)} isInner>
        <div class="fields">
          <NumberField
            path={`${path}.limit`}
            label="Most units for one visitor"
            none="as of the sale"
            hint={variants.length > 0 ? 'Of each variant.' : undefined}
          />
          <NumberField
            path={`${path}.weight_grams`}
            label="Weight in grams"
            none="none"
            hint="Decides what delivery costs."
          />
          <ListField
            path={`${path}.tags`}
            label="Tags"
            none="none"
            hint="With commas between them. Found by the search."
          />
          <TextField path={`${path}.product_id`} label="Product id" hint="In orders and exports." />
          <TextField path={`${path}.currency`} label="Currency" />
          {variants.length === 0 && <NumberField path={`${path}.buffer`} label="Units withheld" />}
        </div>
        <TextsField path={`${path}.names`} label="Name in other languages" />
        <MarkdownField
          path={`${path}.terms`}
          label="Terms to accept"
          rows={3}
          hint="Whoever buys it must accept them. Empty: none."
        />
      </Folded>
      <RemoveProduct i={i} />
    </Folded>
  )
}

/** Summarises the product, for example "EUR 189.00, 120 units in 14 variants". */
function inShort({ unit_price_minor: price, currency, total }: Body, variants: readonly Variant[]): string {
  const units = variants.length > 0 ? unitsOf(variants) : typeof total === 'number' ? total : null
  return [
    ...(typeof price === 'number' ? [`${currency} ${decimal(price, String(currency))}`] : []),
    ...(units === null ? [] : [`${count(units)} units${variants.length > 0 ? ` in ${variants.length} variants` : ''}`]),
  ].join(', ')
}

function Options({ i, product }: { i: number; product: Body }) {
  const { body, set } = useForm()
  const path = `products.${i}`
  const options = optionsOf(product)
  const variants = variantsOf(product)
  // Variants that a change of the options removes are remembered, so that they can return unchanged.
  const remembered = useRef<readonly Variant[]>([])
  const write = (before: readonly Option[], after: readonly Option[]) => {
    const taken = (body.products as readonly Body[]).flatMap((one) => [
      String(one.product_id),
      ...variantsOf(one).map(({ variant_id }) => variant_id),
    ])
    remembered.current = [...variants, ...remembered.current].slice(0, 200)
    set(path, withOptions(product, { before, after, remembered: remembered.current, taken }))
  }
  return (
    <>
      <Rows
        path={`${path}.options`}
        of="Option"
        add={options.length === 0 ? 'Add an option, such as sizes' : 'Add another option'}
        empty={{ name: options.length === 0 ? 'Size' : '', values: [] }}
        most={MOST_OPTIONS}
        nameOf={(option) => option.name}
        onRows={(after) => {
          const left = options.filter((option) => after.includes(option as unknown as Body))
          write(left, after as unknown as readonly Option[])
        }}
      >
        {(at, option) => {
          const place = Number(at.split('.').at(-1))
          const change = (to: Partial<Option>) =>
            write(options, options.with(place, { ...(option as unknown as Option), ...to }))
          return (
            <>
              <TextField path={`${at}.name`} label="What there is to choose" onText={(name) => change({ name })} />
              <TextsField path={`${at}.names`} label="Its name in other languages" />
              <ListField
                path={`${at}.values`}
                label="Values"
                hint="With commas between them, in the order of the page."
                onList={(values) => change({ values })}
              />
            </>
          )
        }}
      </Rows>
      {variants.length > 0 && <VariantTable path={`${path}.variants`} product={product} />}
    </>
  )
}
