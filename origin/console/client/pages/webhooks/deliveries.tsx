/**
 * The messages sent to an endpoint, by state, with their attempts, the last response and the body. Each can be sent
 * again.
 */
import { useInfiniteQuery } from '@tanstack/preact-query'
import { Link, useSearch } from 'wouter-preact'
import type { Delivery } from '../../../../../shared/api/operators/answers.ts'
import { instantOf } from '../../local-time.ts'
import { Confirm, Failure, moment, TableHead, textIn } from '../../parts.tsx'
import { may } from '../../session.ts'
import { type Endpoint, readDeliveries, sendAgain } from './calls.ts'

const REFRESH_MS = 3_000
const STATES = [
  ['', 'All'],
  ['pending', 'Waiting'],
  ['delivered', 'Delivered'],
  ['dead', 'Given up'],
] as const

export function Deliveries({ endpoint }: { endpoint: Endpoint }) {
  const state = new URLSearchParams(useSearch()).get('state') ?? ''
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: ['deliveries', endpoint.endpoint, state],
    queryFn: ({ pageParam }) =>
      readDeliveries(endpoint.endpoint, { ...(state && { state }), ...(pageParam && { after: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: REFRESH_MS,
  })
  const found = data?.pages.flatMap(({ deliveries }) => deliveries) ?? []
  return (
    <>
      <div class="card-head">
        <nav class="seg" aria-label="State">
          {STATES.map(([value, text]) => (
            <Link
              key={value}
              href={`/console/webhooks?${new URLSearchParams({
                endpoint: endpoint.endpoint,
                ...(value && { state: value }),
              })}`}
              aria-current={value === state ? 'page' : undefined}
            >
              {text}
            </Link>
          ))}
        </nav>
        {may('owner') && (
          <Confirm
            action="Send a range again"
            effect={
              'Every message made in this time, delivered or given up, goes out once more, with its id, in order. ' +
              'Receivers know a message by its id. There is no undo.'
            }
            onConfirm={(form) => sendAgain(endpoint, { from: timeIn(form, 'from'), to: timeIn(form, 'to') })}
          >
            <label>
              From
              <input type="datetime-local" step="1" name="from" required />
            </label>
            <label>
              Until
              <input type="datetime-local" step="1" name="to" required />
            </label>
          </Confirm>
        )}
      </div>
      <Failure error={error} />
      {data && found.length === 0 && <p class="quiet">There is no such delivery.</p>}
      {found.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard.
        <section class="deliveries" tabIndex={0} aria-label="Deliveries, as a table">
          <table>
            <TableHead columns={['Event', 'State', 'About', 'Attempts', 'Last answer', 'Since', '']} texts={7} />
            <tbody>
              {found.map((one) => (
                <Row key={one.delivery} one={one} endpoint={endpoint} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {hasNextPage && (
        <p>
          <button type="button" disabled={isFetching} onClick={() => void fetchNextPage()}>
            More
          </button>
        </p>
      )}
    </>
  )
}

const timeIn = (form: FormData, name: string) => instantOf(textIn(form, name))

function Row({ one, endpoint }: { one: Delivery; endpoint: Endpoint }) {
  const { delivery, type, state, attempts, status, error, created_at, next_attempt_at, body } = one
  return (
    <tr>
      <th scope="row">
        <code>{type}</code>
        <details>
          <summary class="quiet">What was sent</summary>
          <pre>{`webhook-id: ${one.message_id}\n${JSON.stringify(body, null, 2)}`}</pre>
        </details>
      </th>
      <td>
        <State one={one} />
      </td>
      <td>
        <About body={body} />
      </td>
      <td data-name="Attempts">{attempts}</td>
      <td>
        {error ?? status ?? 'none yet'}
        {attempts > 0 && next_attempt_at && <div class="quiet">again {moment(next_attempt_at)}</div>}
      </td>
      <td>
        <time dateTime={created_at}>{moment(created_at)}</time>
      </td>
      <td>
        {may('owner') && state !== 'pending' && (
          <Confirm
            action="Send again"
            act="Send it again"
            name={`Send again: ${type} of ${moment(created_at)}`}
            effect="The same message with the same id, once more. Receivers know it by its id. There is no undo."
            onConfirm={() => sendAgain(endpoint, { delivery })}
          />
        )}
      </td>
    </tr>
  )
}

/** Links to the order or the sale of a message. */
function About({ body }: Pick<Delivery, 'body'>) {
  const { data } = body as { readonly data?: { readonly order_id?: string; readonly sale?: string } | null }
  if (data?.order_id) return <Link href={`/console/orders/${data.order_id}`}>order …{data.order_id.slice(-8)}</Link>
  return data?.sale ? <Link href={`/console/sales/${data.sale}`}>{data.sale}</Link> : null
}

function State({ one: { state, attempts } }: { one: Delivery }) {
  if (state === 'delivered') return <span class="phase is-good">Delivered</span>
  if (state === 'dead') return <span class="phase is-bad">Given up</span>
  return attempts > 0 ? <span class="phase is-watch">Fails</span> : <span class="phase is-off">Waiting</span>
}
