/** Every page that visitors of a sale can meet, in its looks, widths and languages. The edge makes them; they do nothing. */
import './preview.css'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation, useSearch } from 'wouter-preact'
import { LANGUAGES } from '../../../../../shared/api/public.ts'
import { get } from '../../api.ts'
import { Failure } from '../../parts.tsx'
import { SaleTabs } from '../../sale-tabs.tsx'

interface Preview {
  readonly url: string
  readonly query: string
  readonly states: readonly string[]
}

/** By how the names of their states begin; the first that fits. */
const GROUPS = [
  ['sale', 'Before joining', /^sale-/],
  ['line', 'In line', /^(lobby|line|missed)/],
  ['turn', 'Their turn', /^turn/],
  ['order', 'Orders and payment', /^(order|orders|payment|receipt)/],
  ['end', 'The end', /^(sold-out|ended|site-)/],
  ['problem', 'Problems', /^problem/],
  ['other', 'Others', /^/],
] as const
const LOOKS = ['light', 'dark'] as const
const WIDTHS = { phone: 390, desktop: 1280 } as const
const NAMES = new Intl.DisplayNames('en', { type: 'language' })

const groupOf = (state: string) => GROUPS.find(([, , form]) => form.test(state))?.[0]

export function PreviewPage({ sale }: { sale: string }) {
  const preview = useSignal<Preview | null>(null)
  const error = useSignal<unknown>(null)
  const [, navigate] = useLocation()
  const asked = new URLSearchParams(useSearch())
  useEffect(() => {
    document.title = `Preview of ${sale} · Console`
    get<Preview>(`/admin/sales/${sale}/preview?from=${encodeURIComponent(location.origin)}`).then(
      (value) => {
        preview.value = value
      },
      (failure: unknown) => {
        error.value = failure
      },
    )
  }, [sale])
  const pick = (name: string, value: string) => {
    const next = new URLSearchParams(asked)
    next.set(name, value)
    navigate(`/console/sales/${sale}/preview?${next}`, { replace: true })
  }
  const { url = '', query = '', states = [] } = preview.value ?? {}
  const group = asked.get('pages') ?? 'sale'
  const [lang, look] = [asked.get('lang') ?? 'en', asked.get('look') ?? 'light']
  const width = asked.get('width') === 'desktop' ? 'desktop' : 'phone'
  const groups = GROUPS.filter(([id]) => states.some((state) => groupOf(state) === id))
  const addressOf = (state: string) => `${url}/${state}?${query}&${new URLSearchParams({ lang, look })}`
  return (
    <>
      <SaleTabs sale={sale} />
      <h1>Preview</h1>
      <p class="quiet">
        With this sale's name, products and prices, and the shop's own words and colours. Times, places and orders are
        invented, and nothing here can be pressed.
      </p>
      <Failure error={error.value} />
      <form class="card preview-filters" onSubmit={(event) => event.preventDefault()}>
        <Pick
          label="Pages"
          value={group}
          options={groups.map(([id, text]) => [id, text])}
          onPick={(to) => pick('pages', to)}
        />
        <Pick
          label="Language"
          value={lang}
          options={LANGUAGES.map((one) => [one, NAMES.of(one) ?? one])}
          onPick={(to) => pick('lang', to)}
        />
        <Pick label="Look" value={look} options={LOOKS.map((one) => [one, one])} onPick={(to) => pick('look', to)} />
        <Pick
          label="Width"
          value={width}
          options={Object.entries(WIDTHS).map(([id, pixels]) => [id, `${id}, ${pixels} px`])}
          onPick={(to) => pick('width', to)}
        />
      </form>
      {preview.value === null && error.value === null && <p class="loading">Loading …</p>}
      <ul class={`previews ${width}`}>
        {states
          .filter((state) => groupOf(state) === group)
          .map((state) => (
            <li key={state}>
              <h2>
                <a href={addressOf(state)} target="_blank" rel="noreferrer">
                  {state.replaceAll('-', ' ')}
                </a>
              </h2>
              <div class="frame">
                <iframe
                  title={state.replaceAll('-', ' ')}
                  src={addressOf(state)}
                  sandbox=""
                  loading="lazy"
                  tabIndex={-1}
                />
              </div>
            </li>
          ))}
      </ul>
    </>
  )
}

interface PickProps {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  onPick(value: string): void
}

function Pick({ label, value, options, onPick }: PickProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onPick(event.currentTarget.value)}>
        {options.map(([id, text]) => (
          <option key={id} value={id}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
