/** The bar that counts the unsaved changes, and the dialog that lists them before they are saved. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { Failure } from '../../../parts.tsx'
import { Dialog } from '../../../sheet/dialog.tsx'
import { Keys } from '../../../sheet/icon.tsx'
import { Dot } from '../../../sheet/marks.tsx'
import { Table } from '../../../sheet/table.tsx'
import { isOn } from '../draft.ts'
import { isWithin } from '../fields/form.tsx'
import type { SaleForm } from '../use-sale-form.ts'
import type { Difference } from './differences.ts'
import { atOnce, inWords, labelOf } from './field-words.ts'

export function SaveBar({ form }: { readonly form: SaleForm }) {
  const isOpen = useSignal(false)
  const { isNew, changes, wrong, shown, undecided, isPending, error, part } = form
  const act = () => {
    if (isNew) form.save()
    else if (changes.length > 0) isOpen.value = true
  }
  // The keys follow what was typed at once, and not a frame later.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 's') return
      event.preventDefault()
      if (!document.querySelector('dialog[open]')) act()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  if (!isNew && changes.length === 0 && !error) return null
  const isWrong = ({ path }: Difference) =>
    [...wrong.keys()].some((field) => isWithin(field, path) || isWithin(path, field))
  const isToDecide = ({ path }: Difference) => undecided.some((one) => isWithin(one.path, path))
  const wrongs = changes.filter(isWrong)
  const toDecide = changes.filter((one) => !isWrong(one) && isToDecide(one))
  const ready = changes.length - wrongs.length - toDecide.length
  const elsewhere = [...shown.keys()].filter((path) => !isOn(part.value, path)).length
  return (
    <>
      <section class="savebar" aria-label="Unsaved">
        <div class="stack close said">
          <Failure error={error} />
          {isNew ? (
            <p role="status">
              {shown.size === 0 ? (
                'Nothing is created yet.'
              ) : (
                <>
                  <b>{shown.size === 1 ? 'One field is' : `${shown.size} fields are`} not right yet</b>
                  {elsewhere > 0 && `, ${elsewhere} of them under ${part.value === 'goods' ? 'The sale' : 'Goods'}`}.
                </>
              )}
            </p>
          ) : (
            <p role="status">
              <b>{changes.length === 1 ? '1 change:' : `${changes.length} changes:`}</b>{' '}
              {[
                ready > 0 && `${ready} ready`,
                toDecide.length > 0 && `${toDecide.length} to decide`,
                wrongs.length > 0 && `${wrongs.length} wrong`,
              ]
                .filter(Boolean)
                .join(', ')}
            </p>
          )}
        </div>
        {isNew ? (
          <button type="button" class="btn primary end" disabled={isPending} onClick={act}>
            Create the sale
          </button>
        ) : (
          <>
            <button type="button" class="btn bare" onClick={() => (isOpen.value = true)}>
              See them
            </button>
            <button type="button" class="btn end" onClick={form.discard}>
              Discard
            </button>
            <button type="button" class="btn primary" disabled={isPending} aria-keyshortcuts="Control+S" onClick={act}>
              Save
              <Keys class="wide">Ctrl S</Keys>
            </button>
          </>
        )}
      </section>
      <Dialog title="What is saved" isOpen={isOpen.value} onClose={() => (isOpen.value = false)}>
        <Listed form={form} isWrong={isWrong} isToDecide={isToDecide} />
        <p class="quote small">
          {form.isRunning
            ? 'In force within 1 s. Reservations, places and turns stay as they are.'
            : 'The sale does not run now: nothing changes for anybody in line.'}{' '}
          Undo: for ten seconds, then in the audit.
        </p>
        <footer class="row ends">
          <button type="button" class="btn bare tall" onClick={() => (isOpen.value = false)}>
            Go back<Keys class="wide">Esc</Keys>
          </button>
          {wrongs.length > 0 || wrong.size > 0 ? (
            <button
              type="button"
              class="btn primary tall"
              autofocus
              onClick={() => {
                isOpen.value = false
                form.showAll()
              }}
            >
              Go to the first that is wrong
            </button>
          ) : toDecide.length > 0 ? (
            <button
              type="button"
              class="btn primary tall"
              autofocus
              onClick={() => {
                isOpen.value = false
                document.querySelector<HTMLElement>('.verdict button')?.focus()
              }}
            >
              Decide {toDecide.length === 1 ? 'one field' : `${toDecide.length} fields`} first
            </button>
          ) : (
            <button
              type="button"
              class="btn primary tall"
              autofocus
              disabled={isPending || changes.length === 0}
              onClick={() => {
                isOpen.value = false
                form.save()
              }}
            >
              Save {changes.length === 1 ? '1 change' : `${changes.length} changes`}
            </button>
          )}
        </footer>
      </Dialog>
    </>
  )
}

interface ListedProps {
  readonly form: SaleForm
  isWrong(change: Difference): boolean
  isToDecide(change: Difference): boolean
}

function Listed({ form: { changes, base, body, isRunning, wrong, clash }, isWrong, isToDecide }: ListedProps) {
  const stateOf = (change: Difference) => {
    if (isWrong(change)) {
      const fault = [...wrong].find(([field]) => isWithin(field, change.path))?.[1]
      return (
        <small class="note is-bad state">
          <Dot level="bad" />
          {fault ?? 'wrong'}
        </small>
      )
    }
    return (
      isToDecide(change) && (
        <small class="note is-watch state">
          <Dot level="watch" />
          to decide
        </small>
      )
    )
  }
  return (
    <Table
      label="What is saved"
      rows={changes}
      keyOf={({ path }) => path}
      columns={[
        {
          name: 'Field',
          cell: (change) => (
            <>
              {labelOf(change.path, change.after === undefined ? base : body)}
              {stateOf(change)}
            </>
          ),
        },
        { name: 'Was', phone: 'z', cell: ({ path, before }) => inWords(path, before, base) },
        {
          name: 'Yours',
          cell: ({ path, after }) => {
            const other = clash?.conflicts.find((one) => one.path === path && one.choice === null)
            return (
              <>
                <b>{after === undefined ? 'removed' : inWords(path, after, body)}</b>
                {other && `, or ${clash?.by}’s ${inWords(path, other.theirs, body)}`}
              </>
            )
          },
        },
        ...(isRunning ? [{ name: 'At once', phone: 'z' as const, cell: (change: Difference) => atOnce(change) }] : []),
      ]}
    />
  )
}
