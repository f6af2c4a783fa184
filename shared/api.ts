/**
 * The API's shapes, as schemas that the edge, the origin and clients all read with one library (valibot, small enough
 * for the browser). Parsing happens once, at the rim; behind it the types tell the truth.
 */
import * as v from 'valibot'
import { CANCEL_REASONS, ORDER_STATUSES } from './order-status.ts'
import { type FieldError, type Problem, problem } from './problem.ts'
import { PHASES, STATUSES } from './schedule.ts'

/** Longest body any of our servers reads, in bytes: the largest request is a sale with a hundred products. */
export const MAX_BODY_BYTES = 64 * 1024

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
export const ID_FORM = '1 to 64 letters, digits, "-" or "_", beginning with a letter or digit'

export const SaleId = v.pipe(v.string('text is required'), v.regex(ID, ID_FORM))
export const ProductId = v.pipe(v.string('text is required'), v.regex(ID, ID_FORM))
export const OrderId = v.pipe(v.string(), v.uuid(), v.toLowerCase())

/** Printable ASCII, as the header's draft asks of a client that wants to be understood everywhere; 1 to 255 characters. */
export const IdempotencyKey = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/))

const name = v.pipe(
  v.string('text is required'),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(200, 'at most 200 characters'),
  v.check((text) => !/\p{Cc}/u.test(text), 'no control characters'),
  v.check((text) => text.isWellFormed(), 'must be well-formed Unicode'),
)

const whole = (min: number, max: number) =>
  v.pipe(
    v.number('a number is required'),
    v.integer('a whole number is required'),
    v.minValue(min, `at least ${min}`),
    v.maxValue(max, `at most ${max}`),
  )

/** From the epoch, which some send for "long ago", to beyond any sale: not all that can be written can be stored. */
const [FIRST_YEAR, LAST_YEAR] = [1970, 2100] as const

const instant = v.pipe(
  v.string('an ISO 8601 time is required'),
  v.regex(
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/,
    'an ISO 8601 time with its zone is required',
  ),
  v.check((text) => Number.isFinite(Date.parse(text)) && isDay(text.slice(0, 10)), 'no such time'),
  v.check((text) => {
    const year = new Date(text).getUTCFullYear()
    return year >= FIRST_YEAR && year <= LAST_YEAR
  }, `a year from ${FIRST_YEAR} to ${LAST_YEAR} is required`),
  v.transform((text) => new Date(text).toISOString()),
)

/** `Date` takes the 30th of February for a day in March. */
const isDay = (day: string) => new Date(day).toISOString().startsWith(day)

export const MAX_UNITS = 10_000_000

// -- Operators ---------------------------------------------------------------------------------------------------

/**
 * What an operator sends: a field that is misspelt is told, where a default would silently take its place. What was read
 * from us may be sent back with a change in it: `answered` is what else stands there, and it changes nothing.
 */
function exactly<const T extends v.ObjectEntries>(entries: T, answered: readonly string[] = []) {
  const ignored = Object.fromEntries(answered.map((name) => [name, v.optional(v.unknown())]))
  const known: T = { ...ignored, ...entries }
  return v.strictObject(known, ({ expected, input }) => {
    if (expected === 'never') return 'there is no such field'
    return input === undefined ? 'is required' : 'an object is required'
  })
}

const rate = v.pipe(
  v.number('a number is required'),
  v.finite('a number is required'),
  v.minValue(0.01, 'at least 0.01'),
  v.maxValue(100_000, 'at most 100000'),
)

const ProductConfig = exactly(
  {
    product_id: ProductId,
    name,
    unit_price_minor: whole(0, 1_000_000_000),
    currency: v.pipe(
      v.string('text is required'),
      v.regex(/^[A-Z]{3}$/, 'an ISO 4217 code such as EUR is required'),
    ),
    total: whole(0, MAX_UNITS),
  },
  ['available', 'held', 'sold'],
)

/** What to do when more was sold than there is, which only a fault from outside can bring about. */
export const OVERSELL_POLICIES = ['alarm', 'cancel_latest', 'fulfil_from_buffer'] as const
export type OversellPolicy = (typeof OVERSELL_POLICIES)[number]
export const OversellPolicy = v.picklist(
  OVERSELL_POLICIES,
  `one of ${OVERSELL_POLICIES.join(', ')} is required`,
)

export const SaleConfig = v.pipe(
  exactly(
    {
      name,
      opens_at: instant,
      ends_at: v.optional(v.nullable(instant), null),
      /** When visitors may begin to queue; null means as soon as the sale is created. */
      pre_queue_opens_at: v.optional(v.nullable(instant), null),
      hold_seconds: v.optional(whole(1, 24 * 3600), 90),
      limit_per_visitor: v.optional(whole(1, 1000), 1),
      products: v.pipe(
        v.array(ProductConfig, 'a list is required'),
        v.minLength(1, 'at least one product'),
        v.maxLength(100, 'at most 100 products'),
        v.check(
          (list) => new Set(list.map((p) => p.product_id)).size === list.length,
          'product_id must be unique',
        ),
      ),
      admission: exactly({
        rate_per_second: rate,
        /** Most people who may be in the shop at once without having finished; null means no such limit. */
        max_inside: v.optional(v.nullable(whole(1, MAX_UNITS)), null),
      }),
      oversell_policy: v.optional(OversellPolicy, 'alarm'),
    },
    ['sale', 'phase', 'ended_at', 'paused', 'invariant', 'rates', 'queue', 'health', 'server_time'],
  ),
  v.forward(
    v.check((sale) => sale.ends_at === null || sale.ends_at > sale.opens_at, 'must be after opens_at'),
    ['ends_at'],
  ),
)
export type SaleConfig = v.InferOutput<typeof SaleConfig>

export const AdmissionChange = exactly({ rate_per_second: rate })
export const Restock = exactly({ quantity: whole(1, MAX_UNITS) })

// -- Buyers ------------------------------------------------------------------------------------------------------

const PaymentMethod = v.pipe(
  v.string('text is required'),
  v.regex(/^pm_[A-Za-z0-9_]{1,100}$/, 'a payment method such as pm_ok is required'),
)

export const CheckoutRequest = v.object({
  product_id: v.optional(ProductId),
  quantity: v.optional(whole(1, 1000), 1),
  payment_method: v.optional(PaymentMethod),
})
export type CheckoutRequest = v.InferOutput<typeof CheckoutRequest>

export const PaymentRequest = v.object({ payment_method: PaymentMethod }, 'is required')

export const Order = v.object({
  order_id: OrderId,
  sale: SaleId,
  product_id: ProductId,
  quantity: v.number(),
  unit_price_minor: v.number(),
  currency: v.string(),
  status: v.picklist(ORDER_STATUSES),
  /** Only of a cancelled order. One that only a newer version knows is none: the order is told of all the same. */
  reason: v.fallback(v.optional(v.picklist(CANCEL_REASONS)), undefined),
  /** ISO 8601; null while the order is still being recorded. */
  reserved_until: v.nullable(v.string()),
  /** Seconds left of the hold, by the server's clock; 0 when there is no hold any more. */
  expires_in_seconds: v.number(),
  created_at: v.string(),
  /** About how many units are left, for the page; only where checkout answers. */
  remaining: v.optional(v.number()),
  order_token: v.optional(v.string()),
})
export type Order = v.InferOutput<typeof Order>

// -- The line ----------------------------------------------------------------------------------------------------

export const QueueAnswer = v.object({
  status: v.picklist(STATUSES),
  queue_token: v.optional(v.string()),
  number: v.number(),
  position_in_queue: v.nullable(v.number()),
  now_serving: v.number(),
  estimated_wait_time: v.nullable(v.number()),
  poll_after_ms: v.number(),
  admission_token: v.optional(v.string()),
  admission_expires_at: v.optional(v.string()),
})
export type QueueAnswer = v.InferOutput<typeof QueueAnswer>

const offered = {
  product_id: v.string(),
  name: v.string(),
  unit_price_minor: v.number(),
  currency: v.string(),
  total: v.number(),
  available: v.number(),
}

/**
 * What anyone may know of a sale: `GET /sales/{sale}` as JSON, and what the pages show. What is available is
 * approximate, a second or two old: the exact answer is given at checkout.
 */
export const PublicSale = v.object({
  sale: v.string(),
  name: v.string(),
  phase: v.picklist(PHASES),
  pre_queue_opens_at: v.nullable(v.string()),
  opens_at: v.string(),
  ends_at: v.nullable(v.string()),
  hold_seconds: v.number(),
  limit_per_visitor: v.number(),
  products: v.array(v.object(offered)),
  server_time_ms: v.number(),
})
export type PublicSale = v.InferOutput<typeof PublicSale>

// -- Between the halves ------------------------------------------------------------------------------------------

/**
 * What the origin tells the edge about a sale (GET /internal/sales/{sale}), and all the edge knows of it. Moments are
 * given as milliseconds from now, so that the two clocks need not agree; those in ISO 8601 are for people, and nothing is
 * calculated with them.
 */
export const SaleState = v.object({
  sale: v.string(),
  name: v.string(),
  phase: v.picklist(['upcoming', 'open', 'paused', 'all_in_carts', 'sold_out', 'ended']),
  /** How long ago the ledger said so: of several origins one may be cut off from it. One of the version before does not tell. */
  read_ago_ms: v.optional(v.number(), 0),
  pre_queue_opens_at: v.nullable(v.string()),
  pre_queue_opens_in_ms: v.number(),
  opens_at: v.string(),
  opens_in_ms: v.number(),
  ends_at: v.nullable(v.string()),
  ends_in_ms: v.nullable(v.number()),
  hold_seconds: v.number(),
  limit_per_visitor: v.number(),
  products: v.array(v.object({ ...offered, held: v.number(), sold: v.number() })),
  admission: v.object({ rate_per_second: v.number(), max_inside: v.nullable(v.number()) }),
  /** Ticket numbers whose first checkout call has reached the origin since it began to count: it may begin anew. */
  arrivals: v.number(),
  /** Some of those that did so since this origin was last asked, the latest last: by them it shows how late people come. */
  arrived_lately: v.optional(v.array(v.pipe(v.number(), v.safeInteger(), v.minValue(1))), []),
  /** Visitors who were told that all units are in carts, and still ask. */
  hopeful: v.optional(v.number(), 0),
  /** False while these two cannot be brought up to date: whoever does not turn up then is not known to be a no-show. */
  counted: v.optional(v.boolean(), true),
  /** ok: serving; slow: shedding load, admit fewer; the edge adds "unreachable" by itself. */
  health: v.picklist(['ok', 'slow']),
})
export type SaleState = v.InferOutput<typeof SaleState>

const figure = v.pipe(v.string(), v.transform(Number), v.number(), v.minValue(0))
/**
 * What the edge tells the origin about the line each time it asks for a sale's state, in the query of that request, for
 * operators to watch.
 */
export const LineFigures = v.object({
  /** Ticket numbers given out, or leased to be given out. */
  numbers_given: figure,
  /** Positions called so far, and how many of those given out are not, while they may be. */
  called: figure,
  waiting: figure,
  /** Seconds until the last in line is called, as it moves now; left out while it stands. */
  wait_seconds: v.optional(figure),
  /** The time that a turn took to come, lately, over the time its holder was told; left out until one was watched. */
  wait_ratio: v.optional(figure),
  /** Positions called a second now, which is the configured rate times these two. */
  called_per_second: figure,
  /** To make up for those who do not turn up; 1 or more. */
  boost: figure,
  /** For the origin's sake; 1 or less. */
  throttle: figure,
})
export type LineFigures = v.InferOutput<typeof LineFigures>

// -- Reading -----------------------------------------------------------------------------------------------------

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem }

/** Reads a value by a schema; what is wrong comes back as a 422 that names each field. */
export function parse<T>(schema: v.GenericSchema<unknown, T>, value: unknown): Parsed<T> {
  const result = v.safeParse(schema, value, { abortPipeEarly: true })
  if (result.success) return { ok: true, value: result.output }
  const errors: FieldError[] = result.issues
    .slice(0, 20)
    .map((issue) => ({ field: v.getDotPath(issue) ?? 'body', detail: issue.message }))
  return {
    ok: false,
    problem: problem('invalid-fields', {
      detail: errors.map((e) => `${e.field}: ${e.detail}`).join('; '),
      errors,
    }),
  }
}

/** Reads a JSON body by a schema: 400 if it is not JSON or not an object, 422 if fields are wrong. */
export function parseJson<T>(schema: v.GenericSchema<unknown, T>, body: string): Parsed<T> {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return malformed('The body is not JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return malformed('The body must be a JSON object.')
  }
  return parse(schema, value)
}

/** What is said of a body beyond MAX_BODY_BYTES. */
export function bodyTooLarge(): Problem {
  const detail = `at most ${MAX_BODY_BYTES} bytes`
  return problem('body-too-large', { detail, errors: [{ field: 'body', detail }] })
}

function malformed(detail: string): Parsed<never> {
  return { ok: false, problem: problem('invalid-request', { detail, errors: [{ field: 'body', detail }] }) }
}

// -- The schedule ------------------------------------------------------------------------------------------------

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const hex = v.pipe(v.string(), v.regex(/^([0-9a-f]{2})*$/))
/** 32 bytes, in hex. */
const hex32 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

/** The public admission schedule; what it means is in schedule.ts, which the page's script has without this library. */
export const Schedule = v.object({
  sale: v.string(),
  /** Counts up with every publication; of two documents the higher version holds. */
  version: count,
  phase: v.picklist(PHASES),
  /** Until the draw, the opening. */
  anchor_at_ms: v.number(),
  anchor_position: v.pipe(v.number(), v.minValue(0)),
  /** Positions per second; 0 while the line stands still. */
  rate_per_second: v.pipe(v.number(), v.minValue(0)),
  /** The highest position that may be served for now. */
  ceiling: count,
  /** Turns up to this position have passed: called longer ago than the claim window. */
  missed_through: count,
  /** Numbers issued before the opening: so far, while phase is upcoming or pre_queue; final once the seed is there. */
  pre_queue_size: count,
  /** SHA-256 of the seed's bytes. */
  draw_commitment: hex32,
  /** Null until the draw. */
  draw_seed: v.nullable(hex32),
  /** Hex value of the announced public beacon, mixed into the seed; null if none was announced, or not there yet. */
  draw_beacon: v.nullable(hex),
  /** For people, on the origin's clock. */
  pre_queue_opens_at: v.string(),
  opens_at: v.string(),
  ends_at: v.nullable(v.string()),
  /** The same moments to calculate with, on the clock of the line. A coordinator of the version before does not tell them. */
  pre_queue_opens_at_ms: v.optional(v.number()),
  ends_at_ms: v.optional(v.nullable(v.number())),
  server_time_ms: v.number(),
})
export type Schedule = v.InferOutput<typeof Schedule>
