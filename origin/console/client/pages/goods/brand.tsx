/**
 * The appearance of a sale: the shop's name, logo, colour, hero picture and own texts. It also has the place and date
 * of the event.
 */
import { useSignal } from '@preact/signals'
import * as v from 'valibot'
import { contrast } from '../../../../../edge/pages/brand.ts'
import en from '../../../../../edge/pages/words/en.json' with { type: 'json' }
import { LANGUAGES, TimeZone } from '../../../../../shared/api/fields.ts'
import { Choose, languageName } from '../../parts.tsx'
import { type Body, valueAt } from '../sale-form/draft.ts'
import { Field, TextField, TimeField, useField, useForm, ZoneField } from '../sale-form/fields.tsx'
import { Folded } from '../sale-form/sections.tsx'
import { Picture } from './picture-fields.tsx'

/** If no colour is chosen, the edge uses this one. */
const USUAL_ACCENT = '#00674b'
const HEX = /^#[0-9a-f]{6}$/i
/** Text with this contrast is readable (WCAG 2.2). */
const READABLE = 4.5

export function Brand() {
  const { body, set } = useForm()
  const hasBrand = Boolean(body.brand)
  return (
    <Folded title="Brand" paths={['brand']}>
      <label class="check">
        <input
          type="checkbox"
          checked={hasBrand}
          onChange={({ currentTarget }) => set('brand', currentTarget.checked ? { shop: '' } : null)}
        />
        The sale has a look of its own
      </label>
      {hasBrand && (
        <>
          <TextField path="brand.shop" label="Name of the shop" />
          <Accent />
          <Picture path="brand.logo" label="Logo" />
          <Picture path="brand.hero" label="Hero picture" />
          <OwnWords />
        </>
      )}
    </Folded>
  )
}

/** The place and date of an event, or of the pickup of goods. */
export function PlaceAndDate() {
  const { body, set } = useForm()
  const typed = valueAt(body, 'event.time_zone')
  const clock = v.is(TimeZone, typed) ? ({ zone: typed } as const) : {}
  return (
    <Folded title="Place and date" paths={['venue', 'event']}>
      <TextField path="venue" label="Where it takes place" hint="For people. Empty: nowhere in particular." optional />
      <label class="check">
        <input
          type="checkbox"
          checked={Boolean(body.event)}
          onChange={({ currentTarget }) =>
            set(
              'event',
              currentTarget.checked ? { starts_at: '', ends_at: null, time_zone: body.time_zone ?? '' } : null,
            )
          }
        />
        It has a date, which buyers can put in their calendars
      </label>
      {body.event && (
        <>
          <ZoneField path="event.time_zone" label="Time zone of the place" />
          <TimeField path="event.starts_at" label="Starts" {...clock} />
          <TimeField path="event.ends_at" label="Is over" none="Empty: not said." {...clock} />
        </>
      )}
    </Folded>
  )
}

function Accent() {
  const path = 'brand.accent'
  const { form, value, attributes, below } = useField({ path, label: 'Accent' })
  const colour = typeof value === 'string' && HEX.test(value) ? value : USUAL_ACCENT
  const write = (text: string) => form.set(path, text === '' ? undefined : text)
  return (
    <Field id={attributes.id} label="Accent" below={below}>
      <div class="accent">
        <input
          type="color"
          aria-label="Choose the accent"
          value={colour}
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
        <input
          {...attributes}
          value={String(value ?? '')}
          placeholder={USUAL_ACCENT}
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
        <Sample colour={colour} />
      </div>
    </Field>
  )
}

/** Shows a button in the colour, and whether the colour is readable as text on white. */
function Sample({ colour }: { colour: string }) {
  const [white, black] = [contrast(colour, '#ffffff'), contrast(colour, '#000000')]
  const [ink, name, ratio] = white >= black ? ['#ffffff', 'White', white] : ['#000000', 'Black', black]
  return (
    <p class="sample">
      <span style={`background: ${colour}; color: ${ink}`}>Reserve</span>
      <small class="quiet">
        {name} text on it has a contrast of {ratio.toFixed(1)} to 1.{' '}
        {white >= READABLE
          ? `As text on white it has ${white.toFixed(1)} to 1.`
          : `As text on white it has only ${white.toFixed(1)} to 1: links get a darker shade of it.`}
      </small>
    </p>
  )
}

const TEXTS = Object.entries(en).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text] as const] : []))
const short = (text: string) => (text.length > 60 ? `${text.slice(0, 59)}…` : text)

/** Texts of the pages that the shop replaces by its own, one language at a time. */
function OwnWords() {
  const { body, wrong, set } = useForm()
  const language = useSignal('en')
  const words = (valueAt(body, 'brand.words') ?? {}) as Readonly<Record<string, Readonly<Record<string, string>>>>
  const own = words[language.value] ?? {}
  const write = (next: Readonly<Record<string, string>>) => {
    const { [language.value]: _, ...others } = words
    const all = Object.keys(next).length > 0 ? { ...others, [language.value]: next } : others
    set('brand.words', Object.keys(all).length > 0 ? (all as Body) : undefined)
  }
  const many = Object.values(words).reduce((sum, texts) => sum + Object.keys(texts).length, 0)
  return (
    <Folded title={`Words of its own (${many})`} paths={['brand.words']} isInner>
      <Choose
        label="Language"
        value={language.value}
        options={LANGUAGES.map((one) => [one, languageName(one)])}
        onChoose={(one) => (language.value = one)}
      />
      {Object.entries(own).map(([name, text]) => {
        const ours = TEXTS.find(([one]) => one === name)?.[1] ?? name
        const fault = wrong.get(`brand.words.${language.value}.${name}`)
        return (
          <div key={name} class="form-field">
            <label for={`word-${name}`}>{short(ours)}</label>
            <input
              id={`word-${name}`}
              lang={language.value}
              dir="auto"
              value={text}
              aria-invalid={fault !== undefined}
              autocomplete="off"
              onInput={({ currentTarget }) => write({ ...own, [name]: currentTarget.value })}
            />
            {fault && <small class="wrong">{fault}</small>}
            <button
              type="button"
              class="link"
              aria-label={`As before: ${short(ours)}`}
              onClick={() => write(Object.fromEntries(Object.entries(own).filter(([one]) => one !== name)))}
            >
              As before
            </button>
          </div>
        )
      })}
      <Choose
        label="Say another text in your own way"
        value=""
        options={[
          ['', 'Choose a text'],
          ...TEXTS.filter(([name]) => own[name] === undefined).map(([name, text]) => [name, short(text)] as const),
        ]}
        onChoose={(name) => name !== '' && write({ ...own, [name]: TEXTS.find(([one]) => one === name)?.[1] ?? '' })}
      />
      <small class="quiet">Keep {'{t}'} and the like: the page puts numbers and names there.</small>
    </Folded>
  )
}
