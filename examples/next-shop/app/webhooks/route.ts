/** Hears what becomes of orders. A message may come twice, and before the call that caused it has its answer. */
import { verifyWebhook, WebhookError } from '@flash-sale/client/webhooks'
import { operators, setting } from '../../lib/flash-sale.ts'
import { capture, giveBack, ship } from '../../lib/shop-orders.ts'

export async function POST(request: Request): Promise<Response> {
  try {
    const { type, data } = await verifyWebhook(setting('WEBHOOK_SECRET'), request)
    if (type === 'order.confirmed') await fulfil(data.order_id)
    if (type === 'order.cancelled') giveBack(data.order_id)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (error instanceof WebhookError) return new Response(error.message, { status: 400 })
    throw error
  }
}

/** Sends the parcel, and says so in the sale. If either fails, the webhook comes again. */
async function fulfil(order: string) {
  capture(order)
  if (ship(order)) await operators().call('fulfil', { path: { order } })
}
