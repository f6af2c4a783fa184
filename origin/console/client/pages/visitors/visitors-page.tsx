/** The page shows who came to a sale: the views that count, where they came from, and how far each source got. */
import './visitors.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import type { ViewKey } from '../../../../../shared/api/operators/views.ts'
import { admin, read } from '../../api.ts'
import { count, countryName, figure, languageName } from '../../format.ts'
import { Failure, Loading, useTitle } from '../../parts.tsx'
import { Bars } from '../../sheet/marks.tsx'
import { Columns, EmptyState, Figures, Head, Section } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
import { TimeChart } from '../../sheet/time-chart.tsx'
import { NewRule, ViewRules } from './view-rules.tsx'

const REFRESH_MS = 5_000
const MINUTE_MS = 60_000
/** A list names this many keys; the export has the others. */
const MOST = 8

const readBy = (sale: string, by: ViewKey) => read(admin.sales[':sale'].views.$get({ param: { sale }, query: { by } }))

const useViews = (sale: string, by: ViewKey) =>
  useQuery({ queryKey: ['views', sale, by], queryFn: () => readBy(sale, by), refetchInterval: REFRESH_MS })

type Views = Awaited<ReturnType<typeof readBy>>

export function VisitorsPage({ sale }: { sale: string }) {
  const { data, error } = useViews(sale, 'minute')
  const network = useSignal<string | null>(null)
  useTitle('Visitors · Console')
  return (
    <>
      <Head
        title="Visitors"
        sub={data && `counted up to ${figure(data.behind_seconds)} s ago; every view, none is sampled`}
      >
        <a class="btn" href={`/admin/sales/${sale}/views/export`} download={`${sale}-views.ndjson`}>
          Export
        </a>
      </Head>
      <Failure error={error} />
      {!data && !error && <Loading />}
      {data && data.counted + data.dropped === 0 && (
        <EmptyState text="Nobody has been seen yet. Views are counted as soon as a page of the sale is looked at." />
      )}
      {data && data.counted + data.dropped > 0 && (
        <>
          <Totals views={data} />
          <Minutes views={data} />
          <Sources sale={sale} />
          <Columns>
            <Breakdown sale={sale} by="country" title="Countries" nameOf={countryIn} />
            <Breakdown sale={sale} by="device" title="Devices" nameOf={(key) => DEVICES[key] ?? key} />
            <Breakdown sale={sale} by="language" title="Languages" nameOf={languageIn} />
          </Columns>
          <Networks sale={sale} onRule={(asn) => (network.value = asn)} />
        </>
      )}
      <NewRule sale={sale} network={network} />
      <ViewRules sale={sale} seen={data ? data.counted + data.dropped : 0} />
    </>
  )
}

const DEVICES: Readonly<Record<string, string>> = {
  phone: 'Phones',
  desk: 'Desks',
  tablet: 'Tablets',
  bot: 'Bots',
  unknown: 'Not known',
}
const UNKNOWN = 'unknown'
const countryIn = (key: string) => (key === UNKNOWN ? 'Not known' : countryName(key))
const languageIn = (key: string) => (key === UNKNOWN ? 'Not known' : languageName(key))
const shareOf = (part: number, all: number) => `${figure((100 * part) / Math.max(1, all))} %`

function Totals({ views }: { readonly views: Views }) {
  const { counted, dropped, uniques, on_pages, mean_seconds } = views
  const figures = [
    {
      name: 'On the pages now',
      value: on_pages === null ? null : count(on_pages),
      note: on_pages === null ? 'not known: counting is behind, or Redis away' : 'about; not those in the background',
    },
    {
      name: 'Views',
      value: count(counted),
      note: `${count(dropped)} more were dropped, ${shareOf(dropped, counted + dropped)}`,
    },
    {
      name: 'People',
      value: uniques === null ? null : count(uniques),
      note: uniques === null ? 'Redis is away, which counts them' : 'about, each day counted by itself',
    },
    { name: 'Seen for', value: mean_seconds === null ? '–' : `${figure(mean_seconds)} s`, note: 'a view, on average' },
    { name: 'Views each', value: uniques ? figure(counted / uniques) : '–', note: 'of a person and day' },
  ]
  return <Figures figures={figures} />
}

/** The views by the minute; a minute without a row had none. */
function Minutes({ views }: { readonly views: Views }) {
  const byMinute = new Map(views.rows.map((row) => [Date.parse(row.key), row]))
  const firstMs = Math.min(...byMinute.keys())
  const lastMs = Math.floor(Date.parse(views.as_of) / MINUTE_MS) * MINUTE_MS
  const times = Array.from(
    { length: Math.max(1, (lastMs - firstMs) / MINUTE_MS + 1) },
    (_, i) => firstMs + i * MINUTE_MS,
  )
  const valuesOf = (name: 'counted' | 'dropped') => times.map((ms) => byMinute.get(ms)?.[name] ?? 0)
  return (
    <TimeChart
      title="Views, a minute"
      times={times}
      panes={[
        { lines: [{ name: 'Counted', values: valuesOf('counted'), colour: '--c1', kind: 'area' }] },
        {
          title: 'Dropped by rules',
          lines: [{ name: 'Dropped', values: valuesOf('dropped'), colour: '--c4', kind: 'area' }],
        },
      ]}
      marks={[]}
      spans={[
        [15, '15 min'],
        [60, '1 h'],
        [null, 'All'],
      ]}
      initial={60}
    />
  )
}

const TYPED = 'typed'

/** How far the visitors of each source got. */
function Sources({ sale }: { readonly sale: string }) {
  const { data, error } = useQuery({
    queryKey: ['funnel', sale],
    queryFn: () => read(admin.sales[':sale'].funnel.$get({ param: { sale }, query: { by: 'source' } })),
    refetchInterval: REFRESH_MS,
  })
  return (
    <Section title="From view to paid, by source">
      <Failure error={error} />
      {data && (
        <Table
          label="Sources"
          rows={data.rows}
          keyOf={({ key }) => key}
          columns={[
            { name: 'Source', cell: ({ key }) => (key === TYPED ? 'Typed, or not said' : key) },
            { name: 'Views', number: true, phone: 'named', cell: ({ views }) => count(views) },
            { name: 'Joined', number: true, phone: 'named', cell: ({ joined }) => count(joined) },
            { name: 'Called', number: true, wide: true, cell: ({ turns }) => count(turns) },
            { name: 'Reserved', number: true, wide: true, cell: ({ reserved }) => count(reserved) },
            { name: 'Paid', number: true, phone: 'named', cell: ({ paid }) => count(paid) },
            {
              name: 'Of those called',
              number: true,
              wide: true,
              cell: ({ turns, paid }) => (turns === 0 ? '–' : shareOf(paid, turns)),
            },
          ]}
        />
      )}
    </Section>
  )
}

interface BreakdownProps {
  readonly sale: string
  readonly by: ViewKey
  readonly title: string
  nameOf(key: string): string
}

function Breakdown({ sale, by, title, nameOf }: BreakdownProps) {
  const { data, error } = useViews(sale, by)
  const rows = (data?.rows ?? []).filter(({ counted }) => counted > 0)
  const rest = rows.slice(MOST).reduce((sum, { counted }) => sum + counted, 0)
  const named = rows.slice(0, MOST).map(({ key, counted }) => [nameOf(key), counted] as const)
  return (
    <Section title={title}>
      <Failure error={error} />
      <Bars rows={rest > 0 ? [...named, [`${rows.length - MOST} others`, rest]] : named} />
    </Section>
  )
}

/** The networks whose views were dropped most come first, since they are the least like people. */
function Networks({ sale, onRule }: { readonly sale: string; onRule(asn: string): void }) {
  const { data, error } = useViews(sale, 'network')
  const rows = (data?.rows ?? []).toSorted((a, b) => b.dropped - a.dropped || b.counted - a.counted).slice(0, MOST)
  return (
    <Section title="Networks" aside={<span class="small quiet">the most dropped first</span>}>
      <Failure error={error} />
      <Table
        label="Networks"
        rows={rows}
        keyOf={({ key }) => key}
        columns={[
          { name: 'Network', cell: ({ key }) => <code>{key}</code> },
          { name: 'Counted', number: true, phone: 'named', cell: ({ counted }) => count(counted) },
          { name: 'Dropped', number: true, phone: 'named', cell: ({ dropped }) => count(dropped) },
          {
            name: 'People',
            number: true,
            wide: true,
            cell: ({ uniques }) => (uniques === null ? '–' : count(uniques)),
          },
          {
            name: 'Rule',
            unnamed: true,
            number: true,
            cell: ({ key }) =>
              key.startsWith('AS') && (
                <button type="button" class="btn bare" aria-label={`Make a rule of ${key}`} onClick={() => onRule(key)}>
                  Make a rule of it
                </button>
              ),
          },
        ]}
      />
    </Section>
  )
}
