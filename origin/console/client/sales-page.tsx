/** All sales in use: the running ones large, the coming ones in the middle, those that are over as rows. */
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import type { JSX } from 'preact'
import { Link } from 'wouter-preact'
import { clock } from '../../../shared/format.ts'
import { readSales } from './api.ts'
import { count, figure, instant } from './format.ts'
import { Failure, Loading, useTitle } from './parts.tsx'
import { may, shop } from './session.ts'
import { SearchField } from './sheet/controls.tsx'
import { Icon, Keys } from './sheet/icon.tsx'
import { Dot, type Mark, Phase, State, StockMeter } from './sheet/marks.tsx'
import { EmptyState, Head, Section } from './sheet/page.tsx'
import { Picture } from './sheet/picture.tsx'
import { Table } from './sheet/table.tsx'

type Sale = Awaited<ReturnType<typeof readSales>>['sales'][number]
type Found = Sale & { readonly findings: number }

const REFRESH_MS = 3_000
/** A list shows this many rows or cards at first, and so many more with each press of the button. */
const ROWS = 25
const CARDS = 24
const OVER = ['sold_out', 'ended']

export function SalesPage() {
  const { data, error } = useQuery({ queryKey: ['sales'], queryFn: readSales, refetchInterval: REFRESH_MS })
  const words = useSignal('')
  useTitle('Sales · Console')
  const typed = words.value.toLowerCase().split(/\s+/)
  const found = (data?.sales ?? [])
    .filter(({ sale, name }) => typed.every((word) => `${sale} ${name}`.toLowerCase().includes(word)))
    .map((sale): Found => ({ ...sale, findings: data?.findings[sale.sale] ?? 0 }))
  const opened = ({ opens_at }: Found) => Date.parse(opens_at)
  const coming = found.filter(({ phase }) => phase === 'upcoming').sort((a, b) => opened(a) - opened(b))
  const over = found.filter(({ phase }) => OVER.includes(phase)).sort((a, b) => opened(b) - opened(a))
  const running = found
    .filter((sale) => !coming.includes(sale) && !over.includes(sale))
    .sort((a, b) => urgency(b) - urgency(a) || opened(b) - opened(a))
  const needy = found.filter((sale) => urgency(sale) > 0).length
  return (
    <>
      <Head
        title="Sales"
        sub={
          data &&
          `${runs(running.length)}${needy > 0 ? `, ${count(needy)} ${needy === 1 ? 'needs' : 'need'} you` : ''}; ` +
            `${count(coming.length)} ${coming.length === 1 ? 'is' : 'are'} to come`
        }
      >
        <SearchField
          label="Search"
          placeholder="Name or id"
          value={words.value}
          onInput={(value) => (words.value = value)}
        />
        {may('operator') && (
          <Link class="btn primary" href="/console/sales/new" aria-keyshortcuts="N">
            <Icon name="plus" />
            New sale
            <Keys class="wide">N</Keys>
          </Link>
        )}
      </Head>
      <Failure error={error} />
      {!data && !error && <Loading />}
      {data && found.length === 0 && (
        <EmptyState text={data.sales.length === 0 ? 'There is no sale yet.' : 'No sale has these words.'} />
      )}
      {running.length > 0 && <Cards title="Running" least="26rem" sales={running} Card={Running} />}
      {coming.length > 0 && <Cards title="Coming" least="17rem" sales={coming} Card={Coming} />}
      {over.length > 0 && <Over sales={over} />}
    </>
  )
}

interface CardsProps {
  readonly title: string
  /** The least width of a card. */
  readonly least: string
  readonly sales: readonly Found[]
  readonly Card: (props: { readonly sale: Found }) => JSX.Element
}

function Cards({ title, least, sales, Card }: CardsProps) {
  const shown = useSignal(CARDS)
  return (
    <Section title={title} aside={<span class="small quiet">{count(sales.length)}</span>}>
      <ul class="cards" style={`--least: ${least}`}>
        {sales.slice(0, shown.value).map((sale) => (
          <Card key={sale.sale} sale={sale} />
        ))}
      </ul>
      <More rest={sales.length - shown.value} step={CARDS} onMore={() => (shown.value += CARDS)} />
    </Section>
  )
}

interface MoreProps {
  readonly rest: number
  readonly step: number
  onMore(): void
}

const More = ({ rest, step, onMore }: MoreProps) =>
  rest > 0 && (
    <p>
      <button type="button" class="btn" onClick={onMore}>
        Show {Math.min(step, rest)} more
      </button>
    </p>
  )

const runs = (many: number) => (many === 0 ? 'None runs' : `${count(many)} ${many === 1 ? 'runs' : 'run'}`)
const urgency = ({ invariant, findings }: Found) => (invariant.holds ? Math.min(1, findings) : 2)

function Title({ sale: { sale, name, phase, test, opens_at, products }, isLarge }: { sale: Found; isLarge?: boolean }) {
  return (
    <header class="row no-wrap">
      <Picture products={products} isLarge={isLarge ?? false} />
      <div class="stack close">
        <h3>
          <Link href={`/console/sales/${sale}`}>{name}</Link>
        </h3>
        <p class="row small quiet tight-row">
          {phase !== 'upcoming' && <Phase phase={phase} />}
          {test && <State level="info">Test</State>}
          {phase !== 'upcoming' && <span>opened {instant(opens_at)}</span>}
          <code>{sale}</code>
        </p>
      </div>
      <Acts sale={sale} name={name} />
    </header>
  )
}

/** What leads elsewhere lies above the card's own link. */
const Acts = ({ sale, name }: { readonly sale: string; readonly name: string }) => (
  <span class="row no-wrap end acts">
    {may('operator') && (
      <Link class="btn bare" href={`/console/sales/new?copy=${sale}`} aria-label={`Copy ${name}`} title="Copy">
        <Icon name="copy" />
      </Link>
    )}
    {shop.value !== null && (
      <a
        class="btn bare"
        href={`${shop.value}/sales/${sale}`}
        target="_blank"
        rel="noreferrer"
        aria-label={`Visitors’ page of ${name}, ${sale}`}
        title="Visitors’ page"
      >
        <Icon name="ext" flip />
      </a>
    )}
  </span>
)

function Running({ sale }: { readonly sale: Found }) {
  const { invariant, queue, rates, phase } = sale
  const { sold, held, total } = invariant
  const called = phase === 'open' ? rates.called_per_second : 0
  return (
    <li class="card">
      <Title sale={sale} isLarge />
      <div class="stack close">
        <StockMeter total={total} sold={sold} held={held} />
        <p class="row small">
          <span>
            <b>{count(sold)}</b> of {count(total)} sold
          </span>
          <span class="quiet">{count(held)} held</span>
        </p>
      </div>
      <dl class="trio">
        <Small name="Waiting" value={queue.waiting === null ? 'not known' : count(queue.waiting)} />
        <Small
          name="Called"
          value={called === null ? 'not known' : called === 0 ? 'nobody' : `${figure(called)} a second`}
        />
        <Small name="Free" value={count(invariant.available)} />
      </dl>
      <Trouble sale={sale} />
    </li>
  )
}

const Small = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div class="fig">
    <dt>{name}</dt>
    <dd>
      <b>{value}</b>
    </dd>
  </div>
)

function Coming({ sale }: { readonly sale: Found }) {
  const { opens_at, server_time, invariant } = sale
  const seconds = (Date.parse(opens_at) - Date.parse(server_time)) / 1000
  return (
    <li class="card">
      <Title sale={sale} />
      <p>
        <b class="when">{seconds < DAY_SECONDS ? `in ${clock('en', Math.max(0, seconds))}` : instant(opens_at)}</b>
        {seconds < DAY_SECONDS && (
          <>
            <br />
            <span class="small quiet">{instant(opens_at)}</span>
          </>
        )}
      </p>
      <p class="small">
        <b>{count(invariant.total)}</b> units
      </p>
      <Trouble sale={sale} />
    </li>
  )
}

const DAY_SECONDS = 86_400

function Trouble({ sale: { invariant, findings } }: { readonly sale: Found }) {
  const [level, text]: readonly [Mark, string] = invariant.holds
    ? ['watch', `${count(findings)} ${findings === 1 ? 'finding is' : 'findings are'} open.`]
    : ['bad', 'Stock does not add up.']
  if (invariant.holds && findings === 0) return null
  return (
    <p class={`trouble is-${level} row no-wrap`}>
      <Dot level={level} />
      <span>{text}</span>
    </p>
  )
}

function Over({ sales }: { readonly sales: readonly Found[] }) {
  const shown = useSignal(ROWS)
  return (
    <Section title="Over" aside={<span class="small quiet">{count(sales.length)}</span>}>
      <Table
        label="Sales that are over"
        rows={sales.slice(0, shown.value)}
        keyOf={({ sale }) => sale}
        columns={[
          { name: 'Picture', unnamed: true, phone: 'a', cell: ({ products }) => <Picture products={products} /> },
          {
            name: 'Sale',
            cell: ({ sale, name, test }) => (
              <>
                <Link href={`/console/sales/${sale}`}>{name}</Link> {test && <State level="info">Test</State>}
                <br />
                <small class="quiet mono">{sale}</small>
              </>
            ),
          },
          { name: 'Opened', wide: true, cell: ({ opens_at }) => instant(opens_at) },
          {
            name: 'State',
            phone: 'z',
            cell: (sale) => (urgency(sale) > 0 ? <Trouble sale={sale} /> : <Phase phase={sale.phase} />),
          },
          {
            name: 'Sold',
            number: true,
            phone: 'z',
            cell: ({ invariant: { sold, total } }) => (
              <>
                {count(sold)} <span class="quiet">of {count(total)}</span>
              </>
            ),
          },
          {
            name: 'Report',
            unnamed: true,
            wide: true,
            number: true,
            cell: ({ sale, name }) => (
              <Link href={`/console/sales/${sale}/report`} aria-label={`Report of ${name}, ${sale}`}>
                Report
              </Link>
            ),
          },
          {
            name: 'Acts',
            unnamed: true,
            wide: true,
            number: true,
            cell: ({ sale, name }) => <Acts sale={sale} name={name} />,
          },
        ]}
      />
      <More rest={sales.length - shown.value} step={ROWS} onMore={() => (shown.value += ROWS)} />
    </Section>
  )
}
