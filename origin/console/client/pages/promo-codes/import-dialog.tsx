/**
 * The import of a list of promo codes. It shows what was understood, and each refused line with its reason, before
 * anything changes.
 */
import { useSignal } from '@preact/signals'
import { useMutation } from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'
import type { PromoCodesCheck } from '../../../../../shared/api/goods.ts'
import { ApiError } from '../../api.ts'
import { count } from '../../format.ts'
import { Failure, whoChanged } from '../../parts.tsx'
import { useDrop } from '../../sheet/controls.tsx'
import { Dialog } from '../../sheet/dialog.tsx'
import { Icon, Keys } from '../../sheet/icon.tsx'
import { Verdict } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
import { say } from '../../toast.tsx'
import { type CodeList, checkCodes, putCodes } from './code-calls.ts'
import { forOf, offOf, type Plan, planOf, validOf } from './codes.ts'

const COLUMNS =
  'code, percent, amount_minor, price_minor, uses, uses_per_visitor, units_per_use, from, until, products, combined'
const EXAMPLE = `code,percent,amount_minor,uses,uses_per_visitor,from,until,products
SPRING,20,,100,1,,2026-12-01T00:00:00Z,
CLUB,,500,,,,,cap tee`
/** The number of understood lines that are shown. */
const SHOWN = 5

interface ImportProps {
  readonly sale: string
  readonly list: CodeList
  readonly currency: string
  readonly isOpen: boolean
  at(iso: string): string
  onClose(): void
}

interface Checked {
  readonly name: string
  readonly csv: string
  readonly check: PromoCodesCheck
  readonly plan: Plan
}

export function ImportDialog({ sale, list, currency, isOpen, at, onClose }: ImportProps) {
  return (
    <Dialog title="Import codes" isOpen={isOpen} broad onClose={onClose}>
      <Importing sale={sale} list={list} currency={currency} at={at} onClose={onClose} />
    </Dialog>
  )
}

function Importing({ sale, list, currency, at, onClose }: Omit<ImportProps, 'isOpen'>) {
  const many = list.codes.length
  const file = useRef<HTMLInputElement>(null)
  const isPasting = useSignal(false)
  const pasted = useSignal('')
  const check = useMutation({
    mutationFn: async ({ name, csv }: { readonly name: string; readonly csv: string }): Promise<Checked> => {
      const made = await checkCodes(sale, csv)
      return { name, csv, check: made, plan: planOf(made.understood, list.codes) }
    },
  })
  const put = useMutation({
    mutationFn: async ({ csv }: Checked) => {
      const { codes } = await putCodes(sale, csv, 'text/csv', list.version).catch((error) => {
        if (!(error instanceof ApiError) || error.problem.status !== 412) throw error
        const changed = (error.problem.changed as readonly string[] | undefined)?.join(', ')
        throw new Error(
          `${whoChanged(error.problem)} has changed the list meanwhile: ${changed}. Choose the file again.`,
        )
      })
      return { text: `The sale has ${count(codes.length)} ${codes.length === 1 ? 'code' : 'codes'} now.` }
    },
    onSuccess: (done) => {
      say(done)
      onClose()
    },
  })
  const take = async (chosen: File | undefined) => {
    if (chosen) check.mutate({ name: chosen.name, csv: await chosen.text() })
  }
  const drop = useDrop((files) => take(files?.[0]))
  const checked = check.data
  return (
    <>
      <p>
        The list takes the place of {many === 0 ? 'what there is' : `the ${count(many)} there are`}: all of it, or none.
        Codes that were used must stay in it. Export first, and change that.
      </p>
      <fieldset class={`drop line ${drop.isOver ? 'is-over' : ''}`} aria-label="The list" {...drop.place}>
        <span>
          {checked ? (
            <>
              <b>{checked.name}</b> <span class="quiet">{count(linesOf(checked.csv).length)} lines</span>
            </>
          ) : (
            'Drop a CSV here'
          )}
        </span>
        <button type="button" class="btn" onClick={() => file.current?.click()}>
          {checked ? 'Another file' : 'Choose a file'}
        </button>
        <input
          ref={file}
          type="file"
          class="unseen"
          tabIndex={-1}
          aria-label="File (CSV)"
          accept=".csv,.txt"
          onChange={({ currentTarget }) => {
            void take(currentTarget.files?.[0]).then(() => (currentTarget.value = ''))
          }}
        />
        <button type="button" class="btn bare" onClick={() => (isPasting.value = true)}>
          Paste a list
        </button>
      </fieldset>
      {isPasting.value && (
        <div class="stack close">
          <label class="label">
            The list
            <span class="field">
              <textarea
                class="mono small"
                rows={6}
                spellcheck={false}
                placeholder={EXAMPLE}
                value={pasted.value}
                onInput={({ currentTarget }) => (pasted.value = currentTarget.value)}
              />
            </span>
          </label>
          <p>
            <button
              type="button"
              class="btn"
              disabled={pasted.value.trim() === ''}
              onClick={() => check.mutate({ name: 'The pasted list', csv: pasted.value })}
            >
              Read it
            </button>
          </p>
        </div>
      )}
      {check.isPending && <p class="quiet">Reading …</p>}
      <Failure error={check.error ?? put.error} />
      {checked && <Understood checked={checked} currency={currency} at={at} />}
      <details class="small quiet">
        <summary>Columns</summary>
        <p class="mono">{COLUMNS}</p>
      </details>
      <footer class="row ends">
        <button type="button" class="btn bare tall" onClick={onClose}>
          Go back<Keys class="wide">Esc</Keys>
        </button>
        {checked && checked.check.refused.length > 0 && (
          <button type="button" class="btn tall" onClick={() => download(`refused-${sale}.csv`, refusedOf(checked))}>
            <Icon name="save" />
            Refused lines as CSV
          </button>
        )}
        <button
          type="button"
          class="btn primary tall"
          disabled={!checked || !isFine(checked) || put.isPending}
          onClick={() => checked && put.mutate(checked)}
        >
          Import{' '}
          {checked ? `${count(checked.plan.codes.length)} ${checked.plan.codes.length === 1 ? 'code' : 'codes'}` : ''}
        </button>
      </footer>
    </>
  )
}

const linesOf = (csv: string) => csv.split(/\r?\n/).filter((line) => line.trim() !== '')
const isFine = ({ check, plan }: Checked) => check.refused_count === 0 && plan.missing.length === 0

/** The refused lines with their heading, to be mended and imported again. */
function refusedOf({ csv, check }: Checked): string {
  const lines = csv.split(/\r?\n/)
  const refused = [...new Set(check.refused.map(({ line }) => line))].flatMap((line) => lines[(line ?? 0) - 1] ?? [])
  return `${[lines[0], ...refused].join('\n')}\n`
}

export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}

function Understood({
  checked,
  currency,
  at,
}: {
  readonly checked: Checked
  readonly currency: string
  at(iso: string): string
}) {
  const { check, plan } = checked
  const of = (kind: 'new' | 'changed' | 'same') => plan.codes.filter((one) => one.kind === kind).length
  const faults = [
    check.refused_count > 0 &&
      (check.refused_count === 1 ? '1 line is refused' : `${count(check.refused_count)} lines are refused`),
    plan.missing.length > 0 &&
      (plan.missing.length === 1 ? '1 code is missing' : `${count(plan.missing.length)} codes are missing`),
  ].filter(Boolean)
  const rows = [
    ...check.refused,
    ...plan.missing.map(({ code, used }) => ({
      line: null,
      code,
      field: 'missing',
      why: `was used ${count(used)} times: it cannot be left out`,
    })),
  ]
  const gone = plan.gone.map(({ code }) => code)
  const summary = [
    `${count(of('new'))} new, ${count(of('changed'))} changed, ${count(of('same'))} as they are`,
    gone.length > 0 && `${gone.slice(0, SHOWN).join(', ')}${gone.length > SHOWN ? ' and others' : ''}, never used, go`,
  ].filter(Boolean)
  return (
    <>
      <Verdict
        level={faults.length > 0 ? 'bad' : 'good'}
        text={faults.length > 0 ? `${faults.join(', ')}: nothing is imported.` : 'Every line is understood.'}
        aside={
          <>
            <strong>{count(plan.codes.length)}</strong> understood
          </>
        }
      />
      {rows.length > 0 && (
        <>
          <h3>Refused</h3>
          <Table
            label="Refused lines"
            rows={rows}
            keyOf={({ line, code, field }) => `${line} ${code} ${field}`}
            columns={[
              { name: 'Line', number: true, phone: 'a', cell: ({ line }) => line ?? '–' },
              { name: 'Code', cell: ({ code }) => <span class="mono">{code}</span> },
              { name: 'Field', wide: true, cell: ({ field }) => <span class="mono">{field}</span> },
              { name: 'Why', phone: 'z', cell: ({ why }) => why },
            ]}
          />
        </>
      )}
      {plan.codes.length > 0 && (
        <>
          <h3>
            As understood{' '}
            <span class="quiet plain">
              the first {Math.min(SHOWN, plan.codes.length)} of {count(plan.codes.length)}: {summary.join('; ')}
            </span>
          </h3>
          <Table
            label="Lines as understood"
            rows={plan.codes.slice(0, SHOWN)}
            keyOf={({ line }) => line}
            columns={[
              { name: 'Line', number: true, phone: 'a', cell: ({ line }) => line },
              { name: 'Code', cell: ({ code }) => <span class="mono">{code.code}</span> },
              { name: 'Off', cell: ({ code }) => offOf(code, currency) },
              {
                name: 'Uses',
                number: true,
                wide: true,
                cell: ({ code }) => (code.uses === null ? 'no limit' : count(code.uses)),
              },
              { name: 'A visitor', number: true, wide: true, cell: ({ code }) => code.uses_per_visitor ?? 'any' },
              { name: 'Valid', wide: true, cell: ({ code }) => validOf(code, at) },
              { name: 'For', wide: true, cell: ({ code }) => forOf(code, (id) => id) },
              {
                name: 'Then',
                phone: 'z',
                cell: ({ effect, kind }) => (kind === 'same' ? <span class="quiet">{effect}</span> : <b>{effect}</b>),
              },
            ]}
          />
        </>
      )}
    </>
  )
}
