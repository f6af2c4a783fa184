/** The filters of the orders: a chip for each, which says what it is set to and takes it away, or opens a choice. */

import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { capital } from '../../../../../shared/format.ts'
import { readSales } from '../../api.ts'
import { instant, textIn } from '../../format.ts'
import { saleQuery } from '../../frame/side.tsx'
import { Failure, Loading } from '../../parts.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { type Filter, MADE_WORDS, madeInWords, type Search, type Show, STATUS_WORDS } from './order-views.ts'

/** The list offers at most this many sales; what is typed finds the others. */
const SALES = 12

interface FiltersProps {
  readonly search: Search
  readonly onShow: Show
  readonly children: ComponentChildren
}

export function Filters({ search, onShow, children }: FiltersProps) {
  // The side column reads the same sale.
  const { data: known } = useQuery({ ...saleQuery(search.sale ?? ''), enabled: Boolean(search.sale) })
  const products = known?.products ?? []
  const product = products.find(({ product_id }) => product_id === search.product)
  const statuses = search.status ? search.status.split(',') : []
  return (
    <fieldset class="row filters" aria-label="Filters">
      <FilterChip
        name="Sale"
        set={search.sale && `Sale: ${known?.name ?? search.sale}`}
        onUnset={() => onShow({ sale: '', product: '' })}
      >
        <ChooseSale onChoose={(sale) => onShow({ sale, product: '' })} />
      </FilterChip>
      {products.length > 1 && (
        <FilterChip
          name="Product"
          set={search.product && `Product: ${product?.name ?? search.product}`}
          onUnset={() => onShow({ product: '' })}
        >
          <ul class="menu">
            {products.map(({ product_id, name }) => (
              <li key={product_id}>
                <button type="button" class="btn bare" onClick={() => onShow({ product: product_id })}>
                  {name}
                </button>
              </li>
            ))}
          </ul>
        </FilterChip>
      )}
      <FilterChip
        name="Made"
        set={search.made && `Made ${madeInWords(search.made)}`}
        onUnset={() => onShow({ made: '' })}
      >
        <ChooseTime onChoose={(made) => onShow({ made })} />
      </FilterChip>
      <FilterChip
        name="Status"
        set={statuses.length > 0 && `Status: ${statuses.map(statusWord).join(' or ')}`}
        onUnset={() => onShow({ status: '' })}
      >
        <ChooseStatuses onChoose={(chosen) => onShow({ status: chosen.join() })} />
      </FilterChip>
      {search.problem && <FilterChip name="Problem" set="To look at" onUnset={() => onShow({ problem: '' })} />}
      {children}
    </fieldset>
  )
}

const statusWord = (status: string) => (STATUS_WORDS as Readonly<Record<string, string>>)[status] ?? status

interface FilterChipProps {
  readonly name: Capitalize<Filter>
  /** What the filter is set to in words; empty or false if it is off. */
  readonly set: string | false | undefined
  /** The choice that the chip opens while the filter is off. It closes once something is chosen. */
  readonly children?: ComponentChildren
  onUnset(): void
}

function FilterChip({ name, set, children, onUnset }: FilterChipProps) {
  const id = useId()
  const chip = useRef<HTMLButtonElement>(null)
  const isOpen = useSignal(false)
  const isUsed = useRef(false)
  // The choice goes with its filter, so the focus returns to the chip.
  useEffect(() => {
    if (isUsed.current) chip.current?.focus()
  }, [set])
  if (set)
    return (
      <button
        ref={chip}
        type="button"
        class="chip on"
        onClick={() => {
          isUsed.current = true
          onUnset()
        }}
      >
        {set}
        <Icon name="x" />
        <span class="unseen">, take it away</span>
      </button>
    )
  return (
    <>
      <button ref={chip} type="button" class="chip" popovertarget={id} onClick={() => (isUsed.current = true)}>
        <Icon name="plus" />
        {name}
      </button>
      <div
        class="pop dropdown from-start acts-menu"
        id={id}
        popover="auto"
        role="dialog"
        aria-label={name}
        onToggle={({ newState }) => (isOpen.value = newState === 'open')}
      >
        {isOpen.value && children}
      </div>
    </>
  )
}

/** The sales are read once somebody chooses among them: there may be hundreds. */
function ChooseSale({ onChoose }: { readonly onChoose: (sale: string) => void }) {
  const { data, error } = useQuery({ queryKey: ['sales'], queryFn: readSales })
  const sales = data?.sales ?? []
  const typed = useSignal('')
  const words = typed.value.toLowerCase().split(/\s+/)
  const found = sales.filter(({ sale, name }) => words.every((word) => `${sale} ${name}`.toLowerCase().includes(word)))
  return (
    <div class="stack close">
      <label class="field">
        <Icon name="search" />
        <span class="unseen">Name or id of the sale</span>
        <input
          placeholder="Name or id"
          autocomplete="off"
          value={typed.value}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        />
      </label>
      <ul class="menu" aria-label="Sales">
        {found.slice(0, SALES).map(({ sale, name, opens_at }) => (
          <li key={sale}>
            <button type="button" class="btn bare" onClick={() => onChoose(sale)}>
              <span>
                {name}
                <br />
                <small class="quiet">
                  <span class="mono">{sale}</span>, {instant(opens_at)}
                </small>
              </span>
            </button>
          </li>
        ))}
      </ul>
      <Failure error={error} />
      {!data && !error && <Loading />}
      {found.length > SALES && <p class="small quiet">{found.length - SALES} more: type a part of the name</p>}
    </div>
  )
}

const ChooseTime = ({ onChoose }: { readonly onChoose: (made: string) => void }) => (
  <form
    class="stack close"
    onSubmit={(event) => {
      event.preventDefault()
      const form = new FormData(event.currentTarget as HTMLFormElement)
      const [from, to] = [textIn(form, 'from'), textIn(form, 'to')]
      if (from !== '' || to !== '') onChoose(`${from}..${to}`)
    }}
  >
    <ul class="menu">
      {Object.entries(MADE_WORDS).map(([made, words]) => (
        <li key={made}>
          <button type="button" class="btn bare" onClick={() => onChoose(made)}>
            {capital(words)}
          </button>
        </li>
      ))}
    </ul>
    <label class="label">
      From
      <span class="field">
        <input type="date" name="from" />
      </span>
    </label>
    <label class="label">
      To, that day included
      <span class="field">
        <input type="date" name="to" />
      </span>
    </label>
    <button type="submit" class="btn center">
      Show these days
    </button>
  </form>
)

function ChooseStatuses({ onChoose }: { readonly onChoose: (statuses: readonly string[]) => void }) {
  const form = useRef<HTMLFormElement>(null)
  return (
    <form
      ref={form}
      class="stack close"
      onSubmit={(event) => {
        event.preventDefault()
        if (form.current) onChoose(new FormData(form.current).getAll('status').map(String))
      }}
    >
      {Object.entries(STATUS_WORDS).map(([status, words]) => (
        <label key={status} class="check">
          <input type="checkbox" name="status" value={status} />
          <span>{words}</span>
        </label>
      ))}
      <button type="submit" class="btn center">
        Show these
      </button>
    </form>
  )
}
