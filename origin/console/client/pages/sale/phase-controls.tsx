/** Opens, pauses, resumes and ends a sale. The main one of them stands in the head, and at the thumb on a phone. */
import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { LANGUAGES } from '../../../../../shared/api/fields.ts'
import { count, languageName } from '../../format.ts'
import { Confirm } from '../../parts.tsx'
import { Options, Segmented } from '../../sheet/controls.tsx'
import { Effects } from '../../sheet/dialog.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { NO_REASON, PAUSE_REASONS } from './pause-reasons.ts'
import { end, open, pause, resume, type State } from './sale-actions.ts'
import { Texts, textsIn } from './texts.tsx'

interface PhaseControlProps {
  readonly state: State
  readonly waiting?: number | null
  readonly mayCome?: number | null
  /** True beside a need, where it is no main action. */
  readonly isPlain?: boolean
}

/** The one main action of the page. */
export function PhaseControl({ state, waiting = null, mayCome = null, isPlain = false }: PhaseControlProps) {
  const { phase, paused, name } = state
  if (phase === 'ended') return null
  const look = isPlain ? undefined : 'primary'
  const keys = isPlain ? undefined : 'P'
  if (paused)
    return (
      <Confirm
        action="Resume"
        icon="play"
        look={look}
        keys={keys}
        effect={<Effects effects={{ goesOn: 'the line, where it stood', undo: 'pause' }} />}
        onConfirm={() => resume(state, state.pause_reason)}
      />
    )
  if (phase === 'upcoming')
    return (
      <Confirm
        action="Open now"
        icon="flag"
        look={look}
        effect={
          <Effects
            effects={{
              goesOn: `${name} opens at once: the draw is made, and people are called in`,
              undo: 'there is none, but the sale can be paused',
            }}
          />
        }
        onConfirm={() => open(state)}
      />
    )
  return <Pause state={state} waiting={waiting} mayCome={mayCome} isPlain={isPlain} />
}

/** Pausing takes one key and Enter. A reason is optional, and the dialog shows what visitors will read. */
function Pause({ state, waiting = null, mayCome = null, isPlain = false }: PhaseControlProps) {
  const chosen = useSignal<string>('none')
  const language = useSignal<string>('en')
  const own = useSignal<Readonly<Record<string, string>>>({})
  const ids = [...Object.keys(PAUSE_REASONS), 'none']
  const ready = PAUSE_REASONS[chosen.value]?.text
  const isOwn = Object.keys(own.value).length > 0
  const texts: Readonly<Record<string, string | undefined>> = isOwn ? own.value : (ready ?? NO_REASON)
  const shown = texts[language.value] === undefined ? Object.keys(texts)[0] : language.value
  const { held } = state.invariant
  return (
    <Confirm
      action="Pause"
      title={`Pause ${state.name}?`}
      sub="In force everywhere within two seconds."
      act="Pause now"
      icon="pause"
      look={isPlain ? undefined : 'primary'}
      keys={isPlain ? undefined : 'P'}
      onKeyDown={({ key, target }) => {
        const id = target instanceof HTMLTextAreaElement ? undefined : ids[Number(key) - 1]
        if (id !== undefined) chosen.value = id
      }}
      effect={
        <Effects
          effects={{
            stops: 'nobody is called, nobody can reserve',
            goesOn: `payments that have begun; ${count(held)} ${held === 1 ? 'unit stays' : 'units stay'} held`,
            isKept:
              (waiting === null ? 'every place in line' : `all ${count(waiting)} places in line`) +
              (mayCome === null ? ', and every turn' : `, and ${count(mayCome)} turns`),
            undo: 'Resume; the line goes on where it stood',
          }}
        />
      }
      onConfirm={(form) => {
        const written = textsIn(form)
        return pause(state, Object.keys(written).length > 0 ? written : (ready ?? null))
      }}
    >
      <Options
        legend="Why, as visitors read it"
        name="why"
        numbered
        value={chosen.value}
        options={[
          ...Object.entries(PAUSE_REASONS).map(([id, { name }]) => [id, name] as const),
          ['none', 'No reason'] as const,
        ]}
        onChoose={(id) => (chosen.value = id)}
      />
      <details>
        <summary class="small">In words of your own</summary>
        <div
          onInput={({ currentTarget }) => {
            const form = currentTarget.closest('form')
            if (form) own.value = textsIn(new FormData(form))
          }}
        >
          <Texts legend="Instead of the reason above" />
        </div>
      </details>
      <div class="quote">
        <div class="row small">
          <span class="quiet">They read</span>
          <span class="end">
            <Segmented
              label="Language"
              value={language.value}
              options={LANGUAGES.map((one) => [one as string, one.toUpperCase(), languageName(one)] as const)}
              onChoose={(one) => (language.value = one)}
            />
          </span>
        </div>
        <p class="read" lang={shown} dir="auto" aria-live="polite">
          {shown === undefined ? '' : texts[shown]}
        </p>
      </div>
    </Confirm>
  )
}

/** What is seldom done: ending the sale for good, and its other pages. */
export function MoreControls({ state }: { readonly state: State }) {
  const id = useId()
  return (
    <>
      <button type="button" class="btn bare" popovertarget={id} aria-label="More: preview, copy, end the sale">
        <Icon name="more" />
      </button>
      <div class="pop more" id={id} popover="auto">
        <ul class="menu">
          <li>
            <Link href={`/console/sales/${state.sale}/preview`}>
              <Icon name="eye" />
              See it as a visitor
            </Link>
          </li>
          <li>
            <Link href={`/console/sales/new?copy=${state.sale}`}>
              <Icon name="copy" />
              Copy the sale
            </Link>
          </li>
          <li>
            <Confirm
              action="End the sale"
              act="End the sale for good"
              icon="x"
              look="bare"
              danger
              effect={
                <Effects
                  effects={{
                    stops: 'nobody can buy any more, for good',
                    goesOn: 'what is held may still be paid',
                    undo: 'there is none',
                  }}
                />
              }
              onConfirm={(form) => {
                if (form.get('sale') !== state.sale) throw new Error(`Type ${state.sale} to end it.`)
                return end(state)
              }}
            >
              <label class="label">
                <span>
                  Type <code>{state.sale}</code>
                </span>
                <span class="field">
                  <input name="sale" autocomplete="off" required autofocus />
                </span>
              </label>
            </Confirm>
          </li>
        </ul>
      </div>
    </>
  )
}
