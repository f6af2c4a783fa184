/**
 * Checks of a drop: each order costs exactly what its lines, its code and its delivery add up to, and uses of the
 * code are counted.
 */
import { sumOf } from '../lib/demo-drop.ts'
import { n } from '../lib/figures.ts'
import { type Check, check, count, type Evidence, type GoodsRecords, type GoodsVisit, ifAny } from './evidence.ts'

interface Buyer extends GoodsVisit {
  readonly order: string
  readonly told: number
}

export function goodsChecks({ goods: records, visits, ownSystem, operator }: Evidence): Check[] {
  if (!records) return []
  if ('unread' in records) return [check('goods', ownSystem ? false : null, `the goods: ${records.unread}`)]
  const buyers = visits.flatMap(({ goods, order }): Buyer[] =>
    goods?.told != null && order !== null ? [{ ...goods, order, told: goods.told }] : [],
  )
  const restocked = new Set([...operator.orders].flatMap(([order, given]) => (given.restocked ? order : [])))
  const wanted = count(visits, ({ goods, order }) => goods?.broughtCode === true && order !== null)
  return [sumsRight(records, buyers), goodsAsAsked(records, buyers), codeCounted(records, wanted, restocked)]
}

/** The total that the buyer saw, the one in the ledger, and the sum of the order's parts must be equal. */
function sumsRight({ orders }: GoodsRecords, buyers: readonly Buyer[]): Check {
  const toldOtherwise = count(buyers, (buyer) => buyer.told !== sumOf(buyer))
  const costs = count(buyers, (buyer) => orders.get(buyer.order)?.total_minor !== sumOf(buyer))
  return check(
    'every sum is right to the minor unit',
    ifAny(buyers.length, toldOtherwise + costs === 0),
    `${n(buyers.length)} orders; ${n(toldOtherwise)} buyers were told another sum, ${n(costs)} orders cost another one`,
  )
}

function goodsAsAsked({ orders }: GoodsRecords, buyers: readonly Buyer[]): Check {
  const otherwise = count(buyers, ({ order, product, hasCode }) => {
    const row = orders.get(order)
    return row?.product !== product || row.hasCode !== hasCode
  })
  return check(
    'every buyer got the size that they chose, and the code that they brought',
    ifAny(buyers.length, otherwise === 0),
    `${n(buyers.length)} orders, ${n(otherwise)} otherwise`,
  )
}

/**
 * The code is never used more often than allowed. If more buyers had it than could use it, it was never refused while
 * uses were left.
 */
function codeCounted({ orders, code }: GoodsRecords, wanted: number, restocked: ReadonlySet<string>): Check {
  const live = count([...orders.values()], (order) => order.isLive && order.hasCode)
  const back = count([...orders], ([id, order]) => order.hasCode && (!order.isLive || restocked.has(id)))
  const right =
    code.held === 0 && code.sold === live && live <= code.uses && (wanted <= code.uses || live + back >= code.uses)
  return check(
    'a promo code is used as often as it may be',
    right,
    `${n(live)} of ${n(code.uses)} uses, ${n(code.sold)} counted and ${n(code.held)} held; ${n(wanted)} buyers ` +
      `brought it, ${n(back)} gave it back`,
  )
}
