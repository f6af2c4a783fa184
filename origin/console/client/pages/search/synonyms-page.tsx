/** The page on which operators edit the synonyms of the visitors' search. */
import { useQuery } from '@tanstack/preact-query'
import { admin, read, send } from '../../api.ts'
import { Failure, Loading, textIn, useSubmit, useTitle } from '../../parts.tsx'
import { may, queries } from '../../session.ts'
import { linesOf, synonymsIn } from './synonyms.ts'

const KEY = ['synonyms']

export function SynonymsPage() {
  const { data, error } = useQuery({ queryKey: KEY, queryFn: () => read(admin.search.synonyms.$get()) })
  useTitle('Search · Console')
  return (
    <>
      <h1>Search</h1>
      <Failure error={error} />
      {!data && !error && <Loading />}
      {data && <Synonyms key={linesOf(data)} lines={linesOf(data)} />}
    </>
  )
}

function Synonyms({ lines }: { lines: string }) {
  const { onSubmit, error, isPending } = useSubmit(async (form) => {
    const body = JSON.stringify(synonymsIn(textIn(form, 'lines')))
    await send('/admin/search/synonyms', { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
    await queries.invalidateQueries({ queryKey: KEY })
    return { text: 'The search takes these words for the same.' }
  })
  const mayChange = may('operator')
  return (
    <form class="card" onSubmit={onSubmit}>
      <Failure error={error} />
      <label>
        Words that mean the same
        <textarea
          name="lines"
          rows={12}
          readOnly={!mayChange}
          placeholder="home, house, residence, dwelling"
          defaultValue={lines}
        />
        <small class="quiet">
          A line for each list, with commas. Visitors who search for one word find the others too.
        </small>
      </label>
      {mayChange && (
        <p class="buttons start">
          <button type="submit" disabled={isPending}>
            Save
          </button>
        </p>
      )}
    </form>
  )
}
