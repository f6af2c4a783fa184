/** The controls of a sale. Each describes its effect, asks for confirmation, and offers an undo if there is one. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { LANGUAGES } from '../../../../../shared/api/fields.ts'
import { Choose, Confirm, count, instant, languageName, textIn } from '../../parts.tsx'
import { may } from '../../session.ts'
import { soldBy } from '../../sold-by.ts'
import { PAUSE_REASONS } from './pause-reasons.ts'
import { end, open, pause, restock, resume, type State, setRate } from './sale-actions.ts'

const numberIn = (form: FormData, name: string) => Number(form.get(name))

/** The texts of a form by language, without empty ones. */
export function textsIn(form: FormData): Record<string, string> {
  const texts = LANGUAGES.map((language) => [language, textIn(form, language)] as const)
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
}

/** Opens, pauses, resumes and ends the sale. The controls are next to the phase. */
export function PhaseControls({ state }: { state: State }) {
  const { phase, paused, name } = state
  if (!may('operator') || phase === 'ended') return null
  return (
    <div class="buttons">
      {phase === 'upcoming' && (
        <Confirm
          action="Open now"
          effect={
            `${name} opens at once: the draw is made, and people are called in. There is no undo, but it ` +
            'can be paused.'
          }
          onConfirm={() => open(state)}
        />
      )}
      {paused ? (
        <Confirm
          action="Resume"
          effect="The line goes on where it stood. Undo: pause."
          onConfirm={() => resume(state, state.pause_reason)}
        />
      ) : (
        <Pause state={state} />
      )}
      <Confirm
        action="End the sale"
        danger
        effect="Nobody can buy any more, for good. What is held may still be paid. There is no undo."
        onConfirm={(form) => {
          if (form.get('sale') !== state.sale) throw new Error(`Type ${state.sale} to end it.`)
          return end(state)
        }}
      >
        <label>
          Type <code>{state.sale}</code>
          <input name="sale" autocomplete="off" required />
        </label>
      </Confirm>
    </div>
  )
}

/** Pausing takes one click and Enter. A reason is optional. */
function Pause({ state }: { state: State }) {
  const chosen = useSignal('')
  const language = useSignal<string>('en')
  const ready = PAUSE_REASONS[chosen.value]?.text
  return (
    <Confirm
      action="Pause"
      act="Pause now"
      effect={
        <ul class="effects">
          <li>
            <b>Stops:</b> nobody is called, nobody can reserve
          </li>
          <li>
            <b>Goes on:</b> payments that have begun; {count(state.invariant.held)}{' '}
            {state.invariant.held === 1 ? 'unit stays' : 'units stay'} held
          </li>
          <li>
            <b>Is kept:</b> every place in line, and every turn
          </li>
          <li>
            <b>Undo:</b> Resume; the line goes on where it stood
          </li>
        </ul>
      }
      onConfirm={(form) => {
        const own = textsIn(form)
        return pause(state, Object.keys(own).length > 0 ? own : (ready ?? null))
      }}
    >
      <Choose
        label="Why, as visitors read it"
        value={chosen.value}
        options={[['', 'No reason'], ...Object.entries(PAUSE_REASONS).map(([id, { name }]) => [id, name] as const)]}
        onChoose={(id) => (chosen.value = id)}
      />
      {ready && (
        <blockquote>
          <Choose
            label="They read"
            value={language.value}
            options={LANGUAGES.map((one) => [one, languageName(one)])}
            onChoose={(one) => (language.value = one)}
          />
          <p lang={language.value} dir="auto">
            {ready[language.value as keyof typeof ready]}
          </p>
        </blockquote>
      )}
      <details>
        <summary>In words of your own</summary>
        <Texts legend="Instead of the reason above" />
      </details>
    </Confirm>
  )
}

/** The control is next to the queue. */
export function RateControl({ state }: { state: State }) {
  if (!may('operator') || state.phase === 'ended') return null
  return (
    <Confirm
      action="Change rate"
      effect={
        `Now ${count(state.admission.rate_per_second)} people a second are called. It takes effect within two ` +
        'seconds. Undo: set it back.'
      }
      onConfirm={(form) => setRate(state, numberIn(form, 'rate'), state.admission.rate_per_second)}
    >
      <label>
        People a second
        <input
          type="number"
          name="rate"
          min="0.01"
          max="100000"
          step="any"
          required
          defaultValue={String(state.admission.rate_per_second)}
        />
      </label>
    </Confirm>
  )
}

/** The control is next to the stock. */
export function RestockControl({ state }: { state: State }) {
  // A seated section has as many units as seats, so it cannot be restocked.
  const products = soldBy(state.products).filter(({ section_type }) => section_type !== 'reserved')
  if (!may('operator') || state.phase === 'ended' || products.length === 0) return null
  return (
    <Confirm
      action="Restock"
      effect={
        'Adds units that are for sale at once. A sold-out sale is live again. Undo: edit the sale, down to what ' +
        'is held and sold.'
      }
      onConfirm={(form) => restock(state, textIn(form, 'product'), numberIn(form, 'quantity'))}
    >
      <label>
        Product
        <select name="product">
          {products.map(({ product_id, name }) => (
            <option key={product_id} value={product_id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        More units
        <input type="number" name="quantity" min="1" required />
      </label>
    </Confirm>
  )
}

/** Buttons of a feature that change what visitors read. */
export type NoticeControl = (props: { state: State }) => ComponentChild

interface Notices {
  readonly state: State
  readonly controls: readonly NoticeControl[]
}

/** Shows the current announcement and the reason of a pause, with what features offer to change them. */
export function Notices({ state, controls }: Notices) {
  const { announcement, pause_reason } = state
  return (
    <section class="card told" aria-label="What visitors read">
      <h2>What visitors read</h2>
      {announcement === null && pause_reason === null && <p class="quiet">Nothing beside the page itself.</p>}
      {announcement && (
        <Words
          title={`${announcement.level === 'warning' ? 'A warning' : 'Announced'}, ${instant(announcement.since)}`}
          text={announcement.text}
        />
      )}
      {pause_reason && <Words title="Paused, because" text={pause_reason} />}
      {may('operator') && (
        <div class="buttons start">
          {controls.map((Control) => (
            <Control key={Control.name} state={state} />
          ))}
        </div>
      )}
    </section>
  )
}

export function Words({ title, text }: { title: string; text: Readonly<Record<string, string | undefined>> }) {
  return (
    <div>
      <h3>{title}</h3>
      {LANGUAGES.map(
        (language) =>
          text[language] !== undefined && (
            <p key={language}>
              <small class="quiet">{languageName(language)}</small>
              <br />
              <span lang={language} dir="auto">
                {text[language]}
              </span>
            </p>
          ),
      )}
    </div>
  )
}

/** The fields for the level and the texts of an announcement. */
export function AnnouncementFields() {
  return (
    <>
      <label>
        Level
        <select name="level">
          <option value="info">For information</option>
          <option value="warning">Warning</option>
        </select>
      </label>
      <Texts legend="Text, in one language or more" />
    </>
  )
}

export function Texts({ legend }: { legend: string }) {
  return (
    <fieldset class="texts">
      <legend>{legend}</legend>
      {LANGUAGES.map((language) => (
        <label key={language}>
          {languageName(language)}
          <textarea name={language} lang={language} dir="auto" rows={2} maxLength={500} />
        </label>
      ))}
    </fieldset>
  )
}
