/** The section about access: who may come into the sale, and the lines in which they wait. */
import { Icon } from '../../../sheet/icon.tsx'
import { type Body, type Json, valueAt } from '../draft.ts'
import { Framed, isWithin, useForm, useState } from '../fields/form.tsx'
import { useNumber, useText } from '../fields/inputs.ts'
import { NumberRow, OtherLanguages, SegmentRow, SelectRow, SwitchRow } from '../fields/rows.tsx'
import { FormSection } from './main-sections.tsx'

const SIGN_IN = [
  ['optional', 'May'],
  ['required', 'Must: one account, one place'],
] as const
const INVITATION = [
  ['off', 'For everyone'],
  ['required', 'Only with one'],
] as const
const USUAL_PROOF = 100_000

function AccessRows({ path }: { readonly path: string }) {
  const proof = valueAt(useForm().body, `${path}.proof_of_work`)
  const amount = typeof proof === 'number' || (typeof proof === 'string' && proof !== 'off' && proof !== 'auto')
  return (
    <>
      <SegmentRow path={`${path}.sign_in`} label="Signing in" options={SIGN_IN} />
      <SegmentRow path={`${path}.invitation`} label="Invitation" options={INVITATION} />
      <SelectRow
        path={`${path}.proof_of_work`}
        label="Proof of work"
        options={[
          [null, 'As the origin is set'],
          ['off', 'None'],
          ['auto', 'By itself: more for networks that send many'],
          [amount ? (proof ?? null) : USUAL_PROOF, 'A fixed amount'],
        ]}
      />
      {amount && (
        <NumberRow path={`${path}.proof_of_work`} label="How much" note="100,000 takes a phone about half a second." />
      )}
      <SwitchRow path={`${path}.turnstile`} label="Turnstile" text="Cloudflare’s, beside the proof" />
    </>
  )
}

export function WhoSection() {
  const { body, wrong, set } = useForm()
  const lines = (body.lines ?? []) as readonly Body[]
  const own = lines.flatMap((line, i) => (line.access ? [i] : []))
  return (
    <FormSection id="who" title="Who may come in">
      <AccessRows path="access" />
      <h3>Lines</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <section class="scroll" aria-label="Lines" tabIndex={0}>
        <table class="lines">
          <thead>
            <tr>
              <th scope="col">Id</th>
              <th scope="col">Visitors read</th>
              <th scope="col" class="n">
                Weight
              </th>
              <th scope="col" class="n">
                Before others
              </th>
              <th scope="col">Asks</th>
              {lines.length > 1 && (
                <td>
                  <span class="unseen">Remove</span>
                </td>
              )}
            </tr>
          </thead>
          <tbody>
            {lines.map((_, i) => (
              <LineRow key={i} i={i} lines={lines} />
            ))}
          </tbody>
        </table>
      </section>
      {[...wrong].flatMap(([field, text]) =>
        isWithin(field, 'lines')
          ? [
              <p key={field} class="note is-bad">
                {text}
              </p>,
            ]
          : [],
      )}
      {lines.map((line, i) => (
        <OtherLanguages
          key={i}
          path={`lines.${i}.name`}
          label={`name of ${line.line}`}
          summary={`What visitors read of ${line.line || `line ${i + 1}`}`}
        />
      ))}
      {own.map((i) => (
        <fieldset key={i} class="stack" aria-label={`What ${lines[i]?.line} asks`}>
          <h3>What {String(lines[i]?.line || `line ${i + 1}`)} asks</h3>
          <AccessRows path={`lines.${i}.access`} />
        </fieldset>
      ))}
      <p class="row">
        <button
          type="button"
          class="btn"
          onClick={() => set('lines', [...lines, { line: '', weight: 1, opens_early_seconds: 0, access: null }])}
        >
          <Icon name="plus" />
          Add a line
        </button>
        <span class="note">Each has its own draw; they share the rate by weight.</span>
      </p>
    </FormSection>
  )
}

function LineRow({ i, lines }: { readonly i: number; readonly lines: readonly Body[] }) {
  const { body, set } = useForm()
  const path = `lines.${i}`
  const name = String(lines[i]?.line || `line ${i + 1}`)
  const { level } = useState({ path })
  const id = useText({ path: `${path}.line` })
  const weight = useNumber({ path: `${path}.weight` })
  const early = useNumber({ path: `${path}.opens_early_seconds` })
  const access = valueAt(body, `${path}.access`)
  return (
    <tr class={level === 'is-info' ? 'chosen' : undefined}>
      <th scope="row">
        <Framed level={id.level}>
          <input {...id.input} aria-label={`Id of line ${i + 1}`} size={8} />
        </Framed>
      </th>
      <td>
        <LineName path={`${path}.name`} name={name} />
      </td>
      <td class="n">
        <Framed level={weight.level}>
          <input {...weight.input} aria-label={`Weight of ${name}`} size={3} />
        </Framed>
      </td>
      <td class="n">
        <Framed level={early.level} unit="s">
          <input {...early.input} aria-label={`Seconds before others, ${name}`} size={4} />
        </Framed>
      </td>
      <td>
        <Framed level="">
          <select
            aria-label={`What ${name} asks`}
            value={access ? 'own' : 'above'}
            onChange={({ currentTarget }) =>
              set(`${path}.access`, currentTarget.value === 'own' ? (valueAt(body, 'access') as Json) : null)
            }
          >
            <option value="above">as above</option>
            <option value="own">something else</option>
          </select>
        </Framed>
      </td>
      {lines.length > 1 && (
        <td>
          <button
            type="button"
            class="btn bare"
            aria-label={`Remove ${name}`}
            onClick={() => set('lines', lines.toSpliced(i, 1))}
          >
            <Icon name="bin" />
          </button>
        </td>
      )}
    </tr>
  )
}

/** The name that visitors read, in English; null takes none. */
function LineName({ path, name }: { readonly path: string; readonly name: string }) {
  const { body, set } = useForm()
  const { level } = useState({ path })
  const texts = (valueAt(body, path) ?? {}) as Body
  return (
    <Framed level={level}>
      <input
        aria-label={`Name of ${name} for visitors`}
        name={`${path}.en`}
        placeholder="for everyone"
        size={10}
        value={String(texts.en ?? '')}
        autocomplete="off"
        onInput={({ currentTarget: { value } }) => {
          const { en: _, ...others } = texts
          const next = value === '' ? others : { ...others, en: value }
          set(path, Object.keys(next).length > 0 ? next : null)
        }}
      />
    </Framed>
  )
}
