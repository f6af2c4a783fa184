/** The page on which operators edit the synonyms of the visitors' search. */
import { useQuery } from '@tanstack/preact-query'
import type { Synonyms as Lists } from '../../../../../shared/api/front.ts'
import { ApiError, send } from '../../api.ts'
import { Failure, Loading, textIn, useSubmit, useTitle, whoChanged } from '../../parts.tsx'
import { may, queries } from '../../session.ts'
import { Head } from '../../sheet/page.tsx'
import { linesOf, synonymsIn } from './synonyms.ts'

const KEY = ['synonyms']
const PATH = '/admin/search/synonyms'

async function readSynonyms() {
  const response = await send(PATH)
  const lists: Lists = await response.json()
  return { lines: linesOf(lists), version: response.headers.get('etag') ?? '' }
}

export function SynonymsPage() {
  const { data, error } = useQuery({ queryKey: KEY, queryFn: readSynonyms })
  useTitle('Search · Console')
  return (
    <>
      <Head title="Search" />
      <Failure error={error} />
      {!data && !error && <Loading />}
      {data && <Synonyms key={data.lines} {...data} />}
    </>
  )
}

function Synonyms({ lines, version }: { lines: string; version: string }) {
  const { onSubmit, error, isPending } = useSubmit(async (form) => {
    const body = JSON.stringify(synonymsIn(textIn(form, 'lines')))
    const headers = { 'content-type': 'application/json', 'if-match': version }
    await send(PATH, { method: 'PUT', headers, body }).catch((failure) => {
      if (!(failure instanceof ApiError) || failure.problem.status !== 412) throw failure
      throw new Error(
        `${whoChanged(failure.problem)} has changed the list meanwhile. Load the page again to see it as it is.`,
      )
    })
    await queries.invalidateQueries({ queryKey: KEY })
    return { text: 'The search takes these words for the same.' }
  })
  const mayChange = may('operator')
  return (
    <form class="sec" onSubmit={onSubmit}>
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
