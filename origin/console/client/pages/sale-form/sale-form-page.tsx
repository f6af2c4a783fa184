/** The form with which operators create, edit and copy a sale. */
import './sale-form.css'
import { useSignal } from '@preact/signals'
import { useMutation, useQuery } from '@tanstack/preact-query'
import type { InferRequestType } from 'hono/client'
import { useRef, useState } from 'preact/hooks'
import { Link, useLocation, useSearch } from 'wouter-preact'
import { ApiError, admin, read } from '../../api.ts'
import { Confirm, Failure, Loading, useTitle, whoChanged } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Head } from '../../sheet/page.tsx'
import { type Done, say } from '../../toast.tsx'
import { Goods } from '../goods/goods.tsx'
import {
  type Body,
  type Change,
  changesBetween,
  copyOf,
  fromRead,
  idFrom,
  isOn,
  type Json,
  namedProduct,
  newBody,
  type Part,
  type Wrong,
  withoutSections,
  withValue,
  wrongIn,
} from './draft.ts'
import { FormContext, TextField, TextsField } from './fields.tsx'
import { warningsIn } from './forecast.ts'
import { AccessSection, Contact, Lines, Orders, Page, Products, Rate, Receipts, Times } from './sections.tsx'
import { useUnsavedGuard } from './unsaved-guard.ts'

const calls = admin.sales[':sale']
type SaleBody = InferRequestType<typeof calls.$put>['json']
const PARTS = [
  ['sale', 'The sale'],
  ['goods', 'Goods, brand, delivery'],
] as const

/** Reads the sale in the structure of the form, whose fields have the same paths. */
const readSale = async (sale: string) => fromRead((await read(calls.$get({ param: { sale } }))) as unknown as Body)

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
  const { data, error } = useQuery({
    queryKey: ['form', sale],
    queryFn: () => readSale(sale),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (data) return show(data)
  return error ? <Failure error={error} /> : <Loading />
}

interface SaleFormProps {
  readonly start: Body
  /** The id of the edited sale; missing for a new one. */
  readonly sale?: string
  readonly copied?: string
  /** The part to show first. A new sale switches between the parts, while an existing one has a page for each. */
  readonly first?: Part
}

function SaleForm({ start: given, sale, copied, first = 'sale' }: SaleFormProps) {
  const isNew = sale === undefined
  const part = useSignal(first)
  const [start] = useState(given)
  const [, navigate] = useLocation()
  const body = useSignal(start)
  const id = useSignal<string | null>(sale ?? null)
  const touched = useSignal<ReadonlySet<string>>(new Set())
  const isAllShown = useSignal(false)
  /** The errors from the API, each until its field is changed. */
  const refused = useSignal<ReadonlyMap<string, string>>(new Map())
  const isSaved = useRef(false)
  const form = useRef<HTMLFormElement>(null)

  const savedIds = isNew ? [] : ((start.products ?? []) as readonly Body[]).map(({ product_id }) => String(product_id))
  const saleId = id.value ?? idFrom(String(body.value.name ?? ''))
  const wrong = wrongIn(body.value, saleId)
  const isShown = (path: string) => isAllShown.value || touched.value.has(path)
  const shown = new Map([...[...wrong].filter(([path]) => isShown(path)), ...refused.value])
  const changes = changesBetween(start, body.value)
  const isOpen = !isNew && start.phase !== 'upcoming'
  useUnsavedGuard(() => !isSaved.current && (body.value !== start || (isNew && id.value !== null)))
  useTitle(`${isNew ? 'New sale' : `Edit ${start.name}`} · Console`)

  const touch = (path: string) => {
    if (!touched.value.has(path)) touched.value = new Set([...touched.value, path])
  }
  const set = (path: string, value: Json | undefined) => {
    touch(path)
    // A change may also correct the errors inside the field.
    refused.value = new Map([...refused.value].filter(([field]) => !`${field}.`.startsWith(`${path}.`)))
    const product = /^products\.(\d+)\.name$/.exec(path)?.[1]
    if (path === 'sale') id.value = String(value)
    else if (product !== undefined) body.value = namedProduct(body.value, Number(product), String(value), savedIds)
    else body.value = withValue(body.value, path, value)
  }
  const showAll = () => {
    isAllShown.value = true
    const faults = [...wrongIn(body.value, saleId).keys(), ...refused.value.keys()]
    if (isNew && faults.length > 0 && !faults.some((path) => isOn(part.value, path)))
      part.value = part.value === 'sale' ? 'goods' : 'sale'
    // The focus moves after the fields have shown their errors.
    setTimeout(() => showField(form.current?.querySelector<HTMLElement>('[aria-invalid=true]')))
  }

  async function save(): Promise<Done> {
    try {
      // The headers keep the call from overwriting another sale, or somebody else's change.
      const headers: Record<string, string> = isNew ? { 'if-none-match': '*' } : { 'if-match': `"${start.version}"` }
      await calls.$put({ param: { sale: saleId }, json: withoutSections(body.value) as SaleBody }, { headers })
    } catch (error) {
      if (sale !== undefined && error instanceof ApiError && error.problem.status === 412)
        throw new Error(await changedMeanwhile(sale, start, error))
      const errors = error instanceof ApiError ? (error.problem.errors ?? []) : []
      refused.value = new Map(errors.map(({ field, detail }) => [field, detail]))
      throw error
    }
    isSaved.current = true
    navigate(`/console/sales/${saleId}`)
    return { text: isNew ? `${body.value.name} is created.` : `${body.value.name} is saved.` }
  }

  const {
    mutate: create,
    error: failure,
    isPending,
  } = useMutation({
    mutationFn: async () => {
      if (wrong.size > 0) showAll()
      else say(await save())
    },
    onError: showAll,
  })

  if (!may('operator')) return <p>Only operators and owners change sales.</p>
  const context = {
    body: { ...body.value, sale: saleId },
    wrong: shown,
    warnings: warningsIn(body.value, Date.now(), isOpen),
    set,
    touch,
  }
  return (
    <FormContext.Provider value={context}>
      <Head title={titleOf(start, { isNew, copied, part: part.value })} />
      {isNew && (
        <fieldset class="form-parts" aria-label="Parts of the sale">
          {PARTS.map(([one, text]) => (
            <button key={one} type="button" aria-pressed={part.value === one} onClick={() => (part.value = one)}>
              {text}
            </button>
          ))}
        </fieldset>
      )}
      <form
        ref={form}
        class={part.value === 'goods' ? 'goods-form' : 'sale-form'}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (isNew) create()
          else if (wrong.size > 0) showAll()
        }}
      >
        {part.value === 'goods' ? <Goods /> : <Sale isNew={isNew} saleId={saleId} />}
      </form>
      <footer class="save">
        <Failure error={failure} />
        {shown.size > 0 && (
          <p class="wrong" role="status">
            {shown.size === 1 ? 'One field is' : `${shown.size} fields are`} not right yet{elsewhere(shown, part.value)}
            .
          </p>
        )}
        <p class="buttons">
          <Link href={isNew ? '/console' : `/console/sales/${sale}`}>Leave</Link>
          {isNew ? (
            <button type="button" class="primary" disabled={isPending} onClick={() => create()}>
              Create the sale
            </button>
          ) : wrong.size > 0 ? (
            <button type="button" class="primary" onClick={showAll}>
              Save
            </button>
          ) : (
            <Confirm
              action="Save"
              disabled={changes.length === 0}
              effect={isOpen ? 'The sale is running: this takes effect within seconds.' : 'This is what changes.'}
              onConfirm={save}
            >
              <Changes changes={changes} />
            </Confirm>
          )}
        </p>
      </footer>
    </FormContext.Provider>
  )
}

function titleOf(start: Body, { isNew, copied, part }: { isNew: boolean; copied: string | undefined; part: Part }) {
  if (isNew) return copied ? `New sale, as ${start.name}` : 'New sale'
  return part === 'goods' ? `Goods of ${start.name}` : `Edit ${start.name}`
}

/** Counts the errors in fields that this page does not show. */
function elsewhere(wrong: Wrong, part: Part): string {
  const many = [...wrong.keys()].filter((path) => !isOn(part, path)).length
  return many === 0 ? '' : `, ${many} of them under ${part === 'goods' ? 'Edit' : 'Goods'}`
}

function Sale({ isNew, saleId }: { isNew: boolean; saleId: string }) {
  return (
    <>
      <div>
        <section class="sec" aria-label="Name and id">
          <TextField path="name" label="Name" hint="As visitors read it." />
          <TextsField path="names" label="Name in other languages" />
          <TextField
            path="sale"
            label="Id"
            disabled={!isNew}
            hint={isNew ? `In addresses: /sales/${saleId || '…'}. It cannot be changed later.` : undefined}
          />
        </section>
        <Times />
        <Products isNew={isNew} />
      </div>
      <div>
        <Rate isNew={isNew} />
        <AccessSection />
        <Lines />
        <Orders />
        <Contact />
        <Receipts />
        <Page isNew={isNew} />
      </div>
    </>
  )
}

/** Opens whatever is folded around a field, and moves the focus to it. */
function showField(field: HTMLElement | null | undefined): void {
  for (let fold = field?.closest('details'); fold; fold = fold.parentElement?.closest('details')) fold.open = true
  field?.focus()
}

async function changedMeanwhile(sale: string, start: Body, { problem }: ApiError): Promise<string> {
  const others = changesBetween(start, await readSale(sale))
  const fields = others.map(({ field, after }) => `${field} is ${after}`).join('; ')
  return `${whoChanged(problem)} has changed the sale meanwhile: ${fields}. Load the page again to edit it as it is.`
}

function Changes({ changes }: { changes: readonly Change[] }) {
  return (
    <ul class="changes">
      {changes.map(({ field, before, after }) => (
        <li key={field}>
          <code>{field}</code> <del>{before}</del> <span aria-hidden="true">→</span> <ins>{after}</ins>
        </li>
      ))}
    </ul>
  )
}
