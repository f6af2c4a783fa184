/** Checks the draw in the page itself. */
import { count, fill } from '../../../shared/format.ts'
import { isDrawn, type Place, type Schedule } from '../../../shared/schedule.ts'
import { byId, each, loadStored, type Page, queueOf, show, store, type Tools, textsOf, write } from '../page.ts'

const storageKeyOf = (page: Page) => `commitment ${queueOf(page)} ${page.opensAt}`

/**
 * Stores the first commitment that this browser saw before the opening, because a later one could have been
 * exchanged.
 */
export function rememberCommitment(page: Page): void {
  const before = byId('draw')?.dataset.draw === 'before'
  if (before && loadStored(storageKeyOf(page)) === null) store(storageKeyOf(page), page.commitment)
}

let lastCheck: { readonly seed: string; readonly holds: boolean } | undefined

export function showDraw(
  schedule: Schedule,
  page: Page,
  place: Place | null,
  { commitmentHolds }: Pick<Tools, 'commitmentHolds'>,
): void {
  const card = byId('draw')
  if (!card || !isDrawn(schedule)) return
  const seed = schedule.draw_seed
  const before = loadStored(storageKeyOf(page))
  if (lastCheck?.seed !== seed) {
    const commitments = before === null ? [page.commitment] : [page.commitment, before]
    lastCheck = { seed, holds: commitments.every((commitment) => commitmentHolds(commitment, seed)) }
  }
  const state = lastCheck.holds ? 'holds' : 'broken'
  if (card.dataset.draw !== state) {
    card.dataset.draw = state
    each('[data-when-draw]', (part) => show(part, part.dataset.whenDraw === state))
    show(byId('seed-row'), true)
    show(byId('draw-seen'), before !== null)
    write(byId('seed'), seed)
  }
  if (place?.position == null || page.number === null) return
  const { drawn = '', later = '' } = textsOf('draw-yours')
  const values = {
    n: count(page.lang, page.number),
    m: count(page.lang, schedule.pre_queue_size),
    p: count(page.lang, place.position),
  }
  write(byId('draw-yours'), fill(page.number > schedule.pre_queue_size ? later : drawn, values))
}
