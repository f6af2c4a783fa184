/** The webhooks: all endpoints with their states, and the chosen one with its messages and answers. */
import './webhooks.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { Link, useSearch } from 'wouter-preact'
import { Confirm, Copy, Failure, Loading, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { State } from '../../sheet/marks.tsx'
import { EmptyState, Head } from '../../sheet/page.tsx'
import { add, type Endpoint, nameOf, readEndpoints } from './calls.ts'
import { Deliveries } from './deliveries.tsx'
import { ChosenEndpoint } from './endpoint.tsx'
import { changeIn, EndpointFields } from './endpoint-fields.tsx'
import { headOf, lineOf, verdictOf } from './endpoint-words.ts'

const REFRESH_MS = 3_000

export function WebhooksPage() {
  const { data, error } = useQuery({ queryKey: ['webhooks'], queryFn: readEndpoints, refetchInterval: REFRESH_MS })
  const made = useSignal<Endpoint | null>(null)
  const wanted = new URLSearchParams(useSearch()).get('endpoint')
  useTitle('Webhooks · Console')
  const endpoints = data?.webhooks ?? []
  const chosen = endpoints.find(({ endpoint }) => endpoint === wanted) ?? endpoints[0]
  const create = may('owner') && (
    <Confirm
      action="New endpoint"
      icon="plus"
      look="primary"
      effect="It gets what happens from now on. Its secret is shown once, afterwards."
      onConfirm={async (form) => {
        made.value = await add(changeIn(form))
        return { text: `${nameOf(made.value)} is sent what happens.` }
      }}
    >
      <EndpointFields />
    </Confirm>
  )
  return (
    <>
      <Head title="Webhooks" sub={data && headOf(endpoints, Date.now())}>
        {endpoints.length > 0 && create}
      </Head>
      <Failure error={error} />
      {made.value && <Secret endpoint={made.value} />}
      {!data && !error && <Loading />}
      {data && endpoints.length === 0 && (
        <EmptyState text="No system is told of orders yet.">
          {create || <p class="small quiet">An owner adds endpoints.</p>}
        </EmptyState>
      )}
      {endpoints.length > 0 && (
        <section class="sec" aria-label="Endpoints">
          <h2 class="unseen">Endpoints</h2>
          <ul class="cards endpoints" aria-label="Endpoints">
            {endpoints.map((one) => (
              <EndpointCard key={one.endpoint} endpoint={one} isChosen={one === chosen} />
            ))}
          </ul>
        </section>
      )}
      {chosen && (
        <ChosenEndpoint
          key={chosen.endpoint}
          endpoint={chosen}
          onRotated={(rotated) => {
            made.value = rotated
          }}
        />
      )}
      {chosen && <Deliveries key={chosen.endpoint} endpoint={chosen} />}
    </>
  )
}

function EndpointCard({ endpoint, isChosen }: { readonly endpoint: Endpoint; readonly isChosen: boolean }) {
  const { level, short } = verdictOf(endpoint, Date.now())
  return (
    <li class={isChosen ? 'card on' : 'card'}>
      <div class="row no-wrap">
        <h3>
          <Link href={`/console/webhooks?endpoint=${endpoint.endpoint}`} aria-current={isChosen ? 'true' : undefined}>
            {nameOf(endpoint)}
          </Link>
        </h3>
        <span class="end">
          <State level={level === 'info' ? 'off' : level}>{short}</State>
        </span>
      </div>
      <p class="small quiet mono address" dir="ltr">
        {endpoint.url.replace(/^https:\/\//, '')}
      </p>
      <p class="small">{lineOf(endpoint)}</p>
    </li>
  )
}

/** The secret is shown only once. */
function Secret({ endpoint }: { endpoint: Endpoint }) {
  return (
    <section class="sec" role="status">
      <p>
        The secret of <b>{nameOf(endpoint)}</b>, which is shown only now
        {endpoint.secrets_live > 1 && '; for 24 hours messages have two signatures, by it and by the one before'}:
      </p>
      <p class="row">
        <code>{endpoint.secret}</code> <Copy name="the secret" text={endpoint.secret} />
      </p>
    </section>
  )
}
