/**
 * The messages to an endpoint, by state. A row opens to its attempts, the last answer and what was sent; chosen ones
 * are sent again together.
 */
import { useSignal } from '@preact/signals'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { Link, useSearch } from 'wouter-preact'
import type { Delivery } from '../../../../../shared/api/operators/answers.ts'
import { clock } from '../../../../../shared/format.ts'
import { count, moment, textIn, time } from '../../format.ts'
import { instantOf } from '../../local-time.ts'
import { Confirm, Copy, Failure } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Labelled } from '../../sheet/controls.tsx'
import { Effects } from '../../sheet/dialog.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { State as Mark } from '../../sheet/marks.tsx'
import { Section } from '../../sheet/page.tsx'
import { type Endpoint, readDeliveries, sendAgain } from './calls.ts'

const REFRESH_MS = 3_000
const STATES = [
  ['', 'All'],
  ['pending', 'Waiting'],
  ['delivered', 'Sent'],
  ['dead', 'Given up'],
] as const
const AGAIN = { goesOn: 'the same messages go out once more, with their ids, in their order' } as const
const NO_UNDO = 'there is none; receivers know a message by its id'

export function Deliveries({ endpoint }: { readonly endpoint: Endpoint }) {
  const state = new URLSearchParams(useSearch()).get('state') ?? ''
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const opened = useSignal<string | null>(null)
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: ['deliveries', endpoint.endpoint, state],
    queryFn: ({ pageParam }) =>
      readDeliveries(endpoint.endpoint, { ...(state && { state }), ...(pageParam && { after: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: REFRESH_MS,
  })
  const found = data?.pages.flatMap(({ deliveries }) => deliveries) ?? []
  const mayBeSent = may('owner') ? found.filter((one) => one.state !== 'pending') : []
  const wanted = mayBeSent.filter(({ delivery }) => chosen.value.has(delivery)).map(({ delivery }) => delivery)
  const choose = (ids: readonly string[], isOn: boolean) => {
    const next = new Set(chosen.value)
    for (const id of ids) isOn ? next.add(id) : next.delete(id)
    chosen.value = next
  }
  const counts: Readonly<Record<string, number | undefined>> = { pending: endpoint.waiting, dead: endpoint.dead }
  return (
    <Section
      title="Deliveries"
      aside={
        <>
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
                {counts[value] !== undefined && ` ${count(counts[value])}`}
              </Link>
            ))}
          </nav>
          {may('owner') && <SendRange endpoint={endpoint} />}
        </>
      }
    >
      <Failure error={error} />
      {data && found.length === 0 && <p class="quiet">There is no such delivery.</p>}
      {found.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard.
        <section class="scroll" tabIndex={0} aria-label="Deliveries, as a table">
          <table class="fold">
            <thead>
              <tr>
                {mayBeSent.length > 0 && (
                  <td>
                    <input
                      type="checkbox"
                      aria-label="Choose all shown that can be sent again"
                      checked={wanted.length === mayBeSent.length}
                      onChange={({ currentTarget }) =>
                        choose(
                          mayBeSent.map(({ delivery }) => delivery),
                          currentTarget.checked,
                        )
                      }
                    />
                  </td>
                )}
                <th scope="col">Event</th>
                <th scope="col">State</th>
                <th scope="col">About</th>
                <th scope="col" class="n wide">
                  Attempts
                </th>
                <th scope="col" class="wide">
                  Last answer
                </th>
                <th scope="col" class="n">
                  Since
                </th>
              </tr>
            </thead>
            <tbody>
              {found.map((one) => (
                <Row
                  key={one.delivery}
                  one={one}
                  endpoint={endpoint}
                  isOpen={opened.value === one.delivery}
                  isChosen={mayBeSent.length === 0 ? null : wanted.includes(one.delivery)}
                  onOpen={() => (opened.value = opened.value === one.delivery ? null : one.delivery)}
                  onChoose={(isOn) => choose([one.delivery], isOn)}
                />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {hasNextPage && (
        <p>
          <button type="button" class="btn" disabled={isFetching} onClick={() => void fetchNextPage()}>
            Show more
          </button>
        </p>
      )}
      {wanted.length > 0 && (
        <fieldset class="row bulk" aria-label="Chosen deliveries">
          <p>
            <b>{count(wanted.length)}</b> chosen
          </p>
          <Confirm
            action="Send again together"
            act={`Send ${count(wanted.length)} again`}
            icon="again"
            effect={<Effects effects={{ ...AGAIN, undo: NO_UNDO }} />}
            onConfirm={async () => {
              const done = await sendAgain(endpoint, { deliveries: wanted })
              chosen.value = new Set()
              return done
            }}
          />
          <button type="button" class="btn bare" onClick={() => (chosen.value = new Set())}>
            Choose none
          </button>
        </fieldset>
      )}
    </Section>
  )
}

const SendRange = ({ endpoint }: { readonly endpoint: Endpoint }) => (
  <Confirm
    action="Send a range again"
    icon="again"
    effect={
      <Effects
        effects={{
          goesOn: 'every message made in this time, sent or given up, goes out once more, with its id, in order',
          undo: NO_UNDO,
        }}
      />
    }
    onConfirm={(form) => sendAgain(endpoint, { from: timeIn(form, 'from'), to: timeIn(form, 'to') })}
  >
    <Labelled label="From" input={{ type: 'datetime-local', step: '1', name: 'from', required: true }} />
    <Labelled label="Until" input={{ type: 'datetime-local', step: '1', name: 'to', required: true }} />
  </Confirm>
)

const timeIn = (form: FormData, name: string) => instantOf(textIn(form, name))

interface RowProps {
  readonly one: Delivery
  readonly endpoint: Endpoint
  readonly isOpen: boolean
  /** Null where no row can be chosen. */
  readonly isChosen: boolean | null
  onOpen(): void
  onChoose(isOn: boolean): void
}

function Row({ one, endpoint, isOpen, isChosen, onOpen, onChoose }: RowProps) {
  const { delivery, type, state, attempts, created_at, body } = one
  return (
    <>
      <tr class={isOpen || isChosen ? 'chosen' : undefined}>
        {isChosen !== null && (
          <td class="a">
            {state !== 'pending' && (
              <input
                type="checkbox"
                aria-label={`Choose ${type} of ${moment(created_at)}`}
                checked={isChosen}
                onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
              />
            )}
          </td>
        )}
        <th scope="row">
          <button type="button" class="opens mono" aria-expanded={isOpen} onClick={onOpen}>
            {type}
          </button>
        </th>
        <td>
          <State one={one} />
        </td>
        <td class="z">
          <About body={body} />
        </td>
        <td class="n wide">{count(attempts)}</td>
        <td class="wide answer">{answerOf(one)}</td>
        <td class="n z quiet">
          <time dateTime={created_at}>{moment(created_at)}</time>
        </td>
      </tr>
      {isOpen && (
        <tr key={`${delivery} open`}>
          <td colSpan={isChosen === null ? 6 : 7}>
            <Opened one={one} endpoint={endpoint} />
          </td>
        </tr>
      )}
    </>
  )
}

const answerOf = ({ error, status, attempts }: Delivery) =>
  attempts === 0 ? 'waits for its turn' : (error ?? (status === null ? 'being sent' : String(status)))

/** The attempts, what came back last, and what was sent. */
function Opened({ one, endpoint }: Pick<RowProps, 'one' | 'endpoint'>) {
  const { tries, attempts, state, next_attempt_at, error, status, body, message_id, type, created_at, delivery } = one
  const sent = `webhook-id: ${message_id}\n${JSON.stringify(body, null, 2)}`
  const earlier = attempts - tries.length
  return (
    <div class="quote cards opened">
      <div class="stack close">
        <h3>Attempts</h3>
        {tries.length === 0 && <p class="quiet">None yet.</p>}
        <ol class="story">
          {state === 'pending' && next_attempt_at !== null && attempts > 0 && (
            <li class="is-info">
              <span class="mk">
                <Icon name="clock" />
              </span>
              <p>
                Tried again in <b>{clock('en', Math.max(0, (Date.parse(next_attempt_at) - Date.now()) / 1000))}</b>
              </p>
              <time dateTime={next_attempt_at}>{time(next_attempt_at)}</time>
            </li>
          )}
          {tries.toReversed().map(({ at, ms, status, error }) => (
            <li key={at} class={error === null ? 'is-good' : 'is-watch'}>
              <span class="mk">
                <Icon name={error === null ? 'check' : 'x'} />
              </span>
              <p>
                {error ?? status} <span class="quiet small">{(ms / 1000).toFixed(1)} s</span>
              </p>
              <time dateTime={at}>{time(at)}</time>
            </li>
          ))}
        </ol>
        {earlier > 0 && tries.length > 0 && <p class="small quiet">and {count(earlier)} before</p>}
      </div>
      <div class="stack close">
        <h3>What it answered last</h3>
        <pre class="mono" dir="ltr">
          {error ?? (status === null ? 'nothing yet' : `${status}`)}
        </pre>
        <h3>What was sent</h3>
        <pre class="mono" dir="ltr">
          {sent}
        </pre>
        <p class="row">
          {may('owner') && state !== 'pending' && (
            <Confirm
              action="Send it again"
              act="Send it again"
              icon="again"
              name={`Send it again: ${type} of ${moment(created_at)}`}
              effect={
                <Effects effects={{ goesOn: 'the same message goes out once more, with its id', undo: NO_UNDO }} />
              }
              onConfirm={() => sendAgain(endpoint, { delivery })}
            />
          )}
          <Copy name="what was sent" text={sent} />
        </p>
      </div>
    </div>
  )
}

/** Links to the order or the sale of a message. */
function About({ body }: Pick<Delivery, 'body'>) {
  const { data } = body as { readonly data?: { readonly order_id?: string; readonly sale?: string } | null }
  if (data?.order_id) return <Link href={`/console/orders/${data.order_id}`}>order …{data.order_id.slice(-8)}</Link>
  return data?.sale ? <Link href={`/console/sales/${data.sale}`}>{data.sale}</Link> : null
}

function State({ one: { state, attempts } }: { readonly one: Delivery }) {
  if (state === 'delivered') return <Mark level="good">Sent</Mark>
  if (state === 'dead') return <Mark level="bad">Given up</Mark>
  return attempts > 0 ? <Mark level="watch">Fails</Mark> : <Mark level="off">In line</Mark>
}
