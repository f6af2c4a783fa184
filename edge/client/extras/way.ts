/**
 * Draws the queue as a comb: the called visitors, those ahead, the visitor's own place, and the likely end of the
 * stock.
 */
import { count } from '../../../shared/format.ts'
import { endsOf, wayOf } from '../../pages/line/way.ts'
import { byId, each, show, write } from '../page.ts'
import type { PageState } from './page-state.ts'

export function showWay({ schedule, page, place }: PageState): void {
  if (!place || place.position === null || !byId('place')) return
  const { lasts_for_positions: lasts } = schedule
  const { served, own } = wayOf(place.now_serving, place.position, lasts)
  const set = (part: string, attributes: readonly string[], at: string) =>
    each(`.way ${part}`, (element) => {
      for (const name of attributes) element.setAttribute(name, at)
    })
  set('.served', ['width'], served)
  set('.ahead', ['width'], own)
  set('line', ['x1', 'x2'], own)
  set('circle', ['cx'], own)
  const ends = endsOf(place.now_serving, lasts)
  show(byId('lasts'), ends !== null)
  if (ends !== null) write(byId('lasts-to'), count(page.lang, ends))
}
