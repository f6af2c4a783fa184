/**
 * The appearance of a sale: the shop's name, logo, colour, hero picture and own texts. It also has the place and date
 * of the event.
 */
import { useSignal } from '@preact/signals'
import * as v from 'valibot'
import { brandSheet, contrast } from '../../../../../edge/pages/brand.ts'
import en from '../../../../../edge/pages/words/en.json' with { type: 'json' }
import { LANGUAGES, type Language, TimeZone } from '../../../../../shared/api/fields.ts'
import { instant, languageName } from '../../format.ts'
import { Segmented } from '../../sheet/controls.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { Dot } from '../../sheet/marks.tsx'
import { type Body, valueAt } from '../sale-form/draft.ts'
import { Framed, Row, useField, useForm } from '../sale-form/fields/form.tsx'
import { SwitchRow, TextRow, TimeRow, ZoneRow } from '../sale-form/fields/rows.tsx'
import { FormSection } from '../sale-form/sections/main-sections.tsx'
import { Picture } from './picture-fields.tsx'
import { useFold, useIsWrong } from './product.tsx'

/** If no colour is chosen, the edge uses this one. */
const USUAL_ACCENT = '#00674b'
const HEX = /^#[0-9a-f]{6}$/i

export function BrandSection() {
  const { body, set } = useForm()
  const hasBrand = Boolean(body.brand)
  return (
    <FormSection
      id="brand"
      title="Brand"
      aside={
        <label class="end row small switched">
          <input
            type="checkbox"
            class="switch"
            checked={hasBrand}
            onChange={({ currentTarget }) => set('brand', currentTarget.checked ? { shop: '' } : null)}
          />
          a look of its own
        </label>
      }
    >
      {hasBrand ? (
        <>
          <TextRow path="brand.shop" label="Shop" />
          <Accent />
          <Row label="Logo, hero">
            <div class="row">
              <Picture path="brand.logo" label="Logo" />
              <Picture path="brand.hero" label="Hero picture" />
            </div>
          </Row>
          <OwnWords />
        </>
      ) : (
        <p class="quiet">Its pages have the look of the installation.</p>
      )}
    </FormSection>
  )
}

/** The place and date of an event, or of the pickup of goods. */
export function PlaceSection() {
  const { body, set } = useForm()
  const typed = valueAt(body, 'event.time_zone')
  const clock = v.is(TimeZone, typed) ? ({ zone: typed } as const) : {}
  const fold = useFold(useIsWrong(['venue', 'event']))
  const starts = valueAt(body, 'event.starts_at')
  const date = typeof starts === 'string' && !Number.isNaN(Date.parse(starts)) ? instant(starts) : 'no date'
  return (
    <section class="sec" id="place" aria-label="Place and date">
      <details class="parts" {...fold}>
        <summary>
          <h2>Place and date</h2>
          <span class="quiet">
            {String(body.venue || 'nowhere in particular')}, {date}
          </span>
          <span class="turn end">
            <Icon name="down" />
          </span>
        </summary>
        <div class="stack more">
          <TextRow path="venue" label="Where" placeholder="nowhere in particular" optional />
          <SwitchRow
            path="event"
            label="Date"
            text="buyers can put it in their calendars"
            isOn={Boolean(body.event)}
            onTurn={(isOn) =>
              set('event', isOn ? { starts_at: '', ends_at: null, time_zone: body.time_zone ?? '' } : null)
            }
          />
          {body.event && (
            <>
              <ZoneRow path="event.time_zone" label="Time zone" note="The place’s." />
              <TimeRow path="event.starts_at" label="Starts" {...clock} />
              <TimeRow path="event.ends_at" label="Is over" none="Empty: not said." {...clock} />
            </>
          )}
        </div>
      </details>
    </section>
  )
}

function Accent() {
  const path = 'brand.accent'
  const { form, value, level, note, attributes } = useField({ path })
  const colour = typeof value === 'string' && HEX.test(value) ? value : USUAL_ACCENT
  const write = (text: string) => form.set(path, text === '' ? undefined : text)
  return (
    <Row label="Accent" id={attributes.id} level={level} note={note}>
      <Framed
        level={level}
        isShort
        before={
          <input
            type="color"
            aria-label="Choose the accent"
            value={colour}
            onInput={({ currentTarget }) => write(currentTarget.value)}
          />
        }
      >
        <input
          {...attributes}
          class="mono"
          value={String(value ?? '')}
          placeholder={USUAL_ACCENT}
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
      </Framed>
      <div class="cards looks">
        {looksOf(colour).map((look) => (
          <Look key={look.name} {...look} />
        ))}
      </div>
    </Row>
  )
}

interface LookProps {
  readonly name: 'light' | 'dark'
  readonly accent: string
  readonly onAccent: string
  readonly text: string
}

/** The colours that the pages make of an accent, as they are in both looks. */
function looksOf(accent: string): readonly LookProps[] {
  const sheet = brandSheet({ accent })
  const all = (name: string) =>
    [...sheet.matchAll(new RegExp(`--${name}:(#[0-9a-f]{6})`, 'gi'))].map(([, hex = '']) => hex)
  const [accents, ons, texts] = [all('accent'), all('on-accent'), all('accent-text')]
  return (['light', 'dark'] as const).map((name, i) => ({
    name,
    accent: accents[i] ?? accent,
    onAccent: ons[i] ?? accent,
    text: texts[i] ?? accent,
  }))
}

/** The grounds of the pages in both looks, on which text has its contrast. */
const PAPERS = { light: '#ffffff', dark: '#0a0d0c' } as const

function Look({ name, accent, onAccent, text }: LookProps) {
  const [on, as] = [contrast(accent, onAccent), contrast(text, PAPERS[name])].map((ratio) => `${ratio.toFixed(1)} : 1`)
  return (
    <div class="stack close" style={`--look: ${name}`}>
      <p class="row" aria-hidden="true">
        <b class="btn" style={`background: ${accent}; border-color: ${accent}; color: ${onAccent}`}>
          Reserve
        </b>
        <b style={`color: ${text}`}>Size guide</b>
      </p>
      <p class="note">
        <Dot level="good" />
        {name === 'light' ? 'Light' : 'Dark, made of it'}: <b>{on}</b> on it, <b>{as}</b> as text.
      </p>
    </div>
  )
}

const TEXTS = Object.entries(en).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text] as const] : []))
const short = (text: string) => (text.length > 60 ? `${text.slice(0, 59)}…` : text)

/** Texts of the pages that the shop replaces by its own, one language at a time. */
function OwnWords() {
  const { body, wrong, set } = useForm()
  const language = useSignal<Language>('en')
  const words = (valueAt(body, 'brand.words') ?? {}) as Readonly<Record<string, Readonly<Record<string, string>>>>
  const own = words[language.value] ?? {}
  const fold = useFold([...wrong.keys()].some((field) => field.startsWith('brand.words')))
  const write = (next: Readonly<Record<string, string>>) => {
    const { [language.value]: _, ...others } = words
    const all = Object.keys(next).length > 0 ? { ...others, [language.value]: next } : others
    set('brand.words', Object.keys(all).length > 0 ? (all as Body) : undefined)
  }
  const many = LANGUAGES.flatMap((one) => {
    const texts = Object.keys(words[one] ?? {}).length
    return texts > 0 ? [`${texts} in ${languageName(one)}`] : []
  })
  return (
    <Row label="Words of its own">
      <details class="own-words" {...fold}>
        <summary>{many.length > 0 ? many.join(', ') : 'none; say a text in your own way'}</summary>
        <div class="stack more">
          <Segmented
            label="Language of the words"
            value={language.value}
            options={LANGUAGES.map((one) => [one, one.toUpperCase(), languageName(one)] as const)}
            onChoose={(one) => (language.value = one)}
          />
          {Object.entries(own).map(([name, text]) => {
            const ours = TEXTS.find(([one]) => one === name)?.[1] ?? name
            const fault = wrong.get(`brand.words.${language.value}.${name}`)
            return (
              <div key={name} class="stack close">
                <label for={`word-${name}`}>{short(ours)}</label>
                <div class="row no-wrap">
                  <Framed level={fault === undefined ? '' : 'is-bad'}>
                    <input
                      id={`word-${name}`}
                      lang={language.value}
                      dir="auto"
                      value={text}
                      aria-invalid={fault !== undefined}
                      autocomplete="off"
                      onInput={({ currentTarget }) => write({ ...own, [name]: currentTarget.value })}
                    />
                  </Framed>
                  <button
                    type="button"
                    class="btn bare"
                    aria-label={`As before: ${short(ours)}`}
                    onClick={() => write(Object.fromEntries(Object.entries(own).filter(([one]) => one !== name)))}
                  >
                    <Icon name="undo" flip />
                  </button>
                </div>
                {fault !== undefined && <p class="note is-bad">{fault}</p>}
              </div>
            )
          })}
          <label class="field">
            <span class="unseen">Say another text in your own way</span>
            <select
              value=""
              onChange={({ currentTarget: { value: name } }) =>
                name !== '' && write({ ...own, [name]: TEXTS.find(([one]) => one === name)?.[1] ?? '' })
              }
            >
              <option value="">Say another text</option>
              {TEXTS.filter(([name]) => own[name] === undefined).map(([name, text]) => (
                <option key={name} value={name}>
                  {short(text)}
                </option>
              ))}
            </select>
          </label>
          <p class="note">Keep {'{t}'} and the like: the page puts numbers and names there.</p>
        </div>
      </details>
    </Row>
  )
}
