/** The chosen endpoint: how it answers, what happens by itself, its last minutes, and what can be done about it. */
import { useId } from 'preact/hooks'
import { Confirm } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Effects } from '../../sheet/dialog.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { Verdict } from '../../sheet/page.tsx'
import { change, type Endpoint, nameOf, remove, rotate, sendTest, tryNow } from './calls.ts'
import { DeliveryChart } from './delivery-chart.tsx'
import { changeIn, EndpointFields } from './endpoint-fields.tsx'
import { nextText, verdictOf } from './endpoint-words.ts'

interface ChosenProps {
  readonly endpoint: Endpoint
  onRotated(rotated: Endpoint): void
}

export function ChosenEndpoint({ endpoint, onRotated }: ChosenProps) {
  const { events, secret, secrets_live, state, reason = null } = endpoint
  const verdict = verdictOf(endpoint, Date.now())
  const isFailing = verdict.nextSeconds !== null
  return (
    <section class="sec" aria-label={nameOf(endpoint)}>
      <header>
        <h2 class="large">{nameOf(endpoint)}</h2>
        {may('owner') && (
          <div class="row end tight-row">
            <Actions endpoint={endpoint} onRotated={onRotated} />
          </div>
        )}
      </header>
      <p class="small quiet">
        hears {events.includes('*') ? 'everything' : events.join(', ')}; signs with <code dir="ltr">{secret}</code>
        {secrets_live > 1 && ', and the one before signs too, for a day'}
      </p>
      <Verdict level={verdict.level} text={verdict.text} aside={nextText(verdict) ?? undefined}>
        {verdict.advice !== null && (
          <li>
            <p>{verdict.advice}</p>
            {isFailing && may('operator') && (
              <Confirm
                action="Try now"
                icon="again"
                effect={
                  <Effects
                    effects={{
                      goesOn: `${nameOf(endpoint)} is asked at once, and gets what waits if it answers`,
                      undo: 'there is none; receivers know a message by its id',
                    }}
                  />
                }
                onConfirm={() => tryNow(endpoint)}
              />
            )}
            {state === 'paused' && may('owner') && <Resume endpoint={endpoint} />}
          </li>
        )}
      </Verdict>
      <DeliveryChart endpoint={endpoint} reason={reason} />
    </section>
  )
}

const Resume = ({ endpoint }: { readonly endpoint: Endpoint }) => (
  <Confirm
    action="Resume"
    act="Resume now"
    icon="play"
    effect={
      <Effects effects={{ goesOn: 'what waits is sent in its order, and what happens from now on', undo: 'Pause' }} />
    }
    onConfirm={() => change(endpoint, { state: 'active' })}
  />
)

function Actions({ endpoint, onRotated }: ChosenProps) {
  const id = useId()
  const name = nameOf(endpoint)
  return (
    <>
      {endpoint.state === 'active' ? (
        <>
          <Confirm
            action="Send a test"
            act="Send a test"
            icon="mail"
            effect="A message of the type webhook.test, signed as all others, which is among the deliveries."
            onConfirm={() => sendTest(endpoint)}
          />
          <Confirm
            action="Pause"
            act="Pause now"
            icon="pause"
            effect={
              <Effects
                effects={{
                  stops: 'nothing is sent to it',
                  isKept: 'its messages wait, a day at most; then they are given up',
                  undo: 'Resume',
                }}
              />
            }
            onConfirm={() => change(endpoint, { state: 'paused' })}
          />
        </>
      ) : (
        (endpoint.waiting ?? 0) === 0 && <Resume endpoint={endpoint} />
      )}
      <Confirm
        action="Rotate the secret"
        act="Make a new secret"
        icon="key"
        effect={
          <Effects
            effects={{
              goesOn: 'a new secret signs at once, and the one before beside it for 24 hours',
              undo: 'there is none',
            }}
          />
        }
        onConfirm={async () => {
          onRotated(await rotate(endpoint))
          return { text: `${name} has a new secret. The old one is valid for 24 hours.` }
        }}
      />
      <button type="button" class="btn bare" popovertarget={id} aria-label="More: change, delete">
        <Icon name="more" />
      </button>
      <div class="pop more" id={id} popover="auto">
        <ul class="menu">
          <li>
            <Confirm
              action="Change"
              icon="edit"
              look="bare"
              effect="It counts for what is sent from now on, what waits included. Undo: change it back."
              onConfirm={(form) => change(endpoint, changeIn(form))}
            >
              <EndpointFields endpoint={endpoint} />
            </Confirm>
          </li>
          <li>
            <Confirm
              action="Delete"
              act="Delete the endpoint"
              icon="bin"
              look="bare"
              danger
              effect={
                <Effects
                  effects={{
                    stops: `${name} gets nothing any more, and its deliveries are forgotten`,
                    undo: 'there is none',
                  }}
                />
              }
              onConfirm={() => remove(endpoint)}
            />
          </li>
        </ul>
      </div>
    </>
  )
}
