/** The words that the visitors' search takes for the same, and what visitors searched for and did not find. */
import './search.css'
import { useSignal } from '@preact/signals'
import { useMutation, useQuery } from '@tanstack/preact-query'
import type { Synonyms as Lists } from '../../../../../shared/api/front.ts'
import { ApiError, send } from '../../api.ts'
import { count, time } from '../../format.ts'
import { Failure, Loading, Unread, useTitle } from '../../parts.tsx'
import { may, queries } from '../../session.ts'
import { Icon } from '../../sheet/icon.tsx'
import { Head, Section, Verdict } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
import { say } from '../../toast.tsx'
import { useUnsavedGuard } from '../sale-form/unsaved-guard.ts'
import { linesOf, mergedLines, synonymsIn } from './synonyms.ts'

const KEY = ['synonyms']
const PATH = '/admin/search/synonyms'

async function readSynonyms() {
  const response = await send(PATH)
  const lists: Lists = await response.json()
  return { lines: linesOf(lists), version: response.headers.get('etag') ?? '' }
}

export function SynonymsPage() {
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: readSynonyms,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  useTitle('Search · Console')
  return (
    <>
      <Head title="Search" sub="What visitors’ search takes for the same, and what it does not find." />
      {error && <Unread error={error} onAgain={refetch} />}
      {!data && !error && <Loading />}
      {data && <Synonyms {...data} />}
    </>
  )
}

interface SynonymsProps {
  readonly lines: string
  readonly version: string
}

function Synonyms(saved: SynonymsProps) {
  const base = useSignal(saved)
  const typed = useSignal(saved.lines)
  const clash = useSignal<{ readonly by: string; readonly at: string } | null>(null)
  const isChanged = typed.value !== base.value.lines
  useUnsavedGuard(() => typed.value !== base.value.lines)
  const put = async ({ lines, version }: SynonymsProps): Promise<SynonymsProps> => {
    const headers = { 'content-type': 'application/json', 'if-match': version }
    await send(PATH, { method: 'PUT', headers, body: JSON.stringify(synonymsIn(lines)) })
    await queries.invalidateQueries({ queryKey: KEY })
    return readSynonyms()
  }
  const show = (next: SynonymsProps) => {
    base.value = next
    typed.value = next.lines
    clash.value = null
  }
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => {
      const before = base.value
      try {
        const next = await put({ ...before, lines: typed.value })
        show(next)
        say({
          text: 'The search takes these words for the same.',
          undo: async () => {
            show(await put({ lines: before.lines, version: next.version }))
            return { text: 'The words are as before.' }
          },
        })
      } catch (failure) {
        if (!(failure instanceof ApiError) || failure.problem.status !== 412) throw failure
        const theirs = await readSynonyms()
        const { by, at } = failure.problem
        clash.value = { by: String(by ?? 'Somebody'), at: String(at ?? new Date().toISOString()) }
        typed.value = mergedLines(before.lines, typed.value, theirs.lines)
        base.value = theirs
      }
    },
  })
  const mayChange = may('operator')
  const add = (word: string) => {
    typed.value = `${typed.value.trimEnd()}${typed.value.trim() === '' ? '' : '\n'}${word}, `
    document.querySelector<HTMLElement>('[name="lines"]')?.focus()
  }
  return (
    <>
      {clash.value && (
        <Verdict
          level="watch"
          text={`Not saved: ${clash.value.by} changed the list meanwhile.`}
          aside={
            <>
              at <strong>{time(clash.value.at)}</strong>
            </>
          }
        >
          <li>
            <p>Their lines and yours are below, each once. Look at them, and save again.</p>
          </li>
        </Verdict>
      )}
      <div class="form search-form">
        <form
          class="main sec"
          aria-label="Words that mean the same"
          onSubmit={(event) => {
            event.preventDefault()
            mutate()
          }}
        >
          <label class="label">
            Words that mean the same
            <span class="field">
              <textarea
                name="lines"
                rows={14}
                readOnly={!mayChange}
                placeholder="home, house, residence, dwelling"
                value={typed.value}
                onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
              />
            </span>
            <small class="note">
              A line for each list, with commas. Visitors who search for one word find the others too.
            </small>
          </label>
          <Failure error={error} />
          {!mayChange && <p class="note">Only operators and owners change the list.</p>}
        </form>
        <div class="beside">
          <Misses onAdd={mayChange ? add : undefined} />
        </div>
      </div>
      {mayChange && isChanged && (
        <section class="savebar" aria-label="Unsaved">
          <p role="status">
            <b>The list is changed.</b> It is in force within 1 s.
          </p>
          <button type="button" class="btn end" onClick={() => show(base.value)}>
            Discard
          </button>
          <button type="button" class="btn primary" disabled={isPending} onClick={() => mutate()}>
            Save
          </button>
        </section>
      )}
    </>
  )
}

interface Miss {
  readonly query: string
  readonly searches: number
}

/** What several visitors searched for in the last days and did not find. */
function Misses({ onAdd }: { readonly onAdd: ((word: string) => void) | undefined }) {
  const { data, error } = useQuery({
    queryKey: ['search-misses'],
    queryFn: async () => {
      const { misses }: { readonly misses: readonly Miss[] } = await (await send('/admin/search/misses')).json()
      return misses
    },
  })
  return (
    <Section title="Searched, not found">
      <Failure error={error} />
      {data &&
        (data.length === 0 ? (
          <p class="quiet">Nothing that several visitors searched for was missing.</p>
        ) : (
          <Table
            label="Searched, not found"
            rows={data}
            keyOf={({ query }) => query}
            columns={[
              { name: 'Words', cell: ({ query }) => <bdi>{query}</bdi> },
              { name: 'Times', number: true, phone: 'z', cell: ({ searches }) => count(searches) },
              ...(onAdd
                ? [
                    {
                      name: 'Add',
                      unnamed: true,
                      number: true,
                      cell: ({ query }: Miss) => (
                        <button
                          type="button"
                          class="btn bare"
                          aria-label={`Add “${query}” to the words`}
                          onClick={() => onAdd(query)}
                        >
                          <Icon name="plus" />
                        </button>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        ))}
    </Section>
  )
}
