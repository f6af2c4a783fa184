/** The interface of buyers: everything that the edge answers to programs. */
import * as v from 'valibot'
import packageJson from '../../package.json' with { type: 'json' }
import { JoinRequest } from '../../shared/api/access.ts'
import { OrderId, SaleId } from '../../shared/api/fields.ts'
import { Address } from '../../shared/api/goods.ts'
import {
  CheckoutLine,
  CheckoutRequest,
  Order,
  OrderLine,
  Payment,
  QueueAnswer,
  Schedule,
  SectionId,
} from '../../shared/api/public.ts'
import { ViewBeacon } from '../../shared/api/views/view-events.ts'
import {
  Chart,
  Feed,
  Posts,
  SaleWithGoods,
  SearchResults,
  SeatOfferAnswer,
  Seats,
  Sections,
  TotalsAnswer,
} from './answers.ts'
import { documentOf, type Operations } from './document.ts'
import { frontOperations } from './front-operations.ts'
import { lineOperations } from './line-operations.ts'
import { orderOperations } from './order-operations.ts'

export const buyersOperations: Operations = { ...lineOperations, ...orderOperations, ...frontOperations }

/** Routes of the edge that are in no document, with the reason, by path. */
export const NOT_DESCRIBED: Readonly<Record<string, string>> = {
  '/sales/{sale}/line': 'a page',
  '/sales/{sale}/posts': 'a page',
  '/sales/{sale}/posts/{page}': 'a page',
  '/sales/{sale}/wanted': 'a page',
  '/sales/{sale}/mail': 'a form of a page, and a page',
  '/sales/{sale}/leave': 'a form of a page',
  '/sales/{sale}/buy': 'a form of a page',
  '/me/sign-in': 'a redirect to the issuer, for browsers',
  '/me/signed-in': 'where the issuer returns them to',
  '/sales/{sale}/order/{order}': 'a page',
  '/sales/{sale}/order/{order}/pay': 'a page',
  '/sales/{sale}/order/{order}/receipt': 'a page',
  '/sales/{sale}/order/{order}/handover': 'a redirect of a page',
  '/sales/{sale}/order/{order}/payment': 'a form of a page',
  '/sales/{sale}/order/{order}/cancel': 'a form of a page',
  '/mail/stop/{order}/{mac}': 'a page that mails link to',
  '/sales/{sale}/brand.css': 'a file of pages',
  '/sales/{sale}/goods': 'the content of pages, by version',
  '/sales/{sale}/opening.ics': 'a file for calendars',
  '/sales/{sale}/event.ics': 'a file for calendars',
  '/images/{image}': 'a picture',
  '/images/{image}/{file}': 'a picture',
  '/assets/{file}': 'a file of pages',
  '/favicon.ico': 'a picture',
  '/robots.txt': 'a file for search engines',
  '/sitemap.xml': 'a file for search engines',
  '/.well-known/security.txt': 'a file (RFC 9116)',
  '/openapi.json': 'the document itself',
  '/api': 'a page that shows it',
  '/problems/{type}': 'a page that explains a problem',
  '/sales/{sale}/preview': 'for operators, by a link of the console',
  '/sales/{sale}/preview/{state}': 'for operators, by a link of the console',
  '/q/{customer}': 'a redirect of Queue-it’s connectors',
  '/q/{customer}/': 'a redirect of Queue-it’s connectors',
  '/q/{customer}/error/{cause}/': 'a redirect of Queue-it’s connectors',
  '/q/{customer}/error/connector/{cause}/': 'a redirect of Queue-it’s connectors',
  '/q/{customer}/cancel/multiple/{named}': 'a redirect of Queue-it’s connectors',
  '/q/{customer}/cancel/{named}/{event}/{place}': 'a redirect of Queue-it’s connectors',
  '/q/{customer}/api/mobileapp/queue/{named}/{event}/enqueue': 'for Queue-it’s SDKs',
  '/q/{customer}/debug': 'for operators: docs/queue-it.md',
  '/q/{customer}/push': 'for operators: docs/queue-it.md',
  '/status/integrationconfig/secure/{customer}': 'for Queue-it’s connectors',
  '/sales/{sale}/shop-error/{cause}': 'a page',
  '/internal/sales/{queue}/refresh': 'for the origin',
  '/internal/sales/{sale}/schedule': 'for the origin',
  '/internal/sales/{sale}/purge': 'for the origin',
  '/internal/sales/{sale}/preview/{state}': 'for the origin',
  '/internal/sales/{sale}/visitors/{visitor}': 'for the origin',
}

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description })

export const buyersDocument = () =>
  documentOf({
    info: {
      title: 'Flash sale: the buyers’ interface',
      version: packageJson.version,
      description:
        'The line before a sale, and the checkout behind it. Join, ask for your place as often as you are told to, ' +
        'check out with the admission token, and pay.\n\nAmounts are in the smallest unit of the currency ' +
        '(`_minor`), times in ISO 8601 unless the name says `_ms` or `_seconds`. A response may get more fields, ' +
        'and a list more kinds, within a major version; docs/openapi/README.md says what never changes.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The edge, which serves this document.' }],
    tags: [
      { name: 'Line', description: 'The sale, and the line before it.' },
      { name: 'Orders', description: 'What a visitor may do whose turn it is.' },
      { name: 'Hall', description: 'Sections and seats.' },
      { name: 'Messages', description: 'Posts of the shop, and push messages.' },
      { name: 'Front', description: 'The sales of the shop, and search.' },
      { name: 'Views', description: 'Who looks at which page.' },
      { name: 'Keys', description: 'Keys to check tokens with, and whether this half runs.' },
    ],
    pathParameters: {
      sale: { schema: SaleId, description: 'The sale.' },
      section: { schema: SectionId, description: 'A section of its hall.' },
      order: { schema: OrderId, description: 'The order.' },
      page: { schema: v.pipe(v.string(), v.digits()), description: 'The number of the page, from 1.' },
    },
    callers: {
      queue: bearer('The queue token of a join. Browsers send it as a cookie.'),
      admission: bearer('The admission token of a status that is `ready`. Browsers send it as a cookie.'),
      order: bearer('The order token of a checkout. Browsers send it as a cookie.'),
      shop: {
        type: 'apiKey',
        in: 'cookie',
        name: 'shop_session',
        description:
          'The session of the shop, in the cookie that SHOP_COOKIE names, or `X-Shop-Authorization: Bearer`.',
      },
    },
    sent: { Address, CheckoutLine, CheckoutRequest, JoinRequest, ViewBeacon },
    answered: {
      QueueAnswer,
      PublicSale: SaleWithGoods,
      Schedule,
      Order,
      OrderLine,
      Payment,
      Totals: TotalsAnswer,
      Sections,
      Chart,
      Seats,
      SeatOffer: SeatOfferAnswer,
      Posts,
      Feed,
      SearchResults,
    },
    operations: buyersOperations,
  })
