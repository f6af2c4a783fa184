/** The first sections of the form: what the sale is, when it is, what is sold, and how fast. */
import type { ComponentChildren } from 'preact'
import { Link } from 'wouter-preact'
import { money } from '../../../../../../shared/format.ts'
import { count, instant } from '../../../format.ts'
import { Icon } from '../../../sheet/icon.tsx'
import { StockMeter } from '../../../sheet/marks.tsx'
import { unitsOf, variantsOf } from '../../goods/variants.ts'
import { type Body, isSection, newProduct, valueAt } from '../draft.ts'
import { useForm } from '../fields/form.tsx'
import { FixedRow, MoneyRow, NumberRow, OtherLanguages, TextRow, TimeRow, ZoneRow } from '../fields/rows.tsx'

interface FormSectionProps {
  readonly id: string
  readonly title: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}

/** A section of the form; the index leads to it. */
export const FormSection = ({ id, title, aside, children }: FormSectionProps) => (
  <section class="sec" id={id} aria-label={title}>
    <header>
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
)

export function NameSection({ saleId }: { readonly saleId: string }) {
  const { isNew } = useForm()
  return (
    <FormSection id="name" title="Name and id">
      <TextRow path="name" label="Name" />
      <div class="set">
        <span />
        <OtherLanguages path="names" label="Name" />
      </div>
      {isNew ? (
        <TextRow path="sale" label="Id" note={`In addresses: /sales/${saleId || '…'}. It cannot be changed later.`} />
      ) : (
        <FixedRow
          label="Id"
          value={<span class="mono">{saleId}</span>}
          why="fixed since it was created; in addresses and exports"
        />
      )}
    </FormSection>
  )
}

interface WhenProps {
  readonly phase: string
  readonly hasLobbyOpened: boolean
  /** What a visitor goes through. */
  readonly timeline: ComponentChildren
}

export function WhenSection({ phase, hasLobbyOpened, timeline }: WhenProps) {
  const { body } = useForm()
  const hasOpened = phase !== 'upcoming'
  const lobby = valueAt(body, 'pre_queue_opens_at')
  return (
    <FormSection id="when" title="When">
      {timeline}
      <ZoneRow path="time_zone" label="Time zone" note="The sale’s; repeated actions follow it." />
      {hasLobbyOpened ? (
        <FixedRow
          label="Lobby opens"
          value={typeof lobby === 'string' ? instant(lobby) : 'at the creation'}
          why="it has"
        />
      ) : (
        <TimeRow
          path="pre_queue_opens_at"
          label="Lobby opens"
          none="Empty: people can join as soon as the sale is saved."
        />
      )}
      {hasOpened ? (
        <FixedRow label="Opens" value={instant(String(valueAt(body, 'opens_at')))} why="it has" />
      ) : (
        <TimeRow path="opens_at" label="Opens" />
      )}
      <TimeRow path="ends_at" label="Ends" none="Empty: when all is sold, or you end it." />
    </FormSection>
  )
}

const CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'SEK', 'DKK', 'NOK', 'PLN', 'CAD', 'AUD', 'KRW', 'AED', 'KWD']

export function StockSection({ saleId, toGoods }: { readonly saleId: string; readonly toGoods: ComponentChildren }) {
  const { body, isNew } = useForm()
  const products = (body.products ?? []) as readonly Body[]
  const hasSections = products.some(isSection)
  return (
    <FormSection id="stock" title="Stock and limits">
      {isNew ? <NewProducts toGoods={toGoods} /> : <ForSale products={products} toGoods={toGoods} />}
      {!isNew && (
        <p class="note">
          <Link href={`/console/sales/${saleId}/hall/import`}>
            {hasSections ? 'Change the sections of the hall' : 'Sell seats or standing places'}
          </Link>
        </p>
      )}
      <NumberRow
        path="limit_per_visitor"
        label="Most for one visitor"
        unit="units"
        note="A product may have less, under Goods."
      />
      <NumberRow path="limit_per_order" label="Most in one order" unit="units" none="as above" />
    </FormSection>
  )
}

const sumOf = (products: readonly Body[], field: string) =>
  products.reduce((sum, product) => sum + (Number(product[field]) || 0), 0)

/** All units that a product has: its own, or those of its variants. */
export function unitsOfProduct(product: Body): Readonly<Record<'total' | 'withheld' | 'sold' | 'held', number>> {
  const variants = variantsOf(product)
  const of = variants.length > 0 ? variants : [product]
  return { total: sumOf(of, 'total'), withheld: sumOf(of, 'buffer'), sold: sumOf(of, 'sold'), held: sumOf(of, 'held') }
}

/** What is for sale, as a sum that anybody can check. */
function ForSale({ products, toGoods }: { readonly products: readonly Body[]; readonly toGoods: ComponentChildren }) {
  const all = products.map(unitsOfProduct)
  const sum = (name: 'total' | 'withheld' | 'sold' | 'held') => all.reduce((units, one) => units + one[name], 0)
  const [total, withheld, sold, held] = [sum('total'), sum('withheld'), sum('sold'), sum('held')]
  const free = total - withheld - sold - held
  return (
    <div class="set">
      <span>For sale</span>
      <div class="stack for-sale">
        <p>
          <b>{count(total)} units</b> {named(products)}
        </p>
        <StockMeter total={total} sold={sold} held={held} />
        <p class="key">
          <Keyed colour="--c1" value={sold} name="sold" />
          <Keyed colour="--c2" value={held} name="held" />
          <Keyed value={free} name="free" />
          {withheld > 0 && <Keyed value={withheld} name="withheld" />}
        </p>
      </div>
      <p class="note">Products, prices, units and what is withheld: {toGoods}.</p>
    </div>
  )
}

const Keyed = ({
  colour,
  value,
  name,
}: {
  readonly colour?: string
  readonly value: number
  readonly name: string
}) => (
  <span>
    <i style={colour && `--c: var(${colour})`} />
    <b>{count(value)}</b> {name}
  </span>
)

/** "of Aurora One in 7 variants, €189.00", or "in 3 products". */
function named(products: readonly Body[]): string {
  const [only] = products
  if (!only || products.length > 1) return `in ${count(products.length)} products`
  const variants = variantsOf(only).length
  const price = only.unit_price_minor
  return [
    `of ${only.name}${variants > 0 ? ` in ${variants} variants` : ''}`,
    ...(typeof price === 'number' ? [money('en', price, String(only.currency))] : []),
  ].join(', ')
}

/** The products of a new sale with what each must have. The rest is under Goods. */
function NewProducts({ toGoods }: { readonly toGoods: ComponentChildren }) {
  const { body, wrong, set } = useForm()
  const products = (body.products ?? []) as readonly Body[]
  return (
    <>
      {products.map((product, i) => (
        <fieldset key={i} class="stack" aria-label={String(product.name || `Product ${i + 1}`)}>
          <TextRow path={`products.${i}.name`} label="Product" />
          <MoneyRow path={`products.${i}.unit_price_minor`} label="Price" currency={String(product.currency)} />
          <TextRow path={`products.${i}.currency`} label="Currency" list="currencies" isShort />
          {variantsOf(product).length > 0 ? (
            <FixedRow label="Units" value={inVariants(product)} why="under Goods" />
          ) : (
            <NumberRow path={`products.${i}.total`} label="Units" />
          )}
          <TextRow
            path={`products.${i}.product_id`}
            label="Product id"
            isShort
            note="In orders and exports. It cannot be changed later."
          />
          {products.length > 1 && <RemoveProduct i={i} />}
        </fieldset>
      ))}
      {wrong.has('products') && <p class="note is-bad">{wrong.get('products')}</p>}
      <datalist id="currencies">
        {CURRENCIES.map((currency) => (
          <option key={currency} value={currency} />
        ))}
      </datalist>
      <div class="row">
        <button type="button" class="btn" onClick={() => set('products', [...products, newProduct(products)])}>
          <Icon name="plus" />
          Add a product
        </button>
        <span class="note">Pictures, sizes, fees, delivery and brand: {toGoods}.</span>
      </div>
    </>
  )
}

const inVariants = (product: Body) => {
  const variants = variantsOf(product)
  const units = unitsOf(variants)
  return `${units === null ? '' : `${count(units)} in `}${variants.length} variants`
}

/** The button that removes a product. The last product cannot be removed. */
export function RemoveProduct({ i }: { readonly i: number }) {
  const { body, set } = useForm()
  const products = body.products as readonly Body[]
  if (products.length < 2) return null
  return (
    <p>
      <button type="button" class="btn" onClick={() => set('products', products.toSpliced(i, 1))}>
        <Icon name="bin" />
        Remove {String(products[i]?.name || `product ${i + 1}`)}
      </button>
    </p>
  )
}

interface RateProps {
  /** What is true now, while the sale runs: the people inside, and the holds. */
  readonly inside: number | null
  readonly held: number | null
}

export function RateSection({ inside, held }: RateProps) {
  const { body, isNew } = useForm()
  const expected = valueAt(body, 'expected_visitors')
  return (
    <FormSection id="rate" title="Rate and hold">
      <NumberRow
        path="admission.rate_per_second"
        label="Called"
        unit="a second"
        note="People who come to the checkout."
      />
      <NumberRow
        path="admission.max_inside"
        label="Most inside at once"
        unit="people"
        none="no limit"
        note={`Who have come and are not finished${inside === null ? '' : `; ${count(inside)} now`}.`}
      />
      <NumberRow
        path="hold_seconds"
        label="Hold"
        unit="seconds"
        note={`To pay.${held ? ` A change is for holds that begin after it; the ${count(held)} keep theirs.` : ''}`}
      />
      {isNew ? (
        <NumberRow
          path="expected_visitors"
          label="Expected visitors"
          none="as the edge is set"
          note="Decides how many can join at once. Read once, when the sale is created."
        />
      ) : (
        <FixedRow
          label="Expected visitors"
          value={typeof expected === 'number' ? count(expected) : 'as the edge is set'}
          why="read once, when it was created"
        />
      )}
    </FormSection>
  )
}
