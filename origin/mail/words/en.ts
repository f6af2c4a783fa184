import type { MailWords } from './mail-words.ts'

export const en: MailWords = {
  confirmed: ['Your order is confirmed: {sale}', 'Thank you. Your payment has arrived, and your order is confirmed.'],
  declined: [
    'Your order could not be paid: {sale}',
    'Your payment was declined, and the order has ended. Nothing was charged. What was set aside for you is ' +
      'for sale again.',
  ],
  cancelled: 'Your order did not go through: {sale}',
  cancelledFor: {
    payment_timeout:
      'Your bank did not answer in time, so the order has ended. Nothing stays charged: what your bank may ' +
      'have set aside for it comes free by itself. If you still want it, go back to the sale and choose again.',
    not_authenticated:
      'The payment was not confirmed with your bank in time, so the order has ended. Nothing stays charged. ' +
      'If you still want it, go back to the sale, choose again, and confirm when your bank asks.',
    oversold:
      'By a mistake of ours more was sold than there was, and your order was one too many. We are sorry. What ' +
      'was charged is paid back, and there is nothing for you to do.',
    no_stock:
      'While your order was being recorded, the last of it went to others. Nothing was charged. What is given ' +
      'back goes on sale again: look at the page of the sale.',
    limit:
      'You already had an order in this sale, and this one was more than one person can have. The other one ' +
      'stays, and nothing was charged for this one. There is nothing for you to do.',
    replay: 'It reached us twice. The other one counts, and is among your orders; nothing was charged for this one.',
    seat_taken:
      'While your order was being recorded, somebody else got these seats. Nothing was charged. You can ' +
      'choose other seats on the page of the sale.',
    price_changed:
      'While your order was being recorded, the shop changed its price. Nothing was charged. Look at the new ' +
      'price on the page of the sale, and order again if it suits you.',
    too_many:
      'Earlier orders of yours were given back or not paid, and others come first. Nothing was charged for ' +
      'this one. If you still want it, go back to the sale later; if this is a mistake, ask the shop.',
  },
  refunded: [
    'Your order was refunded: {sale}',
    'The whole price is on its way back to you. Your bank may take some days.',
  ],
  refundedInPart: [
    'A part of your order was refunded: {sale}',
    'A part of the price is on its way back to you. Your bank may take some days.',
  ],
  holdEnds: [
    'What you reserved goes back on sale soon: {sale}',
    'In about half a minute, what is set aside for you goes back on sale. Pay before then to keep it.',
  ],
  holdEnded: [
    'What you reserved is back on sale: {sale}',
    'It was not paid in time, and nothing was charged. If you still want it, the line is open to you.',
  ],
  sent: ['Your order is on its way: {sale}', 'Your order has been sent.'],
  turnNear: ['Your turn is near: {sale}', 'In about {t} it is your turn. Have your address and card ready.'],
  turn: ['It is your turn: {sale}', 'Open your page now: your turn waits only a few minutes for you.'],
  soldOut: [
    'Sold out: {sale}',
    'All of it was sold before your turn. On the page of the sale you can ask for a mail if more comes in.',
  ],
  restocked: ['More has come in: {sale}', 'What was sold out is for sale again, for as long as it lasts.'],
  toLine: 'Go to the line',
  toSale: 'Go to the sale',
  stop: 'Send me no more of these mails',
  whyAsked: 'You get this mail because somebody asked for it with this address on the page of the sale.',
  product: 'Product',
  ticket: 'Ticket',
  row: 'row',
  seat: 'seat',
  discount: 'Discount {code}',
  shipping: 'Shipping',
  included: '{name}, included',
  total: 'Total',
  refundedSoFar: 'Refunded in all',
  order: 'Order number',
  show: 'Show the order',
  sentTo: 'It is sent to:',
  pickUp: 'Pick it up here: {where}',
  pickUpLater: 'The shop will tell you where and when to pick it up.',
  handover: 'The shop still needs your address: show the order, and go on to the shop from there.',
  date: 'Date and time',
  venue: 'Place',
  calendar: 'Add to calendar',
  why: 'You get this mail because you left this address with your order.',
}
