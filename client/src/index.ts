/** The client of buyers: join the line of a sale, wait for the turn, check out, pay, and follow the order. */

export { FlashSale } from './flash-sale.ts'
export { OwnOrder } from './own-order.ts'
export { Place } from './place.ts'
export { ProblemError, WaitOver } from './problems.ts'
export { Turn } from './turn.ts'
export type { CheckoutRequest, JoinRequest, Order, PublicSale, QueueAnswer } from './types/buyers.ts'
