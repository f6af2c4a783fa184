/** The shop front in a browser with two sales to find, whose index and states no server is asked for. */
import { entriesOf } from '../../shared/search/entries.ts'
import { useSamplePages } from './sample-pages.ts'

const sale = (name: string) => ({
  sale: name.toLowerCase(),
  name,
  opens_at: '2026-11-27T12:00:00.000Z',
  pre_queue_opens_at: '2026-11-27T11:00:00.000Z',
  ends_at: null,
  image: null,
  price_from_minor: 100,
  currency: 'EUR',
  prices_differ: false,
  venue: null,
  shop: null,
  products: [],
})
const INDEX = { entries: entriesOf({ sales: [sale('Aurora'), sale('Orchestra')] }), synonyms: [] }

/** Opens the front, and returns its page, the field, and how often the index was loaded. */
export function useFrontSearch() {
  const open = useSamplePages({ width: 1280, height: 900 })
  return async () => {
    const page = await open('front')
    let loads = 0
    await page.route('**/search/index*', (route) => {
      loads++
      return route.fulfill({ json: INDEX })
    })
    const told = { phase: 'open', opens_at: '2026-11-27T12:00:00.000Z', left: 3, prices_differ: true }
    const list = { sales: [{ sale: 'aurora', ...told, price_from_minor: 4_200, currency: 'EUR' }] }
    await page.route(
      ({ pathname }) => pathname === '/',
      (route) => route.fulfill({ json: list }),
    )
    await page.route('**/search?*', (route) => route.fulfill({ body: '', contentType: 'text/html' }))
    return { page, field: page.getByRole('searchbox'), loads: () => loads }
  }
}
