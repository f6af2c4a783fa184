/** The sections of the form: the essential ones first, the rare ones folded. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { MAILS, type MailKind } from '../../../../../shared/api/mails.ts'
import { count } from '../../parts.tsx'
import { unitsOf, variantsOf } from '../goods/variants.ts'
import { type Body, isSection, newProduct, valueAt } from './draft.ts'
import {
  Check,
  Choice,
  MoneyField,
  NumberField,
  TextField,
  TextsField,
  TimeField,
  useForm,
  ZoneField,
} from './fields.tsx'
import { forecastOf } from './forecast.ts'

const CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'SEK', 'DKK', 'NOK', 'PLN', 'CAD', 'AUD', 'KRW', 'AED', 'KWD']

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="sec" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

interface FoldedProps {
  readonly title: ComponentChildren
  /** The paths of its fields, or of their parents. */
  readonly paths: readonly string[]
  /** True if the section is open at first. */
  readonly isOpen?: boolean
  /** True if the section is inside another one. */
  readonly isInner?: boolean
  readonly children: ComponentChildren
}

/** A section that opens by itself if it contains an error. */
export function Folded({ title, paths, isOpen = false, isInner = false, children }: FoldedProps) {
  const { wrong } = useForm()
  const isWrong = [...wrong.keys()].some((field) => paths.some((path) => `${field}.`.startsWith(`${path}.`)))
  const details = useRef<HTMLDetailsElement>(null)
  // The section stays as the operator left it.
  const [wasOpen] = useState(isOpen)
  useEffect(() => {
    if (isWrong && details.current) details.current.open = true
  }, [isWrong])
  return (
    <details class={isInner ? 'inner' : 'card'} open={wasOpen} ref={details}>
      <summary>{isInner ? <h3>{title}</h3> : <h2>{title}</h2>}</summary>
      {children}
    </details>
  )
}

export function Products({ isNew }: { isNew: boolean }) {
  const { body, wrong, set } = useForm()
  const products = (body.products as readonly Body[] | undefined) ?? []
  const sections = products.filter(isSection)
  return (
    <Section title="What is sold">
      {sections.length > 0 && (
        <p>
          Seats and standing places: {sections.map(({ name }) => String(name)).join(', ')}.{' '}
          <Link href={`/console/sales/${body.sale}/hall/import`}>Change the hall</Link>
        </p>
      )}
      {products.map((product, i) =>
        isSection(product) ? null : (
          <fieldset key={i} class="group">
            <legend>{String(product.name || `Product ${i + 1}`)}</legend>
            <TextField path={`products.${i}.name`} label="Name of the product" />
            <TextField path={`products.${i}.product_id`} label="Product id" hint="In orders and exports." />
            <MoneyField path={`products.${i}.unit_price_minor`} label="Price" currency={String(product.currency)} />
            <TextField path={`products.${i}.currency`} label="Currency" list="currencies" />
            {variantsOf(product).length > 0 ? (
              <p>{inVariants(product)}</p>
            ) : (
              <>
                <NumberField path={`products.${i}.total`} label="Units" hint={taken(product)} />
                <NumberField
                  path={`products.${i}.buffer`}
                  label="Of them withheld"
                  hint="A buffer, to fulfil oversold orders."
                />
              </>
            )}
            <RemoveProduct i={i} />
          </fieldset>
        ),
      )}
      {wrong.has('products') && <small class="wrong">{wrong.get('products')}</small>}
      <datalist id="currencies">
        {CURRENCIES.map((currency) => (
          <option key={currency} value={currency} />
        ))}
      </datalist>
      <p>
        <button type="button" onClick={() => set('products', [...products, newProduct(products)])}>
          Add a product
        </button>
      </p>
      {!isNew && sections.length === 0 && (
        <p>
          <Link href={`/console/sales/${body.sale}/hall/import`}>Sell seats or standing places</Link>
        </p>
      )}
      <NumberField path="limit_per_visitor" label="Most units for one visitor" />
    </Section>
  )
}

/** The button that removes a product. The last product cannot be removed. */
export function RemoveProduct({ i }: { i: number }) {
  const { body, set } = useForm()
  const products = body.products as readonly Body[]
  if (products.length < 2) return null
  return (
    <button type="button" class="link" onClick={() => set('products', products.toSpliced(i, 1))}>
      Remove {String(products[i]?.name || `product ${i + 1}`)}
    </button>
  )
}

function inVariants(product: Body): string {
  const variants = variantsOf(product)
  const units = unitsOf(variants)
  return `${units === null ? '' : `${count(units)} units in `}${variants.length} variants, which are under Goods.`
}

function taken({ held, sold }: Body): string | undefined {
  const units = Number(held ?? 0) + Number(sold ?? 0)
  return units > 0 ? `${units} are held or sold: no fewer than that.` : undefined
}

export function Times() {
  return (
    <Section title="When">
      <TimeField path="opens_at" label="Opens" />
      <TimeField path="ends_at" label="Ends" none="Empty: when all is sold, or you end it." />
      <TimeField
        path="pre_queue_opens_at"
        label="The lobby opens"
        none="Empty: people can join as soon as the sale is saved."
      />
      <ZoneField path="time_zone" label="Time zone of repeated actions" />
    </Section>
  )
}

export function Rate({ isNew }: { isNew: boolean }) {
  const { body } = useForm()
  return (
    <Section title="How fast">
      <NumberField path="admission.rate_per_second" label="People a second who are called" />
      <p class="forecast" role="status">
        {forecastOf(body)}
      </p>
      <NumberField
        path="admission.max_inside"
        label="Most people in the shop at once"
        none="no limit"
        hint="Who have not finished yet."
      />
      <NumberField
        path="expected_visitors"
        label="Expected visitors"
        none="as the edge is set"
        hint={isNew ? 'Decides how many can join at once.' : 'Was read when the sale was created, and never again.'}
      />
    </Section>
  )
}

const SIGN_IN = [
  ['optional', 'optional'],
  ['required', 'required: one account, one place'],
] as const
const INVITATION = [
  ['off', 'for everyone'],
  ['required', 'only with an invitation'],
] as const

function Access({ path = 'access' }: { path?: string }) {
  const proof = valueAt(useForm().body, `${path}.proof_of_work`)
  const amount = typeof proof === 'number' || (typeof proof === 'string' && proof !== 'off' && proof !== 'auto')
  return (
    <>
      <Choice path={`${path}.sign_in`} label="Signing in to the shop" options={SIGN_IN} />
      <Choice path={`${path}.invitation`} label="Invitations" options={INVITATION} />
      <Choice
        path={`${path}.proof_of_work`}
        label="Proof of work"
        options={[
          [null, 'as the origin is set'],
          ['off', 'none'],
          ['auto', 'by itself: more for networks that send many'],
          [amount ? (proof ?? null) : 100_000, 'a fixed amount'],
        ]}
      />
      {amount && (
        <NumberField path={`${path}.proof_of_work`} label="How much" hint="100000 takes a phone about half a second." />
      )}
      <Check path={`${path}.turnstile`} label="Cloudflare Turnstile" />
    </>
  )
}

export function AccessSection() {
  return (
    <Folded title="Who may join" paths={['access']}>
      <Access />
    </Folded>
  )
}

export function Lines() {
  const { body, wrong, set } = useForm()
  const lines = (body.lines as readonly Body[] | undefined) ?? []
  return (
    <Folded title={`Lines (${lines.length})`} paths={['lines']}>
      <p class="quiet">Each has a draw and numbers of its own. They share the rate by weight.</p>
      {lines.map((line, i) => (
        <fieldset key={i} class="group">
          <legend>{String(line.line || `Line ${i + 1}`)}</legend>
          <TextField path={`lines.${i}.line`} label="Id of the line" hint="public is the one for everyone." />
          <TextsField path={`lines.${i}.name`} label="Name for visitors" hint="Empty: its id, or for everyone." />
          <NumberField path={`lines.${i}.weight`} label="Weight" />
          <NumberField path={`lines.${i}.opens_early_seconds`} label="Seconds before all others" />
          <label class="check">
            <input
              type="checkbox"
              checked={line.access !== null}
              onChange={(event) => set(`lines.${i}.access`, event.currentTarget.checked ? (body.access ?? {}) : null)}
            />
            Asks for something else than the sale
          </label>
          {line.access !== null && <Access path={`lines.${i}.access`} />}
          {lines.length > 1 && (
            <button
              type="button"
              class="link"
              onClick={() =>
                set(
                  'lines',
                  lines.filter((one) => one !== line),
                )
              }
            >
              Remove {String(line.line || `line ${i + 1}`)}
            </button>
          )}
        </fieldset>
      ))}
      {wrong.has('lines') && <small class="wrong">{wrong.get('lines')}</small>}
      <p>
        <button
          type="button"
          onClick={() => set('lines', [...lines, { line: '', weight: 1, opens_early_seconds: 0, access: null }])}
        >
          Add a line
        </button>
      </p>
    </Folded>
  )
}

export function Orders() {
  return (
    <Folded title="Orders" paths={['hold_seconds', 'max_unpaid_orders', 'oversell_policy']}>
      <NumberField path="hold_seconds" label="Seconds to pay" hint="So long units stay in a cart." />
      <NumberField
        path="max_unpaid_orders"
        label="Unpaid orders of one visitor"
        hint="Whoever has fewer that came to nothing comes first. So many or more count alike."
      />
      <Choice
        path="oversell_policy"
        label="If more was sold than there is"
        hint="Only an outside fault can cause it."
        options={[
          ['alarm', 'raise an alarm, and leave it to people'],
          ['cancel_latest', 'cancel the latest orders'],
          ['fulfil_from_buffer', 'fulfil them from the units withheld'],
        ]}
      />
    </Folded>
  )
}

const ASKED = [
  ['off', 'not asked for'],
  ['optional', 'may be left'],
  ['required', 'required'],
] as const

/** The content of each mail. */
const MAIL_NAMES: Readonly<Record<MailKind, string>> = {
  turn_near: 'Your turn is near (to those who ask in line)',
  turn: 'It is your turn (to those who ask in line)',
  sold_out: 'Sold out before your turn (to those who ask in line)',
  restocked: 'More has come in (to those who ask when it is sold out)',
  hold_ends: 'Your hold ends in 30 seconds',
  hold_ended: 'Your hold has ended, here is the line (one for each address)',
  confirmed: 'Confirmed',
  declined: 'Declined',
  cancelled: 'Ended, and why: not paid in time, refused after all, or one too many',
  refunded: 'Refunded',
  sent: 'Sent',
}

/** The choice of mails that the sale sends. */
function SentMails() {
  const { body, set } = useForm()
  const chosen = (body.mails ?? []) as readonly string[]
  const choose = (kind: MailKind, isChosen: boolean) =>
    set(
      'mails',
      MAILS.filter((one) => (one === kind ? isChosen : chosen.includes(one))),
    )
  return (
    <fieldset class="form-field">
      <legend>Mails, where a mail server is set up</legend>
      {MAILS.map((kind) => (
        <label key={kind} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(kind)}
            onChange={(event) => choose(kind, event.currentTarget.checked)}
          />
          {MAIL_NAMES[kind]}
        </label>
      ))}
    </fieldset>
  )
}

export function Contact() {
  return (
    <Folded title="How buyers are reached" paths={['contact', 'mails']}>
      <Choice path="contact.email" label="E-mail address" options={ASKED} />
      <Check path="contact.address" label="Keep the network address of a checkout" />
      <NumberField path="contact.retention_days" label="Days that it is kept after the sale" />
      <SentMails />
    </Folded>
  )
}

export function Receipts() {
  const { body, set } = useForm()
  return (
    <Folded title="Receipts" paths={['seller']}>
      <label class="check">
        <input
          type="checkbox"
          checked={Boolean(body.seller)}
          onChange={(event) =>
            set('seller', event.currentTarget.checked ? { name: '', address: '', tax_id: '' } : null)
          }
        />
        Receipts name the seller
      </label>
      {body.seller && (
        <>
          <TextField path="seller.name" label="Name of the seller" />
          <TextField path="seller.address" label="Address of the seller" rows={3} />
          <TextField path="seller.tax_id" label="Tax number" />
        </>
      )}
    </Folded>
  )
}

export function Page({ isNew }: { isNew: boolean }) {
  return (
    <Folded title="Search engines, test sale" paths={['indexed', 'test']}>
      <Check path="indexed" label="Search engines may show the sale" />
      <Check
        path="test"
        label="A test sale"
        disabled={!isNew}
        hint={
          isNew
            ? 'Only payments of the sandbox, and every page says so. It cannot be changed later.'
            : 'Fixed when the sale was created.'
        }
      />
    </Folded>
  )
}
