/** Calls about orders and their buyers, and the hall that they have seats of. */
import * as v from 'valibot'
import { Order } from '../../../shared/api/public.ts'
import { Chart } from '../answers.ts'
import type { Parameter } from '../document.ts'
import type { Calls } from './calls.ts'
import {
  BlockedSeats,
  Changes,
  ChartSettings,
  Forgotten,
  FoundOrders,
  Hall,
  KeptOfPerson,
  Note,
  OrderCounts,
  OrderHistory,
  PricedSeats,
  ReleasedSeats,
  SeatImport,
  SeatOwner,
  Section,
} from './order-answers.ts'

const FORMAT: Readonly<Record<string, Parameter>> = {
  format: { schema: v.picklist(['csv', 'ndjson']), description: 'NDJSON if it is left out.' },
}
const table = (description: string) => ({ 200: { description, types: ['text/csv', 'application/x-ndjson'] } })
const SEARCH = {
  q: 'Short number, id, visitor, account, address, mail, charge, ticket number, product, seat or note; empty for all.',
  status: 'Several have commas between them.',
  problem: 'Orders with a problem only.',
  orders: 'These orders, with commas between them, whatever the filters say.',
}
const order = { 200: { description: 'The order.', schema: Order } }
const moneyMoves = {
  200: { description: 'Done.', schema: Order },
  202: { description: 'The provider of payments has not confirmed it yet.', schema: Order },
}
const SEATS_CSV = `seat_id,row,number,place,x,y,category,kind,price_minor
A-101,A,101,1,0.5,0,front,standard,8900
A-103,A,103,2,1.5,0,front,standard,8900
`
const SEATS = { section_id: 'stalls', seats: ['A-101', 'A-103'] }
const isTrue = v.picklist(['true'])
const SEAT = v.object({
  seat_id: v.string(),
  row: v.string(),
  number: v.string(),
  place: v.number(),
  x: v.number(),
  y: v.number(),
  category: v.string(),
  kind: v.optional(v.string()),
  price_minor: v.number(),
})

export const orderCalls: Calls = {
  '/orders': {
    get: {
      id: 'listOrders',
      summary: 'Find orders, or follow all changes of orders',
      description:
        'With `q`, `status`, `product`, `from`, `to` or `problem` it is a search, whose orders come newest first. ' +
        'Without any of them it is the feed of all changes, complete and in order of commit: begin without `after`, ' +
        'go on with `next`, also after an empty page. With `Accept: application/x-ndjson` each change is a line, ' +
        'and `next` the header Next-Cursor.',
      query: SEARCH,
      answers: {
        200: {
          description: 'The orders that were found, or the changes.',
          schema: v.union([FoundOrders, Changes]),
          types: ['application/x-ndjson'],
          headers: { 'next-cursor': 'The `after` of the next page, with NDJSON.' },
        },
      },
    },
  },
  '/orders/counts': {
    get: {
      id: 'countOrders',
      summary: 'Orders by status',
      answers: { 200: { description: 'Null if counting takes longer than a second.', schema: OrderCounts } },
    },
  },
  '/orders/export': {
    get: {
      id: 'exportFoundOrders',
      summary: 'The orders that filters find, to download',
      query: SEARCH,
      parameters: FORMAT,
      answers: table('The orders.'),
    },
  },
  '/orders/{order}': {
    get: {
      id: 'getOrderHistory',
      summary: 'An order with its buyer and its history',
      answers: { 200: { description: 'The order.', schema: OrderHistory } },
    },
  },
  '/orders/{order}/notes': {
    post: {
      id: 'addNote',
      summary: 'Write a note about an order',
      body: { description: 'The note.', example: { text: 'Called: wants another size.' } },
      answers: {
        201: {
          description: 'The note.',
          schema: Note,
          example: { operator: 'ada', text: 'Called: wants another size.', at: '2026-11-27T12:00:00.000Z' },
        },
      },
    },
  },
  '/orders/{order}/fulfil': {
    post: { id: 'fulfil', summary: 'Mark a confirmed order as sent', answers: order, problems: ['conflict'] },
  },
  '/sales/{sale}/orders/{order}/fulfil': {
    post: {
      id: 'fulfilInSale',
      summary: 'Mark a confirmed order of a sale as sent',
      answers: order,
      problems: ['conflict'],
    },
  },
  '/orders/{order}/refund': {
    post: {
      id: 'refund',
      summary: 'Give money back',
      description:
        'That amount, the price of the lines, or all that is left. Money and units are apart: without `restock` the ' +
        'units stay sold.',
      key: 'required',
      body: { description: 'What is given back.', example: { lines: [1], reason: 'Damaged', restock: false } },
      answers: moneyMoves,
      problems: ['conflict'],
    },
  },
  '/orders/{order}/return': {
    post: {
      id: 'returnUnits',
      summary: 'Sell units of a refunded order again',
      body: { description: 'The lines; all that were refunded if left out.', optional: true, example: { lines: [1] } },
      answers: order,
      problems: ['conflict'],
    },
  },
  '/orders/{order}/cancel': {
    post: {
      id: 'cancelByShop',
      summary: 'Cancel an order, or lines of it, that is not sent',
      description: 'What was paid is given back, and the units are for sale again.',
      key: 'optional',
      body: { description: 'The lines; the whole order if left out.', optional: true, example: { reason: 'By mail' } },
      answers: moneyMoves,
      problems: ['conflict'],
    },
  },
  '/orders/{order}/move': {
    post: {
      id: 'moveSeat',
      summary: 'Move a line to a free seat, at the same price',
      body: { description: 'The line and the seat.', example: { line: 1, seat_id: 'A-103' } },
      answers: order,
      problems: ['conflict', 'seat-taken', 'unknown-product'],
    },
  },
  '/sales/{sale}/orders': {
    get: {
      id: 'exportOrders',
      summary: 'All orders of a sale, to download',
      parameters: FORMAT,
      answers: table('The orders, with bill and delivery.'),
      problems: ['invalid-fields'],
    },
  },
  '/sales/{sale}/box-office': {
    post: {
      id: 'sellAtBoxOffice',
      summary: 'Sell without a payment page',
      description: 'Also before the opening and while paused, and beyond the limits of visitors.',
      key: 'required',
      body: { description: 'What is sold.', example: { lines: [{ product_id: 'red', quantity: 2 }], note: 'Cash' } },
      answers: {
        200: { description: 'Sold before, by this key.', schema: Order },
        201: { description: 'Sold.', schema: Order },
      },
      problems: ['conflict', 'seat-taken', 'all-in-carts', 'sold-out', 'ended', 'unknown-product'],
    },
  },
  '/visitors/{visitor}': {
    get: {
      id: 'exportVisitor',
      summary: 'Export what is kept of a person',
      description:
        'The rows of the ledger by table, the counts in Redis, and the places in line; these are null where the edge ' +
        'did not answer. The name is as in the orders: `user:` and the account for who signs in.',
      answers: { 200: { description: 'All that is kept.', schema: KeptOfPerson } },
      problems: ['invalid-fields'],
    },
    delete: {
      id: 'forgetVisitor',
      summary: 'Forget a person',
      description:
        'Repeating it is harmless. What a running sale still needs goes when it is over. `sales_unreached` is the ' +
        'number of sales whose ticket shards did not answer: repeat the call.',
      answers: {
        200: {
          description: 'What was forgotten, and what will be.',
          schema: Forgotten,
          example: { contacts: 1, notes: 0, orders: 1, orders_later: 0, sales_unreached: 0 },
        },
      },
      problems: ['invalid-fields'],
    },
  },
}

export const hallCalls: Calls = {
  '/sales/{sale}/sections/{section}': {
    put: {
      id: 'putSection',
      summary: 'Create a section, or change it',
      description: 'The seats of a `reserved` section are its total; a `general_admission` section has a `total`.',
      body: {
        description: 'The section.',
        example: { name: 'Stalls', type: 'reserved', price_minor: 8900, currency: 'EUR' },
      },
      answers: { 200: { description: 'Changed.', schema: Section }, 201: { description: 'Created.', schema: Section } },
      problems: ['conflict', 'unknown-product'],
    },
    delete: {
      id: 'removeSection',
      summary: 'Remove a section without orders, with its seats',
      answers: { 204: { description: 'It is gone.' } },
      problems: ['conflict', 'unknown-product'],
    },
  },
  '/sales/{sale}/sections/{section}/seats': {
    put: {
      id: 'importSeats',
      summary: 'Import the seats of a section, all or none',
      parameters: {
        preview: {
          schema: isTrue,
          description: 'The answer says what the import would change, and nothing is changed.',
        },
        confirm: { schema: isTrue, description: 'Seats that orders have may get other names, too.' },
      },
      body: {
        description: 'All seats of the section.',
        schema: v.array(SEAT),
        files: { 'text/csv': SEATS_CSV },
      },
      answers: { 200: { description: 'What has changed, or would change.', schema: SeatImport } },
      problems: ['conflict', 'unknown-product', 'request-timeout'],
    },
  },
  '/sales/{sale}/chart': {
    get: {
      id: 'getHallChart',
      summary: 'The geometry of a hall',
      answers: { 200: { description: 'The chart.', schema: Chart } },
      problems: ['not-found'],
    },
    put: {
      id: 'putChart',
      summary: 'Set the point towards which the best seats are',
      body: { description: 'What is left out stays.', example: { focal_point: { x: 12, y: 0 } } },
      answers: { 200: { description: 'The settings.', schema: ChartSettings } },
      problems: ['not-found', 'conflict'],
    },
  },
  '/sales/{sale}/seats': {
    patch: {
      id: 'priceSeats',
      summary: 'Set the price or the category of seats that no order has',
      body: { description: 'The seats.', example: { ...SEATS, price_minor: 7900 } },
      answers: { 200: { description: 'How many.', schema: PricedSeats, example: { changed: 2, unchanged: 0 } } },
      problems: ['conflict', 'not-found'],
    },
  },
  '/sales/{sale}/seats/block': {
    post: {
      id: 'blockSeats',
      summary: 'Take seats out of sale',
      body: { description: 'The seats.', example: { ...SEATS, reason: 'Camera', until: null } },
      answers: { 200: { description: 'How many.', schema: BlockedSeats, example: { blocked: 2, unchanged: 0 } } },
      problems: ['conflict', 'not-found'],
    },
  },
  '/sales/{sale}/seats/release': {
    post: {
      id: 'releaseSeats',
      summary: 'Put seats back on sale',
      body: { description: 'The seats.', example: SEATS },
      answers: { 200: { description: 'How many.', schema: ReleasedSeats, example: { released: 2, unchanged: 0 } } },
      problems: ['conflict', 'not-found'],
    },
  },
  '/sales/{sale}/hall': {
    get: {
      id: 'getHall',
      summary: 'A hall: its sections with their counts, and what has each seat',
      description: '`seats` has two bits a seat, in the order of the chart: 0 available, 1 held, 2 sold, 3 blocked.',
      answers: { 200: { description: 'The hall.', schema: Hall } },
      problems: ['not-found'],
    },
  },
  '/sales/{sale}/hall/seats/{section}/{seat}': {
    get: {
      id: 'getSeat',
      summary: 'The holder of a seat, and its history',
      answers: { 200: { description: 'The seat.', schema: SeatOwner } },
      problems: ['not-found'],
    },
  },
}
