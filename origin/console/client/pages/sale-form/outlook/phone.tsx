/**
 * Shows a page of the sale on a phone with the unsaved changes. The edge makes the page from the draft, and nothing
 * in it works.
 */
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { useEffect, useRef } from 'preact/hooks'
import { LANGUAGES, type Language } from '../../../../../../shared/api/fields.ts'
import type { SaleConfig } from '../../../../../../shared/api/operators/sale-config.ts'
import { admin } from '../../../api.ts'
import { Failure } from '../../../parts.tsx'
import { Picker } from '../../../sheet/controls.tsx'
import { Icon } from '../../../sheet/icon.tsx'
import { configOf } from '../draft.ts'
import { useForm } from '../fields/form.tsx'

/** The preview waits this long after the last key, so that it does not make a page for each. */
const REST_MS = 500
const PAGES = [
  ['sale-open', 'Before joining'],
  ['line', 'In line'],
  ['turn', 'Their turn'],
  ['order-reserved', 'Paying'],
  ['order-confirmed', 'Bought'],
  ['sold-out', 'Sold out'],
] as const

/** `page` is the state that is shown at first. */
export function Phone({ isTall, first }: { readonly isTall: boolean; readonly first: (typeof PAGES)[number][0] }) {
  const { body } = useForm()
  const config = configOf(body)
  // The preview's links lead nowhere, so a new sale needs no id yet.
  const sale = String(body.sale) || 'new'
  const text = config && JSON.stringify(config)
  const state = useSignal<string>(first)
  const lang = useSignal<Language>('en')
  const look = useSignal<'light' | 'dark'>('light')
  const draft = useRested(text)
  const { data, error, isFetching } = useQuery({
    queryKey: ['draft', sale, state.value, lang.value, look.value, draft],
    queryFn: async () => {
      const json = {
        sale: JSON.parse(draft ?? '') as SaleConfig,
        state: state.value,
        lang: lang.value,
        look: look.value,
      }
      return (await admin.sales[':sale'].preview.$post({ param: { sale }, json })).text()
    },
    enabled: draft !== undefined,
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const isDark = look.value === 'dark'
  return (
    <section class="sec" aria-label="On a phone">
      <header>
        <h2>On a phone</h2>
        <Picker label="Page" value={state.value} options={PAGES} onChoose={(to) => (state.value = to)} isLast />
        <Picker
          label="Language"
          value={lang.value}
          options={LANGUAGES.map((one) => [one, one.toUpperCase()])}
          onChoose={(to) => (lang.value = LANGUAGES.find((one) => one === to) ?? 'en')}
        />
        <button
          type="button"
          class="btn"
          aria-pressed={isDark}
          aria-label="Dark look"
          onClick={() => (look.value = isDark ? 'light' : 'dark')}
        >
          <Icon name="dark" />
        </button>
      </header>
      <Failure error={error} />
      <div class={isTall ? 'seen tall' : 'seen'}>
        <Handset page={data} />
      </div>
      <p class="small quiet seen" role="status">
        {text === undefined
          ? data === undefined
            ? 'once name, price and units are right'
            : 'as before, until all fields are right'
          : isFetching
            ? 'being made …'
            : 'as it will be, once saved'}
      </p>
    </section>
  )
}

/**
 * A frame that is as wide as a phone in CSS pixels, scaled to the available width. A new page keeps the scroll
 * position.
 */
function Handset({ page }: { readonly page: string | undefined }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const top = useRef(0)
  const inside = () => frame.current?.contentDocument
  return (
    <div class="handset">
      <iframe
        ref={frame}
        title="The sale's page on a phone"
        // The sandbox stops all scripts of the page, as its own policy does.
        sandbox="allow-same-origin"
        srcdoc={page ?? ''}
        tabIndex={-1}
        onLoad={() => {
          inside()?.scrollingElement?.scrollTo(0, top.current)
          inside()?.addEventListener('scroll', () => {
            top.current = inside()?.scrollingElement?.scrollTop ?? 0
          })
        }}
      />
    </div>
  )
}

/** Returns a value once it has not changed for a moment. An undefined value leaves the one before. */
function useRested(value: string | undefined): string | undefined {
  const rested = useSignal(value)
  useEffect(() => {
    if (value === undefined) return
    const timer = setTimeout(() => (rested.value = value), REST_MS)
    return () => clearTimeout(timer)
  }, [value])
  return rested.value
}
