/** The setting `QUEUE_IT`: the shops whose Queue-it connectors this Worker serves (docs/queue-it.md). Pure. */
import * as v from 'valibot'
import { SaleId } from '../../shared/api/fields.ts'
import { url } from './setting-forms.ts'

const TEXT = 'must be a text'
/** Tokens of connectors separate by `_` and `~`, so no id contains them. */
const Id = v.pipe(v.string(TEXT), v.regex(/^[a-z0-9-]{1,50}$/, 'must be up to 50 letters a-z, digits and -'))
/** Secrets of Queue-it have 72 characters, and its API keys 36. */
const Secret = v.pipe(v.string(TEXT), v.minLength(32, 'must have 32 characters or more'))
const Host = v.pipe(v.string(TEXT), v.regex(/^[\w.-]+(:\d+)?$/, 'must be host names'), v.toLowerCase())
const MAX_SESSION_MINUTES = 24 * 60
const minutes = 'must be whole minutes, 1 to 1440'

/** An integration configuration as Queue-it exports it. Fields that only connectors read are passed on. */
const Integration = v.looseObject(
  {
    Version: v.pipe(v.number('must be a number'), v.minValue(1, 'must be 1 or more')),
    Integrations: v.array(
      v.looseObject(
        {
          ActionType: v.picklist(['Queue', 'Cancel', 'Ignore'], 'must be Queue, Cancel or Ignore'),
          EventId: v.nullish(v.string(TEXT)),
        },
        'must be integrations',
      ),
      'must be a list',
    ),
  },
  'must be an exported configuration',
)
export type Integration = v.InferOutput<typeof Integration>

const Customer = v.pipe(
  v.strictObject(
    {
      customer: Id,
      /** The connectors verify tokens with it. */
      secret: Secret,
      /** The key for calls that pull or push the configuration. */
      api_key: v.optional(Secret),
      /** The hosts to which visitors may return, the first of them if the connector names no target. */
      hosts: v.pipe(v.array(Host, 'must be a list'), v.minLength(1, 'must name a host')),
      /** The sale for each event. */
      events: v.record(Id, SaleId, 'must be sales by event'),
      enqueue_token: v.optional(v.picklist(['optional', 'required'], 'must be optional or required'), 'optional'),
      /** True: a token is valid only at the address that the visitor had here. */
      bind_address: v.optional(v.boolean('must be true or false'), false),
      /** A visitor counts as inside for so long, which is best the validity of the connector's cookie. */
      session_minutes: v.optional(
        v.pipe(v.number(minutes), v.integer(minutes), v.minValue(1, minutes), v.maxValue(MAX_SESSION_MINUTES, minutes)),
        20,
      ),
      integration: v.optional(Integration),
      push_url: v.optional(url),
    },
    ({ expected }) => (expected === 'never' ? 'is not a field of a customer' : 'must be a customer'),
  ),
  v.check(
    ({ integration, events }) =>
      (integration?.Integrations ?? []).every(({ ActionType, EventId }) => {
        return ActionType === 'Ignore' || Object.hasOwn(events, EventId ?? '')
      }),
    'must have integrations of its own events only',
  ),
)
export type QueueItCustomer = v.InferOutput<typeof Customer>

export const QueueItCustomers = v.pipe(
  v.string(),
  v.parseJson(undefined, 'must be a list as JSON'),
  v.array(Customer, 'must be a list as JSON'),
  v.check(
    (customers) => new Set(customers.map(({ customer }) => customer)).size === customers.length,
    'must name each customer once',
  ),
)
