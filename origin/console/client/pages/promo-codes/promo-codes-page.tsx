/** The promo codes of a sale: how often each was used; one more, a change, a file in place of all of them. */
import './promo-codes.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'
import type { PromoCode } from '../../../../../shared/api/goods.ts'
import { ApiError, admin, read, send } from '../../api.ts'
import { Confirm, count, Failure, instant, Loading, TableHead, useSubmit, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import type { Done } from '../../toast.tsx'
import { CodeFields, codeIn } from './code-fields.tsx'
import { aboutOne, csvOf, foundIn, type ListedCode, offOf, sentOf, withCode } from './codes.ts'

/** A browser shows no more of them with ease. */
const SHOWN = 200

const pathOf = (sale: string) => `/admin/sales/${encodeURIComponent(sale)}/promo-codes`
const readCodes = async (sale: string): Promise<readonly ListedCode[]> =>
  (await (await send(pathOf(sale))).json()).codes
/** The whole list, or nothing. */
const putCodes = (sale: string, body: BodyInit, type: string) =>
  send(pathOf(sale), { method: 'PUT', headers: { 'content-type': type }, body })

/** Changes the list as it is now, not as it was when the page was read. */
async function changeCodes(sale: string, change: (codes: readonly PromoCode[]) => readonly PromoCode[]): Promise<void> {
  const codes = change(sentOf(await readCodes(sale)))
  try {
    await putCodes(sale, JSON.stringify({ codes }), 'application/json')
  } catch (error) {
    throw error instanceof ApiError ? new ApiError(aboutOne(error.problem)) : error
  }
}

export function PromoCodesPage({ sale }: { sale: string }) {
  const { data: codes, error } = useQuery({ queryKey: ['promo-codes', sale], queryFn: () => readCodes(sale) })
  const { data: about } = useQuery({
    queryKey: ['sale', sale],
    queryFn: () => read(admin.sales[':sale'].$get({ param: { sale } })),
  })
  useTitle('Promo codes · Console')
  const currency = about?.products[0]?.currency ?? 'EUR'
  return (
    <>
      <h1>Promo codes</h1>
      <Failure error={error} />
      {!codes && !error && <Loading />}
      {codes && <Codes sale={sale} codes={codes} currency={currency} />}
      {codes && may('operator') && <Import sale={sale} many={codes.length} />}
    </>
  )
}

interface CodesProps {
  readonly sale: string
  readonly codes: readonly ListedCode[]
  readonly currency: string
}

function Codes({ sale, codes, currency }: CodesProps) {
  const words = useSignal('')
  const found = foundIn(codes, words.value)
  const used = codes.reduce((sum, code) => sum + code.used, 0)
  const put = async (form: FormData): Promise<Done> => {
    const code = codeIn(form, currency)
    await changeCodes(sale, (all) => {
      if (all.some((one) => one.code === code.code)) throw new Error(`There is a code ${code.code} already.`)
      return withCode(all, code)
    })
    return { text: `${code.code} can be used.`, undo: () => remove(sale, code) }
  }
  return (
    <section class="card" aria-label="Codes">
      <div class="card-head">
        <p role="status">
          {codes.length === 0
            ? 'There is no code yet.'
            : `${count(codes.length)} ${codes.length === 1 ? 'code' : 'codes'}, used ${count(used)} ${used === 1 ? 'time' : 'times'}.`}
        </p>
        <div class="buttons">
          {codes.length > 0 && (
            <button type="button" onClick={() => download(`promo-codes-${sale}.csv`, csvOf(codes))}>
              Export
            </button>
          )}
          {may('operator') && (
            <Confirm action="Add a code" effect="Buyers may use it at once, or from its time on." onConfirm={put}>
              <CodeFields currency={currency} />
            </Confirm>
          )}
        </div>
      </div>
      {codes.length > 0 && (
        <label class="code-search">
          Search
          <input
            type="search"
            value={words.value}
            onInput={({ currentTarget }) => (words.value = currentTarget.value)}
          />
        </label>
      )}
      {codes.length > 0 && found.length === 0 && <p>No code has these letters.</p>}
      {found.length > 0 && (
        <table class="codes">
          <TableHead columns={['Code', 'Off', 'Used', 'Valid', 'For', '']} texts={9} />
          <tbody>
            {found.slice(0, SHOWN).map((code) => (
              <Row key={code.code} sale={sale} code={code} currency={currency} />
            ))}
          </tbody>
        </table>
      )}
      {found.length > SHOWN && <p class="quiet">and {count(found.length - SHOWN)} more: search for them.</p>}
    </section>
  )
}

function Row({ sale, code, currency }: { sale: string; code: ListedCode; currency: string }) {
  const { used, uses, uses_per_visitor: each, units_per_use: units, products, combined } = code
  const { used: _, ...before } = code
  const change = async (form: FormData): Promise<Done> => {
    const changed = { ...codeIn(form, currency), code: code.code }
    await changeCodes(sale, (all) => withCode(all, changed))
    return { text: `${code.code} is changed.`, undo: () => restore(sale, before, `${code.code} is as before.`) }
  }
  return (
    <tr>
      <th scope="row">
        <code>{code.code}</code>
      </th>
      <td>{offOf(code, currency)}</td>
      <td>
        {count(used)} {uses === null ? '' : `of ${count(uses)}`}
        {each !== null && <small class="quiet"> {count(each)} a visitor</small>}
      </td>
      <td>{validOf(code)}</td>
      <td>
        {products === null ? 'all products' : products.join(', ')}
        {units !== null && <small class="quiet"> {count(units)} units an order</small>}
        {combined && <small class="quiet"> beside others</small>}
      </td>
      <td>
        {may('operator') && (
          <div class="buttons">
            <Confirm
              action="Change"
              name={`Change ${code.code}`}
              effect={`${code.code}: orders that have it keep what they cost.`}
              onConfirm={change}
            >
              <CodeFields currency={currency} code={code} />
            </Confirm>
            {used === 0 ? (
              <Confirm
                action="Remove"
                name={`Remove ${code.code}`}
                effect={`Nobody can use ${code.code} any more. Undo: add it again.`}
                onConfirm={() => remove(sale, before)}
              />
            ) : (
              <Confirm
                action="Stop"
                name={`Stop ${code.code}`}
                disabled={uses === used}
                effect={`Nobody else can use ${code.code}. The ${count(used)} who have used it keep what they pay. It stays in the list, with ${count(used)} uses in all.`}
                onConfirm={() => stop(sale, before, used)}
              />
            )}
          </div>
        )}
      </td>
    </tr>
  )
}

function validOf({ from, until }: PromoCode): string {
  if (from === null && until === null) return 'at any time'
  return [from && `from ${instant(from)}`, until && `until ${instant(until)}`].filter(Boolean).join(' ')
}

async function remove(sale: string, code: PromoCode): Promise<Done> {
  await changeCodes(sale, (all) => all.filter((one) => one.code !== code.code))
  return { text: `${code.code} is removed.`, undo: () => restore(sale, code, `${code.code} can be used again.`) }
}

async function stop(sale: string, code: PromoCode, used: number): Promise<Done> {
  await changeCodes(sale, (all) => withCode(all, { ...code, uses: used }))
  return {
    text: `${code.code} cannot be used any more.`,
    undo: () => restore(sale, code, `${code.code} can be used again.`),
  }
}

async function restore(sale: string, code: PromoCode, text: string): Promise<Done> {
  await changeCodes(sale, (all) => withCode(all, code))
  return { text }
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}

const EXAMPLE = `code,percent,amount_minor,uses,uses_per_visitor,from,until,products
SPRING,20,,100,1,,2026-12-01T00:00:00Z,
CLUB,,500,,,,,cap tee`

function Import({ sale, many }: { sale: string; many: number }) {
  const file = useRef<HTMLInputElement>(null)
  const text = useRef<HTMLTextAreaElement>(null)
  const put = async (): Promise<Done> => {
    const csv = file.current?.files?.[0] ?? new Blob([text.current?.value.trim() ?? ''])
    if (csv.size === 0) throw new Error('Choose a file, or paste the list.')
    await putCodes(sale, csv, 'text/csv')
    const codes = await readCodes(sale)
    return { text: `The sale has ${count(codes.length)} ${codes.length === 1 ? 'code' : 'codes'} now.` }
  }
  const { onSubmit, error, isPending } = useSubmit(put, (form) => form.reset())
  return (
    <section class="card" aria-label="Import">
      <h2>Import</h2>
      <p class="quiet">
        The list takes the place of {many === 0 ? 'what there is' : `the ${count(many)} there are`}: all of it or, where
        a line is wrong, none. A code that was used cannot be left out. Export first, and change that.
      </p>
      <form class="code-import" onSubmit={onSubmit}>
        <label>
          File (CSV)
          <input ref={file} type="file" accept=".csv,.txt" />
        </label>
        <label>
          Or paste the list
          <textarea ref={text} rows={6} spellcheck={false} placeholder={EXAMPLE} />
        </label>
        <p class="buttons start">
          <button type="submit" class="primary" disabled={isPending}>
            {isPending ? 'Reading …' : 'Import'}
          </button>
        </p>
        <Failure error={error} />
      </form>
    </section>
  )
}
