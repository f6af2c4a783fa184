/** The bar for the chosen orders, and the dialog that acts on them one after the other and says how far it is. */
import { useSignal } from '@preact/signals'
import { useMutation } from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { FoundOrder } from '../../../../../shared/api/operators/answers.ts'
import { count } from '../../format.ts'
import { Failure } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Dialog, Effects } from '../../sheet/dialog.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { say } from '../../toast.tsx'
import { ACTS, type Act, type Progress, runAll, sumOf } from './bulk-acts.ts'
import { buyerOf, numberOf } from './order-table.tsx'

interface BarProps {
  readonly orders: readonly FoundOrder[]
  onNone(): void
}

export function BulkBar({ orders, onNone }: BarProps) {
  const act = useSignal<Act | null>(null)
  // The orders as they were chosen: what is done with them changes them.
  const taken = useSignal<readonly FoundOrder[]>([])
  const ids = orders.map(({ order_id }) => order_id)
  return (
    <>
      {orders.length > 0 && (
        <section class="bulk" aria-label={`${ordersIn(orders.length)} chosen`}>
          <button type="button" class="btn bare" aria-label="Choose none" onClick={onNone}>
            <Icon name="x" />
          </button>
          <p class="end" role="status">
            <b>{ordersIn(orders.length)}</b>, {sumOf(orders, ({ total_minor }) => total_minor)}
          </p>
          <a class="btn" href={`/admin/orders/export?format=csv&orders=${ids.join()}`} download>
            <Icon name="save" />
            Export
          </a>
          {may('operator') &&
            ACTS.map((one) => (
              <button
                key={one.id}
                type="button"
                class="btn"
                onClick={() => {
                  taken.value = orders
                  act.value = one
                }}
              >
                <Icon name={one.icon} />
                {one.name}
              </button>
            ))}
        </section>
      )}
      {act.value && <BulkDialog act={act.value} chosen={taken.value} onClose={() => (act.value = null)} />}
    </>
  )
}

const ordersIn = (many: number) => `${count(many)} ${many === 1 ? 'order' : 'orders'}`
const NOTHING: Progress = { done: [], failed: [] }

interface DialogProps {
  readonly act: Act
  readonly chosen: readonly FoundOrder[]
  onClose(): void
}

function BulkDialog({ act, chosen, onClose }: DialogProps) {
  const possible = chosen.filter((order) => act.refusal(order) === null)
  const left = chosen.filter((order) => !possible.includes(order))
  const progress = useSignal(NOTHING)
  const reason = useSignal('')
  const isStopped = useRef(false)
  /** The keys stay the same while the dialog is open, so that another try does nothing twice. */
  const keys = useRef(crypto.randomUUID())
  const undos = useRef<(() => Promise<void>)[]>([])
  const { mutate, error, isPending } = useMutation({
    mutationFn: async (orders: readonly FoundOrder[]) => {
      isStopped.current = false
      const before = progress.value.done
      const ended = await runAll({
        orders,
        isStopped: () => isStopped.current,
        async run(order) {
          const undo = await act.run(order, `${keys.current}-${order.order_id}`, reason.value.trim())
          if (undo) undos.current.push(undo)
        },
        onProgress: ({ done, failed }) => (progress.value = { done: [...before, ...done], failed }),
      })
      return [...before, ...ended.done].length === possible.length
    },
    onSuccess: (isWhole) => {
      if (progress.value.done.length > 0)
        say({
          text: act.result(progress.value.done),
          ...(undos.current.length > 0 && { undo: undoAll(undos.current) }),
        })
      if (isWhole) onClose()
    },
  })
  const { done, failed } = progress.value
  const open = possible.filter((order) => !done.includes(order))
  const hasBegun = done.length + failed.length > 0
  return (
    <Dialog title={act.name} sub={`${ordersIn(chosen.length)} chosen`} isOpen closes={!isPending} onClose={onClose}>
      {!hasBegun && !isPending && (
        <>
          {left.length > 0 && <LeftOut act={act} orders={left} />}
          {possible.length > 0 && <Effects effects={act.effects} />}
          {possible.length > 0 && act.id !== 'send' && (
            <label class="label">
              <span>
                Reason <small class="quiet">for the records, may be left out</small>
              </span>
              <span class="field">
                <input
                  maxLength={200}
                  autocomplete="off"
                  value={reason.value}
                  onInput={({ currentTarget }) => (reason.value = currentTarget.value)}
                />
              </span>
            </label>
          )}
        </>
      )}
      {(isPending || hasBegun) && (
        <>
          <progress
            class="bulk-progress"
            max={possible.length}
            value={done.length + failed.length}
            aria-label={act.name}
          />
          <p role="status">
            {count(done.length)} of {ordersIn(possible.length)} done
            {failed.length > 0 && `, ${count(failed.length)} refused`}
            {!isPending && open.length > failed.length && ', and stopped'}
          </p>
        </>
      )}
      {failed.length > 0 && (
        <ul class="failed-orders stack close small" aria-label="Refused">
          {failed.map(({ order, why }) => (
            <li key={order.order_id}>
              <Link href={`/console/orders/${order.order_id}`}>{numberOf(order)}</Link> of {buyerOf(order)}: {why}
            </li>
          ))}
        </ul>
      )}
      <Failure error={error} />
      <footer class="row ends">
        {isPending ? (
          <button type="button" class="btn tall" onClick={() => (isStopped.current = true)}>
            Stop
          </button>
        ) : (
          <button type="button" class="btn tall" onClick={onClose}>
            {hasBegun ? 'Close' : 'Go back'}
          </button>
        )}
        {possible.length > 0 && open.length > 0 && (
          <button
            type="button"
            class={`btn tall ${act.isDanger ? 'danger' : 'primary'}`}
            disabled={isPending}
            onClick={() => mutate(open)}
          >
            {hasBegun && !isPending ? `Try the other ${count(open.length)} again` : act.label(possible)}
          </button>
        )}
      </footer>
    </Dialog>
  )
}

const undoAll = (undos: readonly (() => Promise<void>)[]) => async () => {
  await Promise.all(undos.map((undo) => undo()))
  return { text: 'It is undone.' }
}

/** The orders with which it cannot be done are named by their reasons. */
function LeftOut({ act, orders }: { readonly act: Act; readonly orders: readonly FoundOrder[] }) {
  const byReason = [...Map.groupBy(orders, (order) => act.refusal(order) ?? '')]
  return (
    <ul class="quote small stack close" aria-label="Left out">
      {byReason.map(([why, group]) => (
        <li key={why}>
          {group.length === 1 ? `Left out, as it ${why}: ` : `${count(group.length)} left out, as each ${why}: `}
          <span class="mono">
            {group
              .slice(0, 5)
              .map((order) => numberOf(order))
              .join(', ')}
          </span>
          {group.length > 5 && ` and ${group.length - 5} more`}
        </li>
      ))}
    </ul>
  )
}
