/** The promo codes of a sale with their uses. An operator can add or change one, or replace all by a file. */
import './promo-codes.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'
import type { PromoCode } from '../../../../../shared/api/goods.ts'
import { ApiError, admin, read, send } from '../../api.ts'
import { Confirm, count, Failure, instant, Loading, TableHead, useSubmit, useTitle, whoChanged } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Head } from '../../sheet/page.tsx'
import type { Done } from '../../toast.tsx'
import { CodeFields, codeIn } from './code-fields.tsx'
import { aboutOne, csvOf, foundIn, isSameCode, type ListedCode, offOf, sentOf, withCode } from './codes.ts'

/** The table shows at most this many codes, because a browser becomes slow with more. */
const SHOWN = 200

const pathOf = (sale: string) => `/admin/sales/${encodeURIComponent(sale)}/promo-codes`
/** The codes with the ETag of the list. */
interface CodeList {
  readonly codes: readonly ListedCode[]
  readonly version: string
}

const listIn = async (response: Response): Promise<CodeList> => ({
  codes: (await response.json()).codes,
  version: response.headers.get('etag') ?? '',
})
const readCodes = async (sale: string) => listIn(await send(pathOf(sale)))
/** Replaces the whole list if it still has this version, or changes nothing. */
const putCodes = async (sale: string, body: BodyInit, type: string, version: string) =>
  listIn(await send(pathOf(sale), { method: 'PUT', headers: { 'content-type': type, 'if-match': version }, body }))

/** The number of attempts. One fails only if somebody else changed the list successfully. */
const TRIES = 20

/**
 * Changes one code in the current list, even if others change other codes meanwhile. `seen` is the code as the
 * operator saw it.
 */
async function changeCode(sale: string, code: PromoCode, seen: PromoCode | undefined, isRemoved = false) {
  for (let tries = 1; ; tries++) {
    const { codes, version } = await readCodes(sale)
    const found = codes.find((one) => one.code === code.code)
    if (!seen && found) throw new Error(`There is a code ${code.code} already.`)
    if (!isSameCode(seen, found))
      throw new Error(`Somebody has changed ${code.code} meanwhile. Load the page again to see it as it is.`)
    const others = sentOf(codes).filter((one) => one.code !== code.code)
    const changed = isRemoved ? others : withCode(sentOf(codes), code)
    try {
      await putCodes(sale, JSON.stringify({ codes: changed }), 'application/json', version)
      return
    } catch (error) {
      const isOvertaken = error instanceof ApiError && error.problem.status === 412
      if (isOvertaken && tries < TRIES) continue
      throw error instanceof ApiError ? new ApiError(aboutOne(error.problem)) : error
    }
  }
}

export function PromoCodesPage({ sale }: { sale: string }) {
  const { data: list, error } = useQuery({ queryKey: ['promo-codes', sale], queryFn: () => readCodes(sale) })
  const { data: about } = useQuery({
    queryKey: ['sale', sale],
    queryFn: () => read(admin.sales[':sale'].$get({ param: { sale } })),
  })
  useTitle('Promo codes · Console')
  const codes = list?.codes
  const currency = about?.products[0]?.currency ?? 'EUR'
  return (
    <>
      <Head title="Promo codes" />
      <Failure error={error} />
      {!codes && !error && <Loading />}
      {codes && <Codes sale={sale} codes={codes} currency={currency} />}
      {list && may('operator') && <Import sale={sale} list={list} />}
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
    await changeCode(sale, code, undefined)
    return { text: `${code.code} can be used.`, undo: () => remove(sale, code) }
  }
  return (
    <section class="sec" aria-label="Codes">
      <div class="card-head">
        <p role="status">
          {codes.length === 0
            ? 'There is no code yet.'
            : `${count(codes.length)} ${codes.length === 1 ? 'code' : 'codes'}, used ${count(used)} ` +
              `${used === 1 ? 'time' : 'times'}.`}
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
          <TableHead columns={['Code', 'Off', 'Used', 'Valid', 'For', 'Actions']} texts={9} />
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
    const changed = { ...codeIn(form, currency, code), code: code.code }
    await changeCode(sale, changed, before)
    return {
      text: `${code.code} is changed.`,
      undo: () => restore(sale, before, changed, `${code.code} is as before.`),
    }
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
                effect={
                  `Nobody else can use ${code.code}. The ${count(used)} who have used it keep what they pay. It ` +
                  `stays in the list, with ${count(used)} uses in all.`
                }
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

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}

const EXAMPLE = `code,percent,amount_minor,uses,uses_per_visitor,from,until,products
SPRING,20,,100,1,,2026-12-01T00:00:00Z,
CLUB,,500,,,,,cap tee`

function Import({ sale, list }: { sale: string; list: CodeList }) {
  const many = list.codes.length
  const file = useRef<HTMLInputElement>(null)
  const text = useRef<HTMLTextAreaElement>(null)
  const put = async (): Promise<Done> => {
    const csv = file.current?.files?.[0] ?? new Blob([text.current?.value.trim() ?? ''])
    if (csv.size === 0) throw new Error('Choose a file, or paste the list.')
    const { codes } = await putCodes(sale, csv, 'text/csv', list.version).catch((error) => {
      if (!(error instanceof ApiError) || error.problem.status !== 412) throw error
      const changed = (error.problem.changed as readonly string[] | undefined)?.join(', ')
      throw new Error(`${whoChanged(error.problem)} has changed the list meanwhile: ${changed}. Load the page again.`)
    })
    return { text: `The sale has ${count(codes.length)} ${codes.length === 1 ? 'code' : 'codes'} now.` }
  }
  const { onSubmit, error, isPending } = useSubmit(put, (form) => form.reset())
  return (
    <section class="sec" aria-label="Import">
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
