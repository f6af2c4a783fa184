/** The sections about orders: payment, delivery and contact, mails, and what is rarely needed. */

import type { ComponentChildren } from 'preact'
import { LANGUAGES } from '../../../../../../shared/api/fields.ts'
import { MAILS, type MailKind } from '../../../../../../shared/api/mails.ts'
import { languageName } from '../../../format.ts'
import { Segmented } from '../../../sheet/controls.tsx'
import { Icon } from '../../../sheet/icon.tsx'
import { Dot } from '../../../sheet/marks.tsx'
import { inWords } from '../changes/field-words.ts'
import { valueAt } from '../draft.ts'
import { isWithin, useField, useForm } from '../fields/form.tsx'
import { FixedRow, NumberRow, SelectRow, SwitchRow, TextRow } from '../fields/rows.tsx'
import { FormSection } from './main-sections.tsx'

const PAYMENTS = [
  ['provider', 'The payment provider'],
  ['handover', 'The shop, in its own checkout'],
] as const

export function PaySection({ toGoods }: { readonly toGoods: ComponentChildren }) {
  const { body, isNew, set } = useForm()
  const hasSeller = Boolean(body.seller)
  return (
    <FormSection id="pay" title="Payment" aside={<span class="small quiet">fees and tax: {toGoods}</span>}>
      {isNew ? (
        <SelectRow
          path="payment"
          label="Who takes the money"
          options={PAYMENTS}
          note={body.payment === 'handover' && 'Buyers go to the address below. It cannot be changed later.'}
        />
      ) : (
        <FixedRow
          label="Who takes the money"
          value={inWords('payment', body.payment, body)}
          why="fixed since it was created"
        />
      )}
      {body.payment === 'handover' && (
        <TextRow
          path="delivery.return_url"
          label="The shop’s checkout"
          note="It gets each hold, signed, and says by a signed call what it sold."
          placeholder="https://"
        />
      )}
      <SwitchRow
        path="seller"
        label="Receipts"
        text="name the seller"
        isOn={hasSeller}
        onTurn={(isOn) => set('seller', isOn ? { name: '', address: '', tax_id: '' } : null)}
      />
      {hasSeller && (
        <>
          <TextRow path="seller.name" label="Seller" />
          <TextRow path="seller.address" label="Address" rows={2} />
          <TextRow path="seller.tax_id" label="Tax number" isShort />
        </>
      )}
    </FormSection>
  )
}

const KINDS = [
  ['none', 'Nothing is sent'],
  ['pickup', 'It is picked up'],
  ['address', 'It is sent to an address'],
  ['handover', 'The shop asks for it, after the payment'],
] as const
const ASKED = [
  ['off', 'No'],
  ['optional', 'May'],
  ['required', 'Must'],
] as const
const OF_DELIVERY = [
  ['delivery.ask.name', 'Name'],
  ['delivery.ask.phone', 'Telephone'],
  ['delivery.ask.company', 'Company'],
  ['delivery.ask.note', 'Note'],
] as const

export function AsksSection({ toGoods }: { readonly toGoods: ComponentChildren }) {
  const { body } = useForm()
  const kind = valueAt(body, 'delivery.kind')
  const countries = (valueAt(body, 'delivery.countries') ?? []) as readonly string[]
  const prices = (valueAt(body, 'delivery.prices') ?? []) as readonly unknown[]
  const asks = [['contact.email', 'E-mail address'] as const, ...(kind === 'handover' ? [] : OF_DELIVERY)]
  return (
    <FormSection id="asks" title="Delivery and contact">
      <SelectRow
        path="delivery.kind"
        label="It reaches its buyer"
        options={KINDS}
        note={
          kind === 'address' && (
            <>
              {countries.length === 0 ? 'Every country' : `${countries.length} countries`},{' '}
              {prices.length === 0 ? 'free' : `${prices.length} prices`}: {toGoods}.
            </>
          )
        }
      />
      {kind === 'pickup' && (
        <TextRow path="delivery.pickup" label="Where and when" note="For people." rows={2} optional />
      )}
      {kind === 'handover' && body.payment !== 'handover' && (
        <TextRow
          path="delivery.return_url"
          label="Where buyers go"
          note="The shop’s address, after the payment. It gets the order, signed."
          placeholder="https://"
          optional
        />
      )}
      <div class="set">
        <span>Checkout asks for</span>
        <table>
          <tbody>
            {asks.map(([path, label]) => (
              <AskedRow key={path} path={path} label={label} />
            ))}
          </tbody>
        </table>
      </div>
      <SwitchRow path="contact.address" label="Network address" text="kept with the order, for support" />
      <NumberRow path="contact.retention_days" label="Kept after the sale" unit="days" />
    </FormSection>
  )
}

function AskedRow({ path, label }: { readonly path: string; readonly label: string }) {
  const { form, value, level, note } = useField({ path })
  return (
    <tr>
      <th scope="row">
        {label}
        {level !== '' && <p class="note plain">{note}</p>}
      </th>
      <td class="n">
        <Segmented
          label={label}
          value={String(value ?? 'off')}
          options={ASKED}
          onChoose={(chosen) => form.set(path, chosen)}
        />
      </td>
    </tr>
  )
}

/** Each mail, and who gets it. */
const MAIL_WORDS: Readonly<Record<MailKind, readonly [name: string, who: string]>> = {
  turn_near: ['Your turn is near', 'who asks in line'],
  turn: ['It is your turn', 'who asks in line'],
  sold_out: ['Sold out before your turn', 'who asks in line'],
  restocked: ['More has come in', 'who asks when it is sold out'],
  hold_ends: ['Your hold ends in 30 seconds', 'buyers with an address'],
  hold_ended: ['Your hold has ended, here is the line', 'one for each address'],
  confirmed: ['Confirmed', 'buyers'],
  declined: ['Declined', 'buyers'],
  cancelled: ['Ended, and why', 'not paid in time, refused after all, or one too many'],
  refunded: ['Refunded', 'buyers'],
  sent: ['Sent', 'buyers'],
}

export function WordsSection({ toBrand }: { readonly toBrand: ComponentChildren }) {
  const { body, changes, set } = useForm()
  const chosen = (body.mails ?? []) as readonly string[]
  const before = changes.find(({ path }) => path === 'mails')?.before as readonly string[] | undefined
  const choose = (kind: MailKind, isChosen: boolean) =>
    set(
      'mails',
      MAILS.filter((one) => (one === kind ? isChosen : chosen.includes(one))),
    )
  return (
    <FormSection id="words" title="Languages and mails">
      <div class="set">
        <span>Pages speak</span>
        <p class="row tight-row">
          {LANGUAGES.map((one) => (
            <span key={one} class="tag">
              {languageName(one)}
            </span>
          ))}
        </p>
        <p class="note">A text of yours that one lacks is shown in English. Words of your own on pages: {toBrand}.</p>
      </div>
      <table>
        <thead>
          <tr>
            <th scope="col">Mail, where a mail server is set up</th>
            <th scope="col" class="n">
              Sent
            </th>
          </tr>
        </thead>
        <tbody>
          {MAILS.map((kind) => {
            const [name, who] = MAIL_WORDS[kind]
            const isChanged = before !== undefined && before.includes(kind) !== chosen.includes(kind)
            return (
              <tr key={kind} class={isChanged ? 'chosen' : undefined}>
                <th scope="row">
                  {name}
                  <br />
                  <small class="quiet plain">
                    {isChanged && <Dot level="info" />} {isChanged ? 'changed; ' : ''}
                    {who}
                  </small>
                </th>
                <td class="n">
                  <input
                    type="checkbox"
                    class="switch"
                    aria-label={`Send: ${name}`}
                    checked={chosen.includes(kind)}
                    onChange={({ currentTarget }) => choose(kind, currentTarget.checked)}
                  />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </FormSection>
  )
}

const IN_MORE = ['max_unpaid_orders', 'oversell_policy', 'indexed', 'test']

export function MoreSection() {
  const { body, isNew, wrong, conflicts } = useForm()
  const needs = [...wrong.keys(), ...conflicts.map(({ path }) => path)].some((field) =>
    IN_MORE.some((path) => isWithin(field, path)),
  )
  const inShort = [
    `${inWords('max_unpaid_orders', body.max_unpaid_orders, body)} unpaid orders`,
    inWords('oversell_policy', body.oversell_policy, body),
    `search engines ${inWords('indexed', body.indexed, body)}`,
  ].join(', ')
  return (
    <section class="sec" id="more" aria-label="Rarely needed">
      <details class="parts" open={needs || undefined}>
        <summary>
          <h2>Rarely needed</h2>
          <span class="quiet">{inShort}</span>
          <Icon name="down" />
        </summary>
        <div class="stack more">
          <NumberRow
            path="max_unpaid_orders"
            label="Unpaid orders"
            unit="of a visitor"
            note="With so many that came to nothing, others come first."
          />
          <SelectRow
            path="oversell_policy"
            label="If oversold"
            note="Only an outside fault can cause it."
            options={[
              ['alarm', 'Raise an alarm, and leave it to people'],
              ['cancel_latest', 'Cancel the latest orders'],
              ['fulfil_from_buffer', 'Fulfil them from the units withheld'],
            ]}
          />
          <SwitchRow path="indexed" label="Search engines" text="may show the sale" />
          {isNew ? (
            <SwitchRow
              path="test"
              label="Test sale"
              text="only payments of the sandbox, and every page says so"
              note="It cannot be changed later."
            />
          ) : (
            <FixedRow label="Test sale" value={body.test ? 'Yes' : 'No'} why="fixed since it was created" />
          )}
        </div>
      </details>
    </section>
  )
}
