/**
 * Shows the remaining units and their prices during a turn. Few visitors have a turn at any time, so these requests
 * may bypass the caches.
 */
import { count, fill, money } from '../../../shared/format.ts'
import type { Schedule } from '../../../shared/schedule.ts'
import type { SaleDocument } from '../../sale/sale-document.ts'
import { byId, each, FETCH_AT_TURN_MS, get, type Page, write } from '../page.ts'

let choices: HTMLElement | null = null
let lastSchedule: Schedule | undefined
let readAtMs = Number.NEGATIVE_INFINITY

export async function showStock(schedule: Schedule, page: Page): Promise<void> {
  const shown = byId('choices')
  // The server has just rendered these choices, so they are up to date.
  if (shown !== choices) [choices, lastSchedule, readAtMs] = [shown, schedule, performance.now()]
  if (!shown || lastSchedule === schedule || performance.now() - readAtMs < FETCH_AT_TURN_MS) return
  lastSchedule = schedule
  readAtMs = performance.now()
  try {
    const response = await get(`/sales/${page.sale}`, { headers: { accept: 'application/json' } })
    const { products }: SaleDocument = await response.json()
    const units = products.flatMap(({ variants = [], ...product }) => [
      product,
      ...variants.map(({ variant_id, ...unit }) => ({ product_id: variant_id, currency: product.currency, ...unit })),
    ])
    for (const { product_id, available, unit_price_minor, currency } of units)
      each<HTMLInputElement>(`#choices [value="${product_id}"]`, (choice) => {
        // A chosen option stays chosen even if it is sold out, because it may become available again, and otherwise
        // the response to the form says so.
        if (choice.type === 'radio') choice.disabled = available === 0 && !choice.checked
        // A variant shows its remaining units only if they are few.
        const { left = '', noneLeft = '', few = Infinity } = choice.closest<HTMLElement>('[data-left]')?.dataset ?? {}
        const text =
          available === 0 ? noneLeft : available > Number(few) ? '' : fill(left, { n: count(page.lang, available) })
        const item = choice.closest('label, li') ?? document.querySelector('.item')
        write(item?.querySelector('small') ?? null, text)
        write(item?.querySelector('label > b, [data-price]') ?? null, money(page.lang, unit_price_minor, currency))
      })
  } catch {
    // The stock is read again with the next schedule.
  }
}
