/** The promo codes of a sale: uses as bars, their state, and the chosen one's editor beside. */
import './promo-codes.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { useLocation, useSearch } from 'wouter-preact'
import { count, minuteOf, shortly } from '../../format.ts'
import { saleQuery } from '../../frame/side.tsx'
import { Loading, Unread, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { SearchField, Segmented } from '../../sheet/controls.tsx'
import { Icon, Keys } from '../../sheet/icon.tsx'
import { State } from '../../sheet/marks.tsx'
import { EmptyState, Head } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
import { unitsIn } from '../goods/sample-bill.tsx'
import { type Body, currencyOf } from '../sale-form/draft.ts'
import { readCodes } from './code-calls.ts'
import { CodeEditor, editorKey } from './code-editor.tsx'
import { csvOf, forOf, foundIn, type Group, type ListedCode, offOf, stateOf, validOf } from './codes.ts'
import { download, ImportDialog } from './import-dialog.tsx'

/** The table shows at most this many codes, because a browser becomes slow with more. */
const SHOWN = 200

const at = (iso: string) => shortly(iso, minuteOf)

export function PromoCodesPage({ sale }: { sale: string }) {
  const [, navigate] = useLocation()
  const chosen = new URLSearchParams(useSearch()).get('code')
  const { data: list, error, refetch } = useQuery({ queryKey: ['promo-codes', sale], queryFn: () => readCodes(sale) })
  const { data: about } = useQuery(saleQuery(sale))
  const isImporting = useSignal(false)
  useTitle('Promo codes · Console')
  const codes = list?.codes ?? []
  const used = codes.reduce((sum, code) => sum + code.used, 0)
  const choose = (code: string | null) =>
    navigate(`/console/sales/${sale}/promo-codes${code === null ? '' : `?code=${encodeURIComponent(code)}`}`, {
      replace: true,
    })
  return (
    <>
      <Head
        title="Promo codes"
        sub={
          <>
            <span>{about?.name ?? sale}</span>
            {list && (
              <span role="status">
                {count(codes.length)} {codes.length === 1 ? 'code' : 'codes'}, used {count(used)}{' '}
                {used === 1 ? 'time' : 'times'}
              </span>
            )}
          </>
        }
      >
        <div class="row tight-row">
          {list && may('operator') && (
            <button type="button" class="btn" onClick={() => (isImporting.value = true)}>
              <Icon name="in" />
              Import
            </button>
          )}
          {codes.length > 0 && (
            <button type="button" class="btn" onClick={() => download(`promo-codes-${sale}.csv`, csvOf(codes))}>
              <Icon name="save" />
              Export
            </button>
          )}
          {list && may('operator') && (
            <button type="button" class="btn primary" aria-keyshortcuts="N" onClick={() => choose('')}>
              <Icon name="plus" />
              Add a code
              <Keys class="wide">N</Keys>
            </button>
          )}
        </div>
      </Head>
      {error && <Unread error={error} onAgain={refetch} />}
      {!list && !error && <Loading />}
      {list && about && (
        <Codes sale={sale} codes={codes} about={about as unknown as Body} chosen={chosen} onChoose={choose} />
      )}
      {list && about && (
        <ImportDialog
          sale={sale}
          list={list}
          currency={currencyOf(about as unknown as Body)}
          isOpen={isImporting.value}
          at={at}
          onClose={() => (isImporting.value = false)}
        />
      )}
    </>
  )
}

interface CodesProps {
  readonly sale: string
  readonly codes: readonly ListedCode[]
  readonly about: Body
  /** The code in the address: none, a new one (empty), or its text. */
  readonly chosen: string | null
  onChoose(code: string | null): void
}

const GROUPS = [
  ['all', 'All'],
  ['work', 'Work'],
  ['come', 'To come'],
  ['over', 'Over'],
] as const

function Codes({ sale, codes, about, chosen, onChoose }: CodesProps) {
  const words = useSignal('')
  const group = useSignal<Group | 'all'>('all')
  const stated = codes.map((code) => ({ code, state: stateOf(code, Date.now(), at) }))
  const found = new Set(foundIn(codes, words.value))
  const rows = stated.filter(
    ({ code, state }) => found.has(code) && (group.value === 'all' || state.group === group.value),
  )
  const open = codes.find(({ code }) => code === chosen)
  const isNew = chosen === ''
  const names = new Map(unitsIn(about).map(({ name, line }) => [line.product, name]))
  for (const product of (about.products ?? []) as readonly Body[])
    names.set(String(product.product_id), String(product.name))
  const nameOf = (id: string) => names.get(id) ?? id
  if (codes.length === 0 && !isNew)
    return (
      <EmptyState text="There is no code yet.">
        {may('operator') && (
          <button type="button" class="btn" onClick={() => onChoose('')}>
            Add a code
          </button>
        )}
      </EmptyState>
    )
  return (
    <div class="form codes">
      <section class="sec main" aria-label="Codes">
        <header>
          <Segmented
            label="Show"
            value={group.value}
            options={GROUPS.map(([id, text]) => {
              const many = id === 'all' ? stated.length : stated.filter(({ state }) => state.group === id).length
              return [id, `${text} ${count(many)}`] as const
            })}
            onChoose={(one) => (group.value = one)}
          />
          <div class="end">
            <SearchField
              label="Search codes"
              placeholder="Code or product"
              value={words.value}
              onInput={(text) => (words.value = text)}
            />
          </div>
        </header>
        {rows.length === 0 ? (
          <p class="quiet" role="status">
            No code has these words and this state.
          </p>
        ) : (
          <Table
            label="Codes, a table"
            rows={rows.slice(0, SHOWN)}
            keyOf={({ code }) => code.code}
            isChosen={({ code }) => code === open}
            columns={[
              // On a phone the state stands at the start of the second line.
              { name: 'Mark', unnamed: true, phone: 'a', cell: () => null },
              {
                name: 'Code',
                cell: ({ code }) => (
                  <>
                    <a
                      class="mono"
                      href={`?code=${encodeURIComponent(code.code)}#edit`}
                      aria-current={code === open ? 'true' : undefined}
                      onClick={(event) => {
                        event.preventDefault()
                        onChoose(code.code)
                        requestAnimationFrame(() =>
                          document.getElementById('edit')?.scrollIntoView({ block: 'nearest' }),
                        )
                      }}
                    >
                      {code.code}
                    </a>
                    <br />
                    <small class="quiet plain">{forOf(code, nameOf)}</small>
                  </>
                ),
              },
              { name: 'Off', cell: ({ code }) => offOf(code, currencyOf(about)) },
              { name: 'Used', phone: 'z', cell: ({ code }) => <Used code={code} /> },
              {
                name: 'A visitor',
                number: true,
                wide: true,
                cell: ({ code }) => code.uses_per_visitor ?? <span class="quiet">any</span>,
              },
              { name: 'Valid', wide: true, cell: ({ code }) => validOf(code, at) },
              {
                name: 'State',
                number: true,
                phone: 'z',
                cell: ({ state: { level, text } }) => <State level={level}>{text}</State>,
              },
            ]}
          />
        )}
        {rows.length > SHOWN && (
          <p class="quiet small">
            The first {SHOWN} of {count(rows.length)}. Search for the others.
          </p>
        )}
        <p class="small quiet">
          A use is an order that was not given up: it comes back when a hold ends or money is returned.
        </p>
      </section>
      <div class="beside">
        {open || isNew ? (
          <CodeEditor
            key={editorKey(open)}
            sale={sale}
            about={about}
            code={open}
            onDone={(code) => onChoose(code ?? (isNew ? null : chosen))}
          />
        ) : (
          <section class="sec" aria-label="The chosen code">
            <p class="quiet">Choose a code to see and change it.</p>
          </section>
        )}
      </div>
    </div>
  )
}

/** The uses as a bar of their limit. What is over is grey. */
function Used({ code: { uses, used, ...code } }: { readonly code: ListedCode }) {
  const isOver = (uses !== null && used >= uses) || (code.until !== null && Date.parse(code.until) <= Date.now())
  const share = uses !== null && uses > 0 ? Math.min(100, (100 * used) / uses) : 0
  return (
    <span class="used">
      {uses === null ? (
        <span class="small quiet">no limit</span>
      ) : (
        <span class="meter" aria-hidden="true">
          <i style={`--wide: ${share}%; --c: var(${isOver ? '--c3' : '--c1'})`} />
        </span>
      )}
      <span>
        <b>{count(used)}</b>
        {uses !== null && <span class="quiet"> of {count(uses)}</span>}
      </span>
    </span>
  )
}
