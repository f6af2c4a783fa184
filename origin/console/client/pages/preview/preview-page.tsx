/**
 * Every page that visitors of a sale can meet, in all looks, widths and languages. The edge makes the pages, and
 * nothing in them works.
 */
import './preview.css'
import { useQuery } from '@tanstack/preact-query'
import { useLocation, useSearch } from 'wouter-preact'
import { LANGUAGES } from '../../../../../shared/api/fields.ts'
import { admin, read } from '../../api.ts'
import { languageName } from '../../format.ts'
import { Failure, Loading, useTitle } from '../../parts.tsx'
import { Segmented } from '../../sheet/controls.tsx'
import { Head } from '../../sheet/page.tsx'

/** The groups of states by the beginning of their names. The first match counts. */
const GROUPS = [
  ['sale', 'Before joining', /^sale-/],
  ['line', 'In line', /^(lobby|line|missed)/],
  ['turn', 'Their turn', /^turn/],
  ['order', 'Orders and payment', /^(order|orders|payment|receipt)/],
  ['end', 'The end', /^(sold-out|ended|site-)/],
  ['problem', 'Problems', /^problem/],
  ['other', 'Others', /^/],
] as const
const LOOKS = [
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const
const WIDTH_NAMES = [
  ['phone', 'Phone, 390 px'],
  ['desktop', 'Desk, 1280 px'],
] as const

const groupOf = (state: string) => GROUPS.find(([, , form]) => form.test(state))?.[0]

export function PreviewPage({ sale }: { sale: string }) {
  const [, navigate] = useLocation()
  const asked = new URLSearchParams(useSearch())
  const { data, error, refetch } = useQuery({
    queryKey: ['preview', sale],
    queryFn: () => read(admin.sales[':sale'].preview.$get({ param: { sale }, query: { from: location.origin } })),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  useTitle(`Preview of ${sale} · Console`)
  const pick = (name: string, value: string) => {
    const next = new URLSearchParams(asked)
    next.set(name, value)
    navigate(`/console/sales/${sale}/preview?${next}`, { replace: true })
  }
  const { url = '', query = '', states = [] } = data ?? {}
  const group = GROUPS.find(([id]) => id === asked.get('pages'))?.[0] ?? 'sale'
  const lang = asked.get('lang') ?? 'en'
  const look = asked.get('look') === 'dark' ? 'dark' : 'light'
  const width = asked.get('width') === 'desktop' ? 'desktop' : 'phone'
  const groups = GROUPS.filter(([id]) => states.some((state) => groupOf(state) === id))
  const addressOf = (state: string) => `${url}/${state}?${query}&${new URLSearchParams({ lang, look })}`
  return (
    <>
      <Head
        title="Preview"
        sub="This sale’s goods, words and colours. Times, places and orders are invented; nothing can be pressed."
      />
      {error && (
        <div class="sec">
          <Failure error={error} />
          <p>
            <button type="button" class="btn" onClick={() => void refetch()}>
              Ask again
            </button>
          </p>
        </div>
      )}
      <section class="sec" aria-label="What is shown">
        <div class="row">
          <Segmented
            label="Pages"
            value={group}
            options={groups.map(([id, text]) => [id, text] as const)}
            onChoose={(to) => pick('pages', to)}
          />
        </div>
        <div class="row">
          <label class="field">
            <span class="unseen">Language</span>
            <select value={lang} onChange={({ currentTarget }) => pick('lang', currentTarget.value)}>
              {LANGUAGES.map((one) => (
                <option key={one} value={one}>
                  {languageName(one)}
                </option>
              ))}
            </select>
          </label>
          <Segmented label="Look" value={look} options={LOOKS} onChoose={(to) => pick('look', to)} />
          <Segmented label="Width" value={width} options={WIDTH_NAMES} onChoose={(to) => pick('width', to)} />
        </div>
      </section>
      {!data && !error && <Loading />}
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
              <div class="framed">
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
