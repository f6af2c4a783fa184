/** Buys one unit of a test sale as any visitor does, by the published client, and times each step. */
import { FlashSale, type Order, ProblemError, type PublicSale } from '../../client/src/index.ts'

export const STEPS = ['sale', 'join', 'turn', 'checkout', 'payment'] as const
type Step = (typeof STEPS)[number]

/** The sandbox's payment method that succeeds. */
const PAYMENT_METHOD = 'pm_ok'

export interface Purchase {
  /** The seconds that each step took; a step that was not reached has none. */
  readonly seconds: Readonly<Partial<Record<Step, number>>>
  /** The step that failed, and why; left out if the unit was bought. */
  readonly failed?: { readonly step: Step; readonly why: string }
}

/** Reads the sale, joins, waits for the turn, checks out and pays. Never rejects; `signal` bounds all of it. */
export async function purchase(edgeUrl: string, saleId: string, signal: AbortSignal): Promise<Purchase> {
  const shop = new FlashSale(edgeUrl)
  const seconds: Partial<Record<Step, number>> = {}
  let step: Step = 'sale'
  const timed = async <T>(name: Step, work: () => Promise<T>): Promise<T> => {
    step = name
    const fromMs = performance.now()
    try {
      return await work()
    } finally {
      seconds[name] = (performance.now() - fromMs) / 1000
    }
  }
  try {
    const product = productOf(await timed('sale', () => shop.sale(saleId, { signal })))
    const place = await timed('join', () => shop.join(saleId, {}, { signal }))
    const turn = await timed('turn', () => place.wait({ signal }))
    const cart = { lines: [{ product_id: product, quantity: 1 }] }
    const order = await timed('checkout', () => turn.checkOut(cart, { signal }))
    const { status } = await timed('payment', async (): Promise<Order> => {
      await order.pay(PAYMENT_METHOD, { signal })
      return order.settled({ signal })
    })
    if (status !== 'confirmed') throw new Error(`the order ended as ${status}`)
    return { seconds }
  } catch (error) {
    return { seconds, failed: { step, why: reasonOf(error) } }
  }
}

/** The first product. Throws for a sale whose units are for real buyers. */
function productOf({ sale, test, products }: PublicSale): string {
  if (!test) throw new Error(`${sale} is no test sale, and the probe would buy what is for sale`)
  const [product] = products
  if (!product) throw new Error(`${sale} has no product`)
  return product.product_id
}

function reasonOf(error: unknown): string {
  if (error instanceof ProblemError)
    return `${error.status} ${error.type}: ${error.message} (request ${error.fields.request_id ?? 'unknown'})`
  const { name, message, cause } = error as Error & { readonly cause?: { readonly code?: string } }
  return name === 'TimeoutError' ? 'not done in time' : (cause?.code ?? message)
}
