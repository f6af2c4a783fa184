/**
 * Every page that visitors of a sale can meet, in all looks, widths and languages. The edge makes the pages, and
 * nothing in them works.
 */
import './preview.css'
import { useQuery } from '@tanstack/preact-query'
import { useLocation, useSearch } from 'wouter-preact'
import { LANGUAGES } from '../../../../../shared/api/fields.ts'
import { admin, read } from '../../api.ts'
import { Choose, Failure, Loading, languageName, useTitle } from '../../parts.tsx'
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
const LOOKS = ['light', 'dark'] as const
const WIDTHS = { phone: 390, desktop: 1280 } as const

const groupOf = (state: string) => GROUPS.find(([, , form]) => form.test(state))?.[0]

export function PreviewPage({ sale }: { sale: string }) {
  const [, navigate] = useLocation()
  const asked = new URLSearchParams(useSearch())
  const { data, error } = useQuery({
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
  const group = asked.get('pages') ?? 'sale'
  const [lang, look] = [asked.get('lang') ?? 'en', asked.get('look') ?? 'light']
  const width = asked.get('width') === 'desktop' ? 'desktop' : 'phone'
  const groups = GROUPS.filter(([id]) => states.some((state) => groupOf(state) === id))
  const addressOf = (state: string) => `${url}/${state}?${query}&${new URLSearchParams({ lang, look })}`
  return (
    <>
      <Head
        title="Preview"
        sub={
          "With this sale's name, products and prices, and the shop's own words and colours. Times, places and " +
          'orders are invented, and nothing here can be pressed.'
        }
      />
      <Failure error={error} />
      <form class="sec preview-filters" onSubmit={(event) => event.preventDefault()}>
        <Choose
          label="Pages"
          value={group}
          options={groups.map(([id, text]) => [id, text])}
          onChoose={(to) => pick('pages', to)}
        />
        <Choose
          label="Language"
          value={lang}
          options={LANGUAGES.map((one) => [one, languageName(one)])}
          onChoose={(to) => pick('lang', to)}
        />
        <Choose
          label="Look"
          value={look}
          options={LOOKS.map((one) => [one, one])}
          onChoose={(to) => pick('look', to)}
        />
        <Choose
          label="Width"
          value={width}
          options={Object.entries(WIDTHS).map(([id, pixels]) => [id, `${id}, ${pixels} px`])}
          onChoose={(to) => pick('width', to)}
        />
      </form>
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
