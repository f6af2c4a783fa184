/** The editor of the chosen promo code, or of a new one, with what an order costs with it. */
import { useSignal } from '@preact/signals'
import { useMutation } from '@tanstack/preact-query'
import type { PromoCode } from '../../../../../shared/api/goods.ts'
import { billOf, type Terms } from '../../../../../shared/bill.ts'
import { money } from '../../../../../shared/format.ts'
import { ApiError } from '../../api.ts'
import { count, countryName } from '../../format.ts'
import { Confirm, Failure } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Labelled, Segmented } from '../../sheet/controls.tsx'
import { Dot } from '../../sheet/marks.tsx'
import { type Done, say } from '../../toast.tsx'
import { unitsIn } from '../goods/sample-bill.tsx'
import { type Body, currencyOf } from '../sale-form/draft.ts'
import { changeCode } from './code-calls.ts'
import { type CodeDraft, codeOf, draftOf, type Kind } from './code-draft.ts'
import type { ListedCode } from './codes.ts'

const KINDS: readonly (readonly [Kind, string])[] = [
  ['percent', 'A share'],
  ['amount_minor', 'An amount'],
  ['price_minor', 'A price'],
]

interface EditorProps {
  readonly sale: string
  readonly about: Body
  /** The chosen code; missing for a new one. */
  readonly code?: ListedCode | undefined
  /** Called after the code was created, or nothing is to be edited any more. */
  onDone(code: string | null): void
}

export function CodeEditor({ sale, about, code, onDone }: EditorProps) {
  const currency = currencyOf(about)
  const { used = 0, ...listed } = code ?? {}
  const before = code ? (listed as PromoCode) : undefined
  const start = draftOf(before, currency)
  const draft = useSignal(start)
  const set = (changes: Partial<CodeDraft>) => (draft.value = { ...draft.value, ...changes })
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: async (): Promise<Done> => {
      const made = codeOf(draft.value, currency, before)
      await changeCode(sale, made, before)
      onDone(made.code)
      if (!before) return { text: `${made.code} can be used.`, undo: () => remove(sale, made) }
      return {
        text: `${made.code} is changed.`,
        undo: () => restore(sale, before, made, `${made.code} is as before.`),
      }
    },
    onSuccess: say,
  })
  const errors = new Map(
    error instanceof ApiError ? (error.problem.errors ?? []).map(({ field, detail }) => [field, detail]) : [],
  )
  const made = attempt(() => codeOf(draft.value, currency, before))
  const isChanged = JSON.stringify(draft.value) !== JSON.stringify(start)
  const mayChange = may('operator')
  const { kind } = draft.value
  const input = (name: keyof CodeDraft, more: object = {}) => ({
    value: String(draft.value[name]),
    autocomplete: 'off',
    readOnly: !mayChange,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      set({ [name]: currentTarget.value }),
    ...more,
  })
  const uses = made && before && made.uses !== before.uses ? made.uses : undefined
  return (
    <form
      class="sec"
      id="edit"
      aria-label={code?.code ?? 'A new code'}
      onSubmit={(event) => {
        event.preventDefault()
        if (mayChange) mutate()
      }}
    >
      <header>
        <h2 class={code ? 'mono' : ''}>{code?.code ?? 'A new code'}</h2>
        {code && <span class="small quiet">used {count(used)} times</span>}
      </header>
      {code && <Left code={code} />}
      <Failure error={errors.size > 0 ? null : error} />
      {!code && (
        <Labelled
          label="Code"
          note="Letters, digits, - and _. Upper and lower case are the same."
          wrong={errors.get('code')}
          input={input('code', { required: true, autocapitalize: 'characters', autofocus: true })}
        />
      )}
      <div class="label">
        <span>It gives</span>
        <Segmented
          label="It gives"
          value={kind}
          options={KINDS}
          onChoose={(one) => mayChange && set({ kind: one, value: '' })}
        />
      </div>
      <div class="trio">
        <Labelled
          label={kind === 'price_minor' ? 'Each for' : 'Off'}
          unit={kind === 'percent' ? '%' : currency}
          wrong={errors.get(kind)}
          input={input('value', { inputMode: 'decimal', required: true })}
        />
        <Labelled
          label="Uses in all"
          wrong={errors.get('uses')}
          input={input('uses', { inputMode: 'numeric', placeholder: 'no limit' })}
        />
        <Labelled
          label="A visitor"
          wrong={errors.get('uses_per_visitor')}
          input={input('each', { inputMode: 'numeric', placeholder: 'any' })}
        />
      </div>
      {uses !== undefined && before && (
        <p class="note" role="status">
          <Dot level="info" />
          <b>Uses were {before.uses === null ? 'not limited' : count(before.uses)}.</b>{' '}
          {uses === null ? 'All who have it can use it' : `${count(Math.max(0, uses - used))} can be had`} within 1 s;
          what has the code keeps its price.
        </p>
      )}
      <Labelled label="From" wrong={errors.get('from')} input={input('from', { type: 'datetime-local', step: '1' })} />
      <Labelled
        label="Until"
        note="Empty: at any time."
        wrong={errors.get('until')}
        input={input('until', { type: 'datetime-local', step: '1' })}
      />
      <Labelled
        label="For"
        note="Products or variants by their ids, with commas. A product means all its variants."
        wrong={errors.get('products')}
        input={input('products', { placeholder: 'all products' })}
      />
      <Labelled
        label="Units of one use"
        note="So many units of an order are cheaper, the dearest ones."
        wrong={errors.get('units_per_use')}
        input={input('units', { inputMode: 'numeric', placeholder: 'all of the order' })}
      />
      <label class="row small switched">
        <input
          type="checkbox"
          class="switch"
          disabled={!mayChange}
          checked={draft.value.combined}
          onChange={({ currentTarget }) => set({ combined: currentTarget.checked })}
        />
        may be used beside another code
      </label>
      {made && <Costs about={about} code={made} />}
      {mayChange ? (
        <footer class="row ends tight-row">
          {code && <StopOrRemove sale={sale} code={code} onDone={onDone} />}
          <button
            type="button"
            class="btn"
            disabled={!isChanged && code !== undefined}
            onClick={() => {
              draft.value = start
              reset()
              if (!code) onDone(null)
            }}
          >
            Discard
          </button>
          <button type="submit" class={code ? 'btn' : 'btn primary'} disabled={isPending || !isChanged}>
            {code ? `Save ${code.code}` : 'Add the code'}
          </button>
        </footer>
      ) : (
        <p class="note">Only operators and owners change codes.</p>
      )}
    </form>
  )
}

/** Null while the draft makes no code yet. */
function attempt<T>(make: () => T): T | null {
  try {
    return make()
  } catch {
    return null
  }
}

function Left({ code: { uses, used } }: { readonly code: ListedCode }) {
  if (uses === null) return null
  const left = Math.max(0, uses - used)
  const isFew = left <= uses / 20
  return (
    <p class="row small tight-row">
      <Dot level={left === 0 ? 'off' : isFew ? 'watch' : 'good'} />
      <b>{left === 1 ? '1 use is left' : `${count(left)} uses are left`}</b> of {count(uses)}.
    </p>
  )
}

/** One unit with the code, as an order has it. */
function Costs({ about, code }: { readonly about: Body; readonly code: PromoCode }) {
  const units = unitsIn(about)
  const unit =
    code.products === null
      ? units[0]
      : units.find(({ line }) => code.products?.some((id) => id === line.product || id === line.variant_of))
  if (!unit) return <p class="quote small">No product of this sale has one of these ids.</p>
  const currency = currencyOf(about)
  const terms = about as unknown as Terms
  const country = terms.delivery.kind === 'address' ? terms.delivery.countries?.[0] : undefined
  const bill = billOf([{ ...unit.line, quantity: 1 }], terms, { discounts: [code], country, currency })
  if (!bill) return null
  const parts = bill.bill.filter(({ included }) => !included)
  const amount = (minor: number) => money('en', Math.abs(minor), currency)
  return (
    <p class="quote small">
      <b>
        1 × {unit.name}
        {country !== undefined && `, to ${countryName(country)}`}:
      </b>{' '}
      {amount(unit.line.unit_price_minor)}
      {parts.map(({ amount_minor }) => ` ${amount_minor < 0 ? '−' : '+'} ${amount(amount_minor)}`)} ={' '}
      <b>{amount(bill.totals.total_minor)}</b>
    </p>
  )
}

interface StopProps {
  readonly sale: string
  readonly code: ListedCode
  onDone(code: string | null): void
}

/** A code that was used stays in the list, so it can only be stopped. */
function StopOrRemove({ sale, code: { used, ...code }, onDone }: StopProps) {
  if (used === 0)
    return (
      <Confirm
        action="Remove"
        name={`Remove ${code.code}`}
        look="bare"
        effect={`Nobody can use ${code.code} any more. Undo: add it again.`}
        onConfirm={async () => {
          const done = await remove(sale, code)
          onDone(null)
          return done
        }}
      />
    )
  return (
    <Confirm
      action="Stop it"
      name={`Stop ${code.code}`}
      look="bare"
      disabled={code.uses === used}
      effect={
        `Nobody else can use ${code.code}. The ${count(used)} who have used it keep what they pay. It ` +
        `stays in the list, with ${count(used)} uses in all.`
      }
      onConfirm={() => stop(sale, code, used)}
    />
  )
}

async function remove(sale: string, code: PromoCode): Promise<Done> {
  await changeCode(sale, code, code, true)
  return {
    text: `${code.code} is removed.`,
    undo: () => restore(sale, code, undefined, `${code.code} can be used again.`),
  }
}

async function stop(sale: string, code: PromoCode, used: number): Promise<Done> {
  const stopped = { ...code, uses: used }
  await changeCode(sale, stopped, code)
  return {
    text: `${code.code} cannot be used any more.`,
    undo: () => restore(sale, code, stopped, `${code.code} can be used again.`),
  }
}

/** `seen` is the value that the restored code replaces. */
async function restore(sale: string, code: PromoCode, seen: PromoCode | undefined, text: string): Promise<Done> {
  await changeCode(sale, code, seen)
  return { text }
}

/** A code that was changed meanwhile is another one for its editor. */
export const editorKey = (code: ListedCode | undefined) =>
  code === undefined ? 'new' : JSON.stringify({ ...code, used: 0 })
