/** The form with which operators create, edit and copy a sale: an index, one column of rows, and what comes of it. */
import './sale-form.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Link, useSearch } from 'wouter-preact'
import { admin, read } from '../../api.ts'
import { Failure, Loading, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Segmented } from '../../sheet/controls.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { Phase } from '../../sheet/marks.tsx'
import { EmptyState, Head } from '../../sheet/page.tsx'
import { Picture } from '../../sheet/picture.tsx'
import { Goods, GoodsIndex } from '../goods/goods.tsx'
import { ClashVerdict } from './changes/clash-verdict.tsx'
import { SaveBar } from './changes/save-bar.tsx'
import { type Body, copyOf, newBody, type Part, valueAt } from './draft.ts'
import { FormContext } from './fields/form.tsx'
import { type Assumed, assumedAtFirst, comesOf, type Running, stagesOf } from './outlook/outlook.ts'
import { Phone } from './outlook/phone.tsx'
import { Stages } from './outlook/stages.tsx'
import { warningsIn } from './outlook/warnings.ts'
import { clockFrom, WhatComesSection } from './outlook/what-comes.tsx'
import { SectionIndex } from './section-index.tsx'
import { NameSection, RateSection, StockSection, WhenSection } from './sections/main-sections.tsx'
import { AsksSection, MoreSection, PaySection, WordsSection } from './sections/order-sections.tsx'
import { WhoSection } from './sections/who-section.tsx'
import { type SaleForm as Form, readSale, useSaleForm } from './use-sale-form.ts'

const PARTS = [
  ['sale', 'The sale'],
  ['goods', 'Goods, brand, delivery'],
] as const

/** The page of `/console/sales/new`, and of `?copy=SALE`. */
export function NewSalePage() {
  const from = new URLSearchParams(useSearch()).get('copy')
  if (from === null) return <SaleForm key="new" start={newBody(Date.now())} />
  return <Loaded key={from} sale={from} show={(sale) => <SaleForm start={copyOf(sale, Date.now())} copied={from} />} />
}

/** The page of `/console/sales/:sale/edit`. */
export function EditSalePage({ sale }: { sale: string }) {
  return <Loaded key={sale} sale={sale} show={(read) => <SaleForm start={read} sale={sale} />} />
}

/** The page of `/console/sales/:sale/goods`. */
export function GoodsPage({ sale }: { sale: string }) {
  return <Loaded key={sale} sale={sale} show={(read) => <SaleForm start={read} sale={sale} first="goods" />} />
}

function Loaded({ sale, show }: { sale: string; show: (read: Body) => preact.JSX.Element }) {
  // The form starts with the current sale, and keeps it for comparison.
  const { data, error, refetch } = useQuery({
    queryKey: ['form', sale],
    queryFn: () => readSale(sale),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (data) return show(data)
  if (!error) return <Loading />
  return (
    <>
      <Head title="Edit" />
      <Failure error={error} />
      <div class="empty">
        <button type="button" class="btn" onClick={() => void refetch()}>
          Read it again
        </button>
      </div>
    </>
  )
}

interface SaleFormProps {
  readonly start: Body
  /** The id of the edited sale; missing for a new one. */
  readonly sale?: string
  readonly copied?: string
  /** The part to show first. A new sale switches between the parts, while an existing one has a page for each. */
  readonly first?: Part
}

const LIVE_EVERY_MS = 5_000

/** What is true now of a sale that runs; null for any other, and until it is read. */
function useRunning(sale: string | undefined, isRunning: boolean) {
  const { data } = useQuery({
    queryKey: ['live', sale, 'form'],
    queryFn: () => read(admin.sales[':sale'].live.$get({ param: { sale: sale ?? '' } })),
    enabled: sale !== undefined && isRunning,
    refetchInterval: LIVE_EVERY_MS,
  })
  if (!data || !isRunning) return { running: null, minutes: [] }
  const { available, held, sold } = data.state.invariant
  const running: Running = { nowMs: Date.parse(data.read_at), available, held, sold, funnel: data.funnel }
  return { running, minutes: data.minutes }
}

function SaleForm({ start, sale, copied, first = 'sale' }: SaleFormProps) {
  const form = useSaleForm({ start, sale, first })
  const { isNew, saleId, body, base, part } = form
  const { running, minutes } = useRunning(sale, form.isRunning)
  const own = useSignal<Partial<Assumed>>({})
  const assumed = { ...assumedAtFirst(body, running), ...own.value }
  useEffect(() => {
    if (form.clash) document.querySelector('.verdict')?.scrollIntoView({ block: 'center' })
  }, [form.clash?.atMs])
  useTitle(`${titleOf(start, { isNew, copied, part: part.value })} · Console`)
  if (!may('operator'))
    return (
      <>
        <Head title={titleOf(start, { isNew, copied, part: part.value })} />
        <EmptyState text="Only operators and owners change sales." />
      </>
    )
  const context = {
    body: { ...body, sale: saleId },
    isNew,
    isRunning: form.isRunning,
    wrong: form.shown,
    warnings: warningsIn(body, Date.now(), !isNew && base.phase !== 'upcoming'),
    changes: form.changes,
    conflicts: form.undecided,
    others: form.clash?.by ?? 'Somebody',
    set: form.set,
    touch: form.touch,
  }
  const isGoods = part.value === 'goods'
  return (
    <FormContext.Provider value={context}>
      <FormHead form={form} title={titleOf(start, { isNew, copied, part: part.value })}>
        {isNew ? (
          <Segmented
            label="Parts of the sale"
            value={part.value}
            options={PARTS}
            onChoose={(one) => (part.value = one)}
          />
        ) : isGoods ? (
          <GoodsIndex />
        ) : (
          <Link class="btn wide" href={`/console/sales/new?copy=${saleId}`}>
            <Icon name="copy" />
            Copy as a new sale
          </Link>
        )}
      </FormHead>
      <ClashVerdict form={form} />
      <form
        ref={form.form}
        class={isGoods ? 'form goods-form' : 'form sale-form'}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (isNew) form.save()
        }}
      >
        {isGoods ? (
          <Goods />
        ) : (
          <>
            <SectionIndex form={form} part="sale" />
            <div class="main">
              <Sections
                form={form}
                running={running}
                timeline={<Timeline form={form} assumed={assumed} running={running} />}
              />
            </div>
          </>
        )}
        <div class="beside">
          {!isGoods && (
            <WhatComesSection
              body={body}
              start={isNew ? null : base}
              running={running}
              minutes={minutes}
              assumed={assumed}
              onAssume={(more) => (own.value = { ...own.value, ...more })}
            />
          )}
          <Phone key={part.value} isTall={isGoods} first={isGoods ? 'turn' : 'line'} />
        </div>
      </form>
      <SaveBar form={form} />
    </FormContext.Provider>
  )
}

interface HeadProps {
  readonly form: Form
  readonly title: string
  readonly children: ComponentChildren
}

function FormHead({ form: { isNew, isRunning, saleId, base, part }, title, children }: HeadProps) {
  const products = (base.products ?? []) as unknown as Parameters<typeof Picture>[0]['products']
  return (
    <Head
      title={title}
      before={!isNew && <Picture products={products} />}
      sub={
        !isNew && (
          <>
            {part.value === 'goods' && <span>{String(base.name)}</span>}
            <Phase phase={String(base.phase)} />
            {isRunning && <span>what you save is in force within 1 s</span>}
            <span class="mono wide">{saleId}</span>
          </>
        )
      }
    >
      {children}
    </Head>
  )
}

function titleOf(start: Body, { isNew, copied, part }: { isNew: boolean; copied: string | undefined; part: Part }) {
  if (isNew) return copied ? `New sale, as ${start.name}` : 'New sale'
  return part === 'goods' ? 'Goods' : `Edit ${start.name}`
}

interface TimelineProps {
  readonly form: Form
  readonly assumed: Assumed
  readonly running: Running | null
}

function Timeline({ form: { body, base }, assumed, running }: TimelineProps) {
  const fromMs = running?.nowMs ?? Date.parse(String(valueAt(body, 'opens_at')))
  if (Number.isNaN(fromMs)) return null
  const clock = clockFrom(fromMs)
  return (
    <Stages stages={stagesOf(body, comesOf(body, assumed, running), clock)} phase={String(base.phase ?? 'upcoming')} />
  )
}

interface SectionsProps {
  readonly form: Form
  readonly running: Running | null
  readonly timeline: ComponentChildren
}

function Sections({ form: { isNew, saleId, base, part }, running, timeline }: SectionsProps) {
  const toGoods = (text: string, anchor: string) =>
    isNew ? (
      <button type="button" class="link" onClick={() => (part.value = 'goods')}>
        {text}
      </button>
    ) : (
      <Link href={`/console/sales/${saleId}/goods${anchor}`}>{text}</Link>
    )
  const lobbyMs = Date.parse(String(valueAt(base, 'pre_queue_opens_at')))
  return (
    <>
      <NameSection saleId={saleId} />
      <WhenSection
        phase={String(base.phase ?? 'upcoming')}
        hasLobbyOpened={!isNew && lobbyMs <= Date.now()}
        timeline={timeline}
      />
      <StockSection saleId={saleId} toGoods={toGoods('Goods', '')} />
      <RateSection inside={running?.held ?? null} held={running?.held ?? null} />
      <WhoSection />
      <PaySection toGoods={toGoods('Goods', '#bill')} />
      <AsksSection toGoods={toGoods('Goods', '#bill')} />
      <WordsSection toBrand={toGoods('Brand', '#brand')} />
      <MoreSection />
    </>
  )
}
