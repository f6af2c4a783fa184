/** The interface of operators: everything below `/admin` of the origin, and the webhooks that it sends. */
import * as v from 'valibot'
import packageJson from '../../../package.json' with { type: 'json' }
import { Access, Line, RuleConfig } from '../../../shared/api/access.ts'
import { OrderId, ProductId, SaleId, Texts, writtenInstant } from '../../../shared/api/fields.ts'
import { Brand, Delivery, Image, Markdown, Names, PromoCode } from '../../../shared/api/goods.ts'
import { SaleConfig } from '../../../shared/api/operators/sale-config.ts'
import { ViewRuleList } from '../../../shared/api/operators/views.ts'
import { Order, SeatId, SectionId } from '../../../shared/api/public.ts'
import { Chart } from '../answers.ts'
import { type DocumentParts, documentOf, type Operations } from '../document.ts'
import { PAYMENT_PARTS } from '../payment-calls.ts'
import { finding, HOOKS, SaleThen } from '../webhooks.ts'
import { accessCalls } from './access-calls.ts'
import { operationsOf } from './calls.ts'
import { Webhook } from './house-answers.ts'
import { houseCalls, webhookCalls } from './house-calls.ts'
import { FoundOrder, OrderHistory, Section } from './order-answers.ts'
import { hallCalls, orderCalls } from './order-calls.ts'
import { LiveSale, Report } from './report-answers.ts'
import {
  AddedAction,
  Announcement,
  Block,
  OperatorPost,
  Product,
  Rule,
  Sale,
  SaleState,
  ScheduledAction,
  SteeredSale,
} from './sale-answers.ts'
import { saleCalls } from './sale-calls.ts'

const TAGS = {
  Sales: ['What is sold, when, and how fast.', saleCalls],
  Visitors: ['Who may join, promo codes, pictures, and views.', accessCalls],
  Orders: ['Orders and their buyers.', orderCalls],
  Halls: ['Sections and seats.', hallCalls],
  House: ['Operators, audit, findings, alerts, search, and queues of jobs.', houseCalls],
  Webhooks: ['Where messages are sent, and what they say.', webhookCalls],
} as const

export const operatorsOperations: Operations = Object.assign(
  {},
  ...Object.entries(TAGS).map(([tag, [, calls]]) => operationsOf(tag, calls)),
)

/** Routes of the origin that are in no document, with the reason, by the beginning of their paths. */
export const ORIGIN_NOT_DESCRIBED: Readonly<Record<string, string>> = {
  '/internal/': 'for the edge',
  '/console': 'the console, and its sign-in',
  '/images/': 'pictures',
  '/webhooks/': 'for providers of payments',
  '/healthz': 'for balancers',
  '/problems/': 'pages that explain problems',
  '/openapi.json': 'the document itself',
  '/api': 'a page that shows it',
}

const path = (description: string, schema: v.GenericSchema = v.string()) => ({ schema, description })

const PARTS: DocumentParts = {
  info: {
    title: 'Flash sale: the operators’ interface',
    version: packageJson.version,
    description:
      'Create, steer and read sales, and look after their orders. Each call names the role that it takes: a ' +
      '`viewer` reads, an `operator` also changes, an `owner` may do everything.\n\nAmounts are in the smallest ' +
      'unit of the currency (`_minor`), times in ISO 8601 unless the name says `_ms` or `_seconds`. Nothing that ' +
      'operators read is kept by caches. docs/openapi/README.md says what may change.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'The origin, which serves this document.' }],
  tags: Object.entries(TAGS).map(([name, [description]]) => ({ name, description })),
  pathParameters: {
    sale: path('The sale.', SaleId),
    product: path('The product or the standing section.', ProductId),
    n: path('The number of the post.', v.pipe(v.string(), v.digits())),
    action: path('The scheduled action.', v.pipe(v.string(), v.uuid())),
    due: path('When the run was due.', writtenInstant),
    rule: path('The rule.'),
    block: path('The block.'),
    section: path('The section.', SectionId),
    seat: path('The seat.', SeatId),
    order: path('The order.', OrderId),
    visitor: path('The visitor, or `user:` and the account.', v.pipe(v.string(), v.maxLength(200))),
    name: path('The operator.'),
    queue: path('The queue.'),
    job: path('The job.', v.pipe(v.string(), v.digits())),
    endpoint: path('The endpoint.', v.pipe(v.string(), v.uuid())),
  },
  callers: {
    key: {
      type: 'http',
      scheme: 'bearer',
      description: 'The key of an operator, or ADMIN_TOKEN, which may do everything.',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: '__Host-operator',
      description: 'The session of the console, which changes nothing from pages of other hosts.',
    },
  },
  sent: { SaleConfig, RuleConfig, PromoCode, ViewRuleList },
  answered: {
    Sale,
    SaleState,
    SteeredSale,
    Product,
    Texts,
    Names,
    Markdown,
    Image,
    Brand,
    Delivery,
    Access,
    Line,
    ScheduledAction,
    AddedAction,
    Post: OperatorPost,
    Announcement,
    Rule,
    Block,
    LiveSale,
    Report,
    Order,
    FoundOrder,
    OrderHistory,
    Chart,
    Section,
    Webhook,
    SaleThen,
    Finding: finding,
  },
  operations: operatorsOperations,
  webhooks: HOOKS,
}

/** Calls by the key of an operator, and the webhooks. */
export const operatorsDocument = () => documentOf(PARTS)

/** All that the origin serves: besides, what it and a shop that takes the money itself say to each other. */
export const originDocument = () =>
  documentOf({
    ...PARTS,
    tags: [...PARTS.tags, ...PAYMENT_PARTS.tags],
    callers: { ...PARTS.callers, ...PAYMENT_PARTS.callers },
    sent: { ...PARTS.sent, ...PAYMENT_PARTS.sent },
    answered: { ...PARTS.answered, ...PAYMENT_PARTS.answered },
    operations: { ...operatorsOperations, ...PAYMENT_PARTS.operations },
    webhooks: { ...HOOKS, ...PAYMENT_PARTS.webhooks },
  })
