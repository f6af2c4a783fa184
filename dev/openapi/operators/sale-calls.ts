/** Calls that create, steer and read sales, and what their visitors are told. */
import * as v from 'valibot'
import { ScheduledEffect, ScheduledTime } from '../../../shared/api/operators/requests.ts'
import type { Calls } from './calls.ts'
import { SaleFindings } from './house-answers.ts'
import { Funnel, LiveSale, Report, Seconds } from './report-answers.ts'
import {
  AddedAction,
  Announcement,
  Announcements,
  OperatorPost,
  OperatorPosts,
  Preview,
  Reconciled,
  Sale,
  Sales,
  ScheduledAction,
  ScheduledActions,
  SteeredSale,
} from './sale-answers.ts'

const SALE_EXAMPLE = {
  name: 'Friday drop',
  pre_queue_opens_at: '2026-11-27T11:30:00Z',
  opens_at: '2026-11-27T12:00:00Z',
  ends_at: '2026-11-27T18:00:00Z',
  products: [{ product_id: 'red', name: 'Red', unit_price_minor: 12900, currency: 'EUR', total: 10000 }],
  admission: { rate_per_second: 2000, max_inside: 5000 },
}
const changed = { 200: { description: 'The sale as it is now.', schema: Sale } }
const noted = {
  200: { description: 'The sale as it is now.', schema: Sale },
  202: { description: 'Noted while the ledger is away, and in effect.', schema: SteeredSale },
}

export const saleCalls: Calls = {
  '/sales': {
    get: {
      id: 'listSales',
      summary: 'The sales in use, with their states',
      description: 'A sale that ended long ago is read by its id. `findings` counts the open ones of each sale.',
      answers: { 200: { description: 'The sales.', schema: Sales } },
    },
  },
  '/sales/{sale}': {
    get: {
      id: 'getSale',
      summary: 'A sale: its configuration and its state',
      description: 'The invariant is `available` + `held` + `sold` + `buffer` = `total`.',
      answers: { 200: { description: 'The sale.', schema: Sale, headers: { etag: 'The version, for If-Match.' } } },
    },
    put: {
      id: 'putSale',
      summary: 'Create a sale, or change it',
      description: 'All fields are sent, as `GET` answers them; what only a `GET` has is ignored.',
      isVersioned: true,
      parameters: {},
      body: { description: 'The configuration.', example: SALE_EXAMPLE },
      answers: { ...changed, 201: { description: 'The new sale.', schema: Sale } },
      problems: ['conflict'],
    },
  },
  '/sales/{sale}/open': {
    post: { id: 'openSale', summary: 'Open a sale now', answers: changed, problems: ['conflict'] },
  },
  '/sales/{sale}/pause': {
    post: {
      id: 'pauseSale',
      summary: 'Stop the line; everyone keeps their place',
      body: {
        description: 'What visitors read.',
        optional: true,
        example: { reason: { en: 'Back in five minutes.' } },
      },
      answers: noted,
      problems: ['conflict'],
    },
  },
  '/sales/{sale}/resume': {
    post: { id: 'resumeSale', summary: 'Let the line move again', answers: noted, problems: ['conflict'] },
  },
  '/sales/{sale}/end': {
    post: { id: 'endSale', summary: 'End a sale, for good', answers: changed, problems: ['conflict'] },
  },
  '/sales/{sale}/admission': {
    patch: {
      id: 'setRate',
      summary: 'Change the rate of admissions, without a jump of the line',
      body: { description: 'The rate, in people a second.', example: { rate_per_second: 500 } },
      answers: changed,
      problems: ['conflict'],
    },
  },
  '/sales/{sale}/products/{product}/restock': {
    post: {
      id: 'restock',
      summary: 'Add units, or places of a standing section',
      description: 'A sold-out sale is live again.',
      key: 'optional',
      body: { description: 'How many.', example: { quantity: 50 } },
      answers: changed,
      problems: ['conflict', 'unknown-product'],
    },
  },
  '/sales/{sale}/reconcile': {
    post: {
      id: 'reconcile',
      summary: 'Compare the fast gate, the ledger and the orders, and repair what differs',
      query: { oversell: 'What is done if live orders exceed the stock, where the sale leaves it to an operator.' },
      answers: { 200: { description: 'What was found, and repaired.', schema: Reconciled } },
      problems: ['conflict'],
    },
  },
  '/sales/{sale}/live': {
    get: {
      id: 'followSale',
      summary: 'A running sale, at most a second old',
      description: 'With `Accept: text/event-stream` an event `live` each second, whose data are the same JSON.',
      answers: { 200: { description: 'The sale.', schema: LiveSale, types: ['text/event-stream'] } },
      problems: ['too-many-requests'],
    },
  },
  '/sales/{sale}/report': {
    get: {
      id: 'getReport',
      summary: 'The report of a sale, also while it runs',
      answers: { 200: { description: 'The report.', schema: Report } },
    },
  },
  '/sales/{sale}/funnel': {
    get: {
      id: 'getFunnel',
      summary: 'What became of the visitors from each source',
      description:
        '`key` is the label of the source, `typed` without one, and `other` for rare ones and for what could name ' +
        'a person. The one that paid most is first.',
      query: { by: 'What the rows are by.' },
      answers: {
        200: {
          description: 'The sources.',
          schema: Funnel,
          example: {
            rows: [
              { key: 'newsletter', views: 900, joined: 700, turns: 600, reserved: 80, paid: 75, paid_minor: 967500 },
            ],
          },
        },
      },
    },
  },
  '/sales/{sale}/seconds': {
    get: {
      id: 'getSeconds',
      summary: 'A sale by the second, at most fifteen minutes at once',
      description: 'Kept are the last fifteen minutes, and the first fifteen of the opening. Null: nobody counted.',
      answers: { 200: { description: 'The seconds, and what operators did meanwhile.', schema: Seconds } },
    },
  },
  '/sales/{sale}/findings': {
    get: {
      id: 'listSaleFindings',
      summary: 'What is, or was, not as it should be in a sale',
      answers: { 200: { description: 'The findings, the latest first.', schema: SaleFindings } },
    },
  },
  '/sales/{sale}/preview': {
    get: {
      id: 'getPreview',
      summary: 'The address of a sale’s pages in every state, for an hour',
      query: { from: 'The scheme and host of the page that frames them.' },
      answers: {
        200: {
          description: 'The address, its query, and the states: `{url}/{state}?{query}`.',
          schema: Preview,
          example: { url: 'https://queue.shop.example/sales/drop/preview', query: 'until=..', states: ['waiting'] },
        },
      },
      problems: ['conflict'],
    },
    post: {
      id: 'previewDraft',
      summary: 'A page of a sale that is not saved',
      body: {
        description: 'The configuration, and the page.',
        example: { sale: SALE_EXAMPLE, state: 'waiting', lang: 'en', look: 'dark' },
      },
      answers: { 200: { description: 'The page.', types: ['text/html'] } },
      problems: ['conflict', 'not-found'],
    },
  },

  '/sales/{sale}/feed': {
    get: {
      id: 'listPosts',
      summary: 'All posts of a sale, also those that were taken away',
      answers: { 200: { description: 'The posts, the newest first.', schema: OperatorPosts } },
    },
    post: {
      id: 'publishPost',
      summary: 'Publish a post',
      description: 'An urgent one is on top of all pages, until a time or the next one.',
      body: { description: 'The post.', example: { text: { en: 'Doors open at eight.' }, urgent: false } },
      answers: { 201: { description: 'The post.', schema: OperatorPost } },
      problems: ['conflict'],
    },
  },
  '/sales/{sale}/feed/{n}': {
    patch: {
      id: 'editPost',
      summary: 'Edit a post; what is left out stays',
      body: { description: 'The change.', example: { text: { en: 'Doors open at nine.' } } },
      answers: { 200: { description: 'The post.', schema: OperatorPost } },
      problems: ['not-found', 'conflict'],
    },
    delete: {
      id: 'removePost',
      summary: 'Take a post away',
      answers: { 204: { description: 'It is gone from all pages.' } },
      problems: ['not-found'],
    },
  },
  '/sales/{sale}/announcement': {
    put: {
      id: 'announce',
      summary: 'Show an announcement on all pages',
      description: 'It is an urgent post, and replaces the announcement before.',
      body: { description: 'The announcement.', example: { level: 'info', text: { en: 'We add 500 more.' } } },
      answers: {
        200: { description: 'The announcement.', schema: Announcement },
        202: { description: 'Noted while the ledger is away, and in effect.', schema: Announcement },
      },
      problems: ['conflict'],
    },
    delete: {
      id: 'endAnnouncement',
      summary: 'Take the announcement back',
      answers: { 204: { description: 'It is gone from all pages.' } },
    },
  },
  '/sales/{sale}/announcements': {
    get: {
      id: 'listAnnouncements',
      summary: 'All announcements of a sale',
      answers: { 200: { description: 'The announcements, the newest first.', schema: Announcements } },
    },
  },

  '/sales/{sale}/scheduled': {
    get: {
      id: 'listScheduledActions',
      summary: 'The scheduled actions of a sale, with their latest runs',
      answers: { 200: { description: 'The actions, those to come first.', schema: ScheduledActions } },
    },
    post: {
      id: 'schedule',
      summary: 'Schedule an action',
      description: '`at` or `cron`, and an action with the fields of the call of its name.',
      key: 'optional',
      body: {
        description: 'The action and its time.',
        schema: v.variant(
          'action',
          ScheduledEffect.options.map(({ entries }) =>
            v.strictObject({ ...ScheduledTime.pipe[0].entries, ...entries }),
          ) as unknown as [v.StrictObjectSchema<{ action: v.LiteralSchema<string, undefined> }, undefined>],
        ),
        example: { at: '2026-11-27T13:00:00Z', action: 'restock', product_id: 'red', quantity: 500 },
      },
      answers: { 201: { description: 'The action.', schema: AddedAction } },
      problems: ['conflict', 'unknown-product', 'not-found'],
    },
  },
  '/sales/{sale}/scheduled/{action}': {
    delete: {
      id: 'cancelAction',
      summary: 'Cancel a scheduled action',
      answers: { 204: { description: 'It does not run any more.' } },
      problems: ['not-found', 'conflict'],
    },
  },
  '/sales/{sale}/scheduled/{action}/run': {
    post: {
      id: 'runAction',
      summary: 'Run an action that failed or is to come now, in the caller’s name',
      answers: { 202: { description: 'It is about to run.', schema: ScheduledAction } },
      problems: ['not-found', 'conflict'],
    },
  },
  '/sales/{sale}/scheduled/{action}/resume': {
    post: {
      id: 'resumeAction',
      summary: 'Resume an action whose operator lost the role for it',
      answers: { 200: { description: 'The action, in the caller’s name.', schema: ScheduledAction } },
      problems: ['not-found', 'conflict'],
    },
  },
  '/sales/{sale}/scheduled/{action}/runs/{due}': {
    get: {
      id: 'getDocument',
      summary: 'What a run has kept: a report, or the orders as NDJSON',
      description: 'The orders have neither visitors nor addresses.',
      answers: { 200: { description: 'The document.', schema: Report, types: ['application/x-ndjson'] } },
      problems: ['not-found'],
    },
  },
}
