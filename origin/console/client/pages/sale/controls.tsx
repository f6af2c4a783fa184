/** What an operator can press, each with what it will do, a confirmation, and its undo where there is one. */
import { LANGUAGES } from '../../../../../shared/api/public.ts'
import { admin } from '../../api.ts'
import { Confirm, count, instant, languageName, textIn } from '../../parts.tsx'
import { may } from '../../session.ts'
import type { Live } from './live-stream.ts'

type State = Live['state']

const call = admin.sales[':sale']
const paramOf = ({ sale }: State) => ({ param: { sale } })
const numberIn = (form: FormData, name: string) => Number(form.get(name))

/** The texts of a form by language; those left empty are left out. */
export function textsIn(form: FormData): Record<string, string> {
  const texts = LANGUAGES.map((language) => [language, textIn(form, language)] as const)
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
}

/** Opens, pauses, resumes and ends the sale: beside the phase. */
export function PhaseControls({ state }: { state: State }) {
  const { phase, paused, name } = state
  if (!may('operator') || phase === 'ended') return null
  return (
    <div class="buttons">
      {phase === 'upcoming' && (
        <Confirm
          action="Open now"
          effect={`${name} opens at once: the draw is made, and people are called in. There is no undo, but it can be paused.`}
          onConfirm={() => call.open.$post(paramOf(state))}
        />
      )}
      {paused ? (
        <Confirm
          action="Resume"
          effect="The line goes on where it stood. Undo: pause."
          onConfirm={() => call.resume.$post(paramOf(state))}
        />
      ) : (
        <Confirm
          action="Pause"
          effect="Nobody is called and nobody can check out; everyone keeps their place, and held units stay held. Undo: resume."
          onConfirm={(form) => {
            const reason = textsIn(form)
            return call.pause.$post({ ...paramOf(state), json: Object.keys(reason).length > 0 ? { reason } : {} })
          }}
        >
          <Texts legend="Why, as visitors read it (may be left out)" />
        </Confirm>
      )}
      <Confirm
        action="End the sale"
        danger
        effect="Nobody can buy any more, for good. What is held may still be paid. There is no undo."
        onConfirm={(form) => {
          if (form.get('sale') !== state.sale) throw new Error(`Type ${state.sale} to end it.`)
          return call.end.$post(paramOf(state))
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

/** Beside the line. */
export function RateControl({ state }: { state: State }) {
  if (!may('operator') || state.phase === 'ended') return null
  return (
    <Confirm
      action="Change rate"
      effect={`Now ${count(state.admission.rate_per_second)} people a second are called. It takes effect within two seconds. Undo: set it back.`}
      onConfirm={(form) =>
        call.admission.$patch({ ...paramOf(state), json: { rate_per_second: numberIn(form, 'rate') } })
      }
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

/** Beside the stock. */
export function RestockControl({ state }: { state: State }) {
  if (!may('operator') || state.phase === 'ended') return null
  return (
    <Confirm
      action="Restock"
      effect="Adds units that are for sale at once. A sold-out sale is live again. Undo: edit the sale, down to what is held and sold."
      onConfirm={(form) =>
        call.products[':product'].restock.$post({
          param: { sale: state.sale, product: textIn(form, 'product') },
          json: { quantity: numberIn(form, 'quantity') },
        })
      }
    >
      <label>
        Product
        <select name="product">
          {state.products.map(({ product_id, name }) => (
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

/** What visitors read now, and a new announcement. */
export function Announcements({ state }: { state: State }) {
  const isOperator = may('operator')
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
      {isOperator && (
        <div class="buttons start">
          <Confirm
            action="Announce"
            effect="Everyone who waits reads it within three seconds. It takes the place of the one before. Undo: take it away."
            onConfirm={(form) =>
              call.announcement.$put({
                ...paramOf(state),
                json: { level: textIn(form, 'level') as 'info' | 'warning', text: textsIn(form) },
              })
            }
          >
            <AnnouncementFields />
          </Confirm>
          {announcement && (
            <Confirm
              action="Take it away"
              effect="Visitors no longer see the announcement. It stays in the list of announcements. Undo: announce it again."
              onConfirm={() => call.announcement.$delete(paramOf(state))}
            />
          )}
        </div>
      )}
    </section>
  )
}

function Words({ title, text }: { title: string; text: Readonly<Record<string, string | undefined>> }) {
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

/** How loud, and in which words. */
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
