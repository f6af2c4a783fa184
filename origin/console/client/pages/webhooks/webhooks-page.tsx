/** The webhooks: all endpoints, and the chosen one with its messages, responses and actions. */
import './webhooks.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { Link, useSearch } from 'wouter-preact'
import { roughly } from '../../../../../shared/format.ts'
import { Confirm, Copy, count, Failure, Loading, textIn, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Head } from '../../sheet/page.tsx'
import { add, type Change, change, type Endpoint, nameOf, readEndpoints, remove, rotate, sendTest } from './calls.ts'
import { Deliveries } from './deliveries.tsx'

const REFRESH_MS = 3_000

export function WebhooksPage() {
  const { data, error } = useQuery({ queryKey: ['webhooks'], queryFn: readEndpoints, refetchInterval: REFRESH_MS })
  const made = useSignal<Endpoint | null>(null)
  const wanted = new URLSearchParams(useSearch()).get('endpoint')
  useTitle('Webhooks · Console')
  const endpoints = data?.webhooks ?? []
  const chosen = endpoints.find(({ endpoint }) => endpoint === wanted) ?? endpoints[0]
  return (
    <>
      <Head title="Webhooks">
        {may('owner') && (
          <Confirm
            action="New endpoint"
            effect="It gets what happens from now on. Its secret is shown once, afterwards."
            onConfirm={async (form) => {
              made.value = await add(changeIn(form))
              return { text: `${nameOf(made.value)} is sent what happens.` }
            }}
          >
            <Fields />
          </Confirm>
        )}
      </Head>
      <Failure error={error} />
      {made.value && <Secret endpoint={made.value} />}
      {!data && !error && <Loading />}
      {data && endpoints.length === 0 && <p>No system is told of orders yet.</p>}
      <ul class="cards" aria-label="Endpoints">
        {endpoints.map((one) => (
          <li key={one.endpoint} class="card">
            <div class="card-head">
              <h2>
                <Link
                  href={`/console/webhooks?endpoint=${one.endpoint}`}
                  aria-current={one === chosen ? 'true' : undefined}
                >
                  {nameOf(one)}
                </Link>
              </h2>
              <State endpoint={one} />
            </div>
            <code class="quiet">{one.url}</code>
            <p>{waitingIn(one)}</p>
          </li>
        ))}
      </ul>
      {chosen && (
        <section class="sec" aria-label={nameOf(chosen)} key={chosen.endpoint}>
          <div class="card-head">
            <h2>{nameOf(chosen)}</h2>
            {may('owner') && <Actions endpoint={chosen} onRotated={(rotated) => (made.value = rotated)} />}
          </div>
          <p class="quiet">
            hears {chosen.events.includes('*') ? 'everything' : chosen.events.join(', ')}; secret{' '}
            <code>{chosen.secret}</code>
            {chosen.secrets_live > 1 && ', and the one before signs too, for a day'}
          </p>
          {chosen.failure && (
            <p class="bad">
              It last answered <code>{chosen.failure}</code>. It is tried again by itself, for a day.
            </p>
          )}
          <Deliveries endpoint={chosen} />
        </section>
      )}
    </>
  )
}

function State({ endpoint: { state, failure } }: { endpoint: Endpoint }) {
  if (state === 'paused') return <span class="phase is-off">Paused</span>
  return failure ? <span class="phase is-watch">Fails</span> : <span class="phase is-good">Active</span>
}

function waitingIn({ waiting = 0, oldest_seconds, dead = 0 }: Endpoint): string {
  const since = oldest_seconds ? `, the oldest for ${roughly('en', oldest_seconds)}` : ''
  return `${waiting === 0 ? 'Nothing waits' : `${count(waiting)} wait${waiting === 1 ? 's' : ''}${since}`}${dead > 0 ? `; ${count(dead)} given up` : ''}.`
}

/** The secret is shown only once. */
function Secret({ endpoint }: { endpoint: Endpoint }) {
  return (
    <section class="sec" role="status">
      <p>
        The secret of <b>{nameOf(endpoint)}</b>, which is shown only now
        {endpoint.secrets_live > 1 && '; for 24 hours messages have two signatures, by it and by the one before'}:
      </p>
      <p>
        <code>{endpoint.secret}</code> <Copy name="the secret" text={endpoint.secret} />
      </p>
    </section>
  )
}

function Actions({ endpoint, onRotated }: { endpoint: Endpoint; onRotated: (rotated: Endpoint) => void }) {
  const name = nameOf(endpoint)
  return (
    <div class="buttons">
      {endpoint.state === 'active' ? (
        <>
          <Confirm
            action="Send a test"
            act="Send a test"
            effect={
              'A message of the type webhook.test, signed as all others. It is among the deliveries with its ' +
              'answer.'
            }
            onConfirm={() => sendTest(endpoint)}
          />
          <Confirm
            action="Pause"
            act="Pause now"
            effect="Nothing is sent. Its messages wait, a day at most; then they are given up. Undo: Resume."
            onConfirm={() => change(endpoint, { state: 'paused' })}
          />
        </>
      ) : (
        <Confirm
          action="Resume"
          act="Resume now"
          effect="What waits is sent in its order, and what happens from now on. Undo: Pause."
          onConfirm={() => change(endpoint, { state: 'active' })}
        />
      )}
      <Confirm
        action="Change"
        effect="It counts for what is sent from now on, what waits included. Undo: change it back."
        onConfirm={(form) => change(endpoint, changeIn(form))}
      >
        <Fields endpoint={endpoint} />
      </Confirm>
      <Confirm
        action="Rotate the secret"
        act="Make a new secret"
        effect={
          'A new secret signs at once. The one before signs beside it for 24 hours, so that the shop can change ' +
          'over. There is no undo.'
        }
        onConfirm={async () => {
          onRotated(await rotate(endpoint))
          return { text: `${name} has a new secret. The old one is valid for 24 hours.` }
        }}
      />
      <Confirm
        action="Delete"
        danger
        effect={`${name} gets nothing any more, and its deliveries are forgotten. There is no undo.`}
        onConfirm={() => remove(endpoint)}
      />
    </div>
  )
}

function Fields({ endpoint }: { endpoint?: Endpoint }) {
  return (
    <>
      <label>
        Address
        <input
          name="url"
          type="url"
          required
          maxLength={2000}
          defaultValue={endpoint?.url}
          placeholder="https://shop.example/hooks"
        />
      </label>
      <label>
        Events, or * for all
        <textarea name="events" rows={3} required defaultValue={endpoint?.events.join('\n') ?? '*'} />
        <small class="quiet">one a line, such as order.confirmed</small>
      </label>
      <label>
        Name, for operators
        <input name="note" maxLength={200} defaultValue={endpoint?.note} autocomplete="off" />
      </label>
    </>
  )
}

/** The API validates the values. */
const changeIn = (form: FormData): Change => ({
  url: textIn(form, 'url'),
  events: textIn(form, 'events').split(/[\s,]+/),
  note: textIn(form, 'note'),
})
