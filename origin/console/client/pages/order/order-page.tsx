/** One order: its picture, amount and state, what may be done, its story, and the facts beside it. */
import './order.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { Link } from 'wouter-preact'
import { money } from '../../../../../shared/format.ts'
import { admin, read } from '../../api.ts'
import { day, moment, textIn, time } from '../../format.ts'
import { Failure, Loading, useSubmit, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Icon } from '../../sheet/icon.tsx'
import { Dot, State } from '../../sheet/marks.tsx'
import { Columns, Head, Section } from '../../sheet/page.tsx'
import { Picture } from '../../sheet/picture.tsx'
import { Actions } from './actions.tsx'
import { Facts } from './facts.tsx'
import { boughtIn, isPending, type Order, stateOf } from './order.ts'
import { describe, reasonInWords, storyOf } from './timeline.ts'

/** The page refreshes often while a change is expected, and otherwise in case another operator changes the order. */
const [PENDING_MS, SETTLED_MS] = [2_000, 10_000]

export function OrderPage({ order: id }: { order: string }) {
  const { data: order, error } = useQuery({
    queryKey: ['order', id],
    queryFn: () => read(admin.orders[':order'].$get({ param: { order: encodeURIComponent(id) } })),
    refetchInterval: ({ state }) => (!state.data || isPending(state.data) ? PENDING_MS : SETTLED_MS),
  })
  useTitle(`Order ${order?.short_number ?? id.slice(0, 8)} · Console`)
  if (!order)
    return (
      <>
        <Head title="Order" sub={<Link href="/console/orders">Orders</Link>} />
        {error ? <Failure error={error} /> : <Loading />}
      </>
    )
  const { short_number, sale, sale_name, total_minor, refunded_minor, currency, picture } = order
  const [level, state] = stateOf(order)
  const pictured = [{ name: order.product_name, images: picture === null ? [] : [{ url: picture }] }]
  return (
    <>
      <header class="head">
        <Picture products={pictured} isLarge />
        <div>
          <p class="row small quiet tight-row">
            <Link href="/console/orders">Orders</Link>
            <Link href={`/console/orders?sale=${sale}`}>{sale_name}</Link>
            <span class="mono">{short_number ?? order.order_id.slice(0, 8)}</span>
          </p>
          <h1>
            <span class="unseen">Order {short_number}, </span>
            <span class="big">{money('en', total_minor, currency)}</span>
          </h1>
          <p class="row tight-row">
            <State level={level}>{state}</State>
            <span>{boughtIn(order)}</span>
            {refunded_minor > 0 && <span>{money('en', refunded_minor, currency)} was given back</span>}
            {order.reason_in_full && <span class="quiet">{reasonInWords(order.reason_in_full)}</span>}
          </p>
        </div>
        <Actions order={order} />
      </header>
      <Failure error={error} />
      {order.block && (
        <p class="row is-bad blocked-buyer">
          <Dot level="bad" />
          <span>
            <b>The buyer is blocked</b> since {moment(order.block.blocked_at)}
            {order.block.note !== '' && `: ${order.block.note}`}
          </span>
        </p>
      )}
      <Columns split="minmax(0, 1fr) 22rem">
        <Story order={order} />
        <div>
          <Facts order={order} />
        </div>
      </Columns>
    </>
  )
}

function Story({ order }: { readonly order: Order }) {
  const isWhole = useSignal(false)
  const entries = storyOf(order.history, isWhole.value)
  const now = new Date().toDateString()
  return (
    <Section
      title="What happened"
      aside={
        <label class="row small check-row">
          <input type="checkbox" checked={isWhole.value} onChange={() => (isWhole.value = !isWhole.value)} />
          All fields
        </label>
      }
    >
      {may('operator') && <NoteForm order={order.order_id} />}
      <ol class="story" aria-label="Timeline">
        {entries.map((entry, i) => {
          const { title, text, icon, level } = describe(entry, order, time)
          const at = new Date(entry.at)
          const date = at.toDateString()
          const isNewDay = date !== (i === 0 ? now : new Date(entries[i - 1]?.at ?? 0).toDateString())
          return (
            <li key={`${entry.at} ${entry.kind} ${entry.what} ${i}`} class={level && `is-${level}`}>
              <span class="mk">
                <Icon name={icon} />
              </span>
              <div>
                <p>{title}</p>
                {text !== '' && <p class={entry.kind === 'note' ? 'note-text' : 'small quiet'}>{text}</p>}
                {isWhole.value && Object.keys(entry.detail).length > 0 && (
                  <pre>{JSON.stringify(entry.detail, null, 2)}</pre>
                )}
              </div>
              <time dateTime={entry.at} title={isWhole.value ? undefined : `${moment(entry.at)}.${millisOf(at)}`}>
                {isNewDay && `${day(entry.at)}, `}
                {time(entry.at)}
                {isWhole.value && `.${millisOf(at)}`}
              </time>
            </li>
          )
        })}
      </ol>
    </Section>
  )
}

const millisOf = (at: Date) => String(at.getMilliseconds()).padStart(3, '0')

function NoteForm({ order }: { readonly order: string }) {
  const note = async (form: FormData) => {
    await admin.orders[':order'].notes.$post({ param: { order }, json: { text: textIn(form, 'text') } })
    return { text: 'The note is in the timeline.' }
  }
  const { onSubmit, error } = useSubmit(note, (form) => form.reset())
  return (
    <form class="stack close" onSubmit={onSubmit}>
      <div class="row no-wrap">
        <label class="field note-field">
          <Icon name="note" />
          <span class="unseen">Note, for operators only</span>
          <textarea name="text" rows={1} maxLength={2000} required placeholder="Write a note, for operators only" />
        </label>
        <button type="submit" class="btn">
          Add<span class="unseen"> the note</span>
        </button>
      </div>
      <Failure error={error} />
    </form>
  )
}
