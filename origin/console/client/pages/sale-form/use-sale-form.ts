/** The state of the form: what is saved, what was typed, what is wrong, and what others have changed meanwhile. */
import { useSignal } from '@preact/signals'
import { useMutation } from '@tanstack/preact-query'
import type { InferRequestType } from 'hono/client'
import { useRef, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { ApiError, admin, read } from '../../api.ts'
import { type Done, say } from '../../toast.tsx'
import { type Conflict, type Difference, decided, differencesBetween, mergedWith } from './changes/differences.ts'
import {
  type Body,
  configOf,
  fromRead,
  idFrom,
  isOn,
  type Json,
  namedProduct,
  type Part,
  withoutSections,
  withValue,
  wrongIn,
} from './draft.ts'
import { useUnsavedGuard } from './unsaved-guard.ts'

const calls = admin.sales[':sale']
type SaleBody = InferRequestType<typeof calls.$put>['json']

/** Reads the sale in the structure of the form, whose fields have the same paths. */
export const readSale = async (sale: string) =>
  fromRead((await read(calls.$get({ param: { sale } }))) as unknown as Body)

/** Somebody else saved the sale first (412). */
export interface Clash {
  readonly by: string
  readonly atMs: number
  readonly conflicts: readonly (Conflict & { readonly choice: 'mine' | 'theirs' | null })[]
  /** What only they have changed, and whether the operator put the value before back. */
  readonly taken: readonly Difference[]
}

interface Asked {
  readonly start: Body
  /** The id of the edited sale; missing for a new one. */
  readonly sale: string | undefined
  readonly first: Part
}

const PHASES_RUNNING = ['open', 'paused', 'all_in_carts']

export function useSaleForm({ start, sale, first }: Asked) {
  const isNew = sale === undefined
  const [, navigate] = useLocation()
  const [given] = useState(start)
  const part = useSignal(first)
  const base = useSignal(given)
  const body = useSignal(given)
  const id = useSignal<string | null>(sale ?? null)
  const touched = useSignal<ReadonlySet<string>>(new Set())
  const isAllShown = useSignal(false)
  /** The errors from the API, each until its field is changed. */
  const refused = useSignal<ReadonlyMap<string, string>>(new Map())
  const clash = useSignal<Clash | null>(null)
  const isSaved = useRef(false)
  const form = useRef<HTMLFormElement>(null)

  const saleId = id.value ?? idFrom(String(body.value.name ?? ''))
  const invalid = wrongIn(body.value, saleId)
  const wrong = new Map([...invalid, ...refused.value])
  const isShown = (path: string) => isAllShown.value || touched.value.has(path) || refused.value.has(path)
  const changes = isNew ? [] : differencesBetween(base.value, body.value)
  const undecided = clash.value?.conflicts.filter(({ choice }) => choice === null) ?? []
  useUnsavedGuard(() => {
    if (isSaved.current) return false
    return isNew ? body.value !== given || id.value !== null : differencesBetween(base.value, body.value).length > 0
  })

  const touch = (path: string) => {
    if (!touched.value.has(path)) touched.value = new Set([...touched.value, path])
  }
  const savedIds = isNew ? [] : ((given.products ?? []) as readonly Body[]).map((one) => String(one.product_id))
  const set = (path: string, value: Json | undefined) => {
    touch(path)
    // A change may also correct the errors inside the field.
    const isCorrected = (field: string) =>
      `${field}.`.startsWith(`${path}.`) || (field === 'sale' && path === 'name' && id.value === null)
    refused.value = new Map([...refused.value].filter(([field]) => !isCorrected(field)))
    const product = /^products\.(\d+)\.name$/.exec(path)?.[1]
    if (path === 'sale') id.value = String(value)
    else if (product !== undefined) body.value = namedProduct(body.value, Number(product), String(value), savedIds)
    else body.value = withValue(body.value, path, value)
  }

  /** Shows all errors, and moves to the first. */
  const showAll = () => {
    isAllShown.value = true
    const faults = [...wrongIn(body.value, saleId).keys(), ...refused.value.keys()]
    if (isNew && faults.length > 0 && !faults.some((path) => isOn(part.value, path)))
      part.value = part.value === 'sale' ? 'goods' : 'sale'
    // The focus moves after the fields have shown their errors.
    setTimeout(() => showField(form.current?.querySelector<HTMLElement>('[aria-invalid=true]')))
  }

  const restart = (saved: Body) => {
    base.value = saved
    body.value = saved
    touched.value = new Set()
    isAllShown.value = false
    clash.value = null
  }

  /** Takes what somebody else saved under what was typed. */
  async function mergeOthers(error: ApiError): Promise<void> {
    const theirs = await readSale(saleId)
    const { body: merged, conflicts, taken } = mergedWith(base.value, body.value, theirs)
    const { by, at } = error.problem
    clash.value = {
      by: typeof by === 'string' ? by : 'Somebody',
      atMs: typeof at === 'string' ? Date.parse(at) : Date.now(),
      conflicts: conflicts.map((one) => ({ ...one, choice: null })),
      taken,
    }
    base.value = theirs
    body.value = merged
  }

  /** Returns null if somebody else saved first; the verdict then says so. */
  async function save(): Promise<Done | null> {
    const before = base.value
    try {
      // The headers keep the call from overwriting another sale, or somebody else's change.
      const headers: Record<string, string> = isNew ? { 'if-none-match': '*' } : { 'if-match': `"${before.version}"` }
      const saved = await put(saleId, body.value, headers)
      isSaved.current = isNew
      if (isNew) navigate(`/console/sales/${saleId}`)
      else restart(saved)
      const undo = async () => {
        restart(await put(saleId, configOf(before) ?? before, { 'if-match': `"${saved.version}"` }))
        return { text: `${before.name} is as before.` }
      }
      return isNew ? { text: `${saved.name} is created.` } : { text: `${saved.name} is saved.`, undo }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (!isNew && error.problem.status === 412) {
        await mergeOthers(error)
        return null
      }
      refused.value = new Map((error.problem.errors ?? []).map(({ field, detail }) => [field, detail]))
      throw error
    }
  }

  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: save,
    onSuccess: (done) => {
      if (done) say(done)
    },
    onError: showAll,
  })

  return {
    isNew,
    saleId,
    part,
    form,
    base: base.value,
    body: body.value,
    changes,
    clash: clash.value,
    undecided,
    wrong,
    shown: new Map([...wrong].filter(([path]) => isShown(path))),
    isRunning: PHASES_RUNNING.includes(String(base.value.phase)),
    error,
    isPending,
    set,
    touch,
    showAll,
    save: () => {
      if (invalid.size > 0) showAll()
      else mutate()
    },
    discard: () => {
      const typed = body.value
      restart(base.value)
      reset()
      say({
        text: 'Your changes are discarded.',
        undo: async () => {
          body.value = typed
          return { text: 'Your changes are back.' }
        },
      })
    },
    decide: (conflict: Conflict, choice: 'mine' | 'theirs') => {
      const now = clash.value
      if (!now) return
      body.value = decided(body.value, conflict, choice)
      clash.value = {
        ...now,
        conflicts: now.conflicts.map((one) => (one.path === conflict.path ? { ...one, choice } : one)),
      }
    },
    putBack: ({ path, before }: Difference) => set(path, before),
  }
}

export type SaleForm = ReturnType<typeof useSaleForm>

async function put(sale: string, body: Body, headers: Record<string, string>): Promise<Body> {
  const json = withoutSections(body) as SaleBody
  return fromRead((await read(calls.$put({ param: { sale }, json }, { headers }))) as unknown as Body)
}

/** Opens whatever is folded around a field, and moves the focus to it. */
function showField(field: HTMLElement | null | undefined): void {
  for (let fold = field?.closest('details'); fold; fold = fold.parentElement?.closest('details')) fold.open = true
  field?.focus()
}
