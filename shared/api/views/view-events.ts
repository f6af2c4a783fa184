/**
 * Views of pages: what a page sends, what the edge makes of it for the origin, and the operators' calls. A view is one
 * life of one page in one browser. Its page sends a beacon when it is first seen and then heartbeats, all with the id
 * of the view.
 */
import * as v from 'valibot'
import { exactly, SaleId, whole } from '../fields.ts'
import { Source, SourceLabel } from './source.ts'

const VIEW_PAGES = ['front', 'sale', 'line', 'turn', 'order', 'final'] as const
export type ViewPage = (typeof VIEW_PAGES)[number]

/** Devices by the user agent. A known bot is a device of its own. */
export const DEVICES = ['phone', 'tablet', 'desk', 'bot', 'unknown'] as const
export type Device = (typeof DEVICES)[number]

/** The time between two heartbeats of a page that is seen. */
export const HEARTBEAT_SECONDS = 15

const DAY_SECONDS = 86_400

const ViewId = v.pipe(v.string('text is required'), v.regex(/^[\w-]{22}$/, '22 letters, digits, "-" or "_"'))
const Page = v.picklist(VIEW_PAGES, `one of ${VIEW_PAGES.join(', ')} is required`)
const SeenSeconds = whole(0, DAY_SECONDS)
/** The language that a page is read in, which may be a browser's translation. */
const Language = v.pipe(v.string('text is required'), v.regex(/^[a-z]{2}$/, 'two letters are required'))

/** What a page sends: a beacon when it is first seen, and heartbeats. */
export const ViewBeacon = exactly({
  view: ViewId,
  page: Page,
  /** For how long the page has been visible. */
  seen_seconds: SeenSeconds,
  source: v.optional(Source),
  language: v.optional(Language),
})

/** The visitor of a view for one day: 16 hexadecimal digits (shared/api/views/view-identity.ts). */
const Hashed = v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))

/** A beacon as the edge passes it on. It has no address and no user agent. */
export const ViewEvent = v.object({
  view: ViewId,
  page: Page,
  /** Null for the front, which belongs to no sale. */
  sale: v.nullable(SaleId),
  seen_seconds: SeenSeconds,
  /** When the beacon arrived, by the edge's clock. */
  at_ms: whole(0, Number.MAX_SAFE_INTEGER),
  /** The hash of address and user agent. */
  pseudonym: Hashed,
  /** The hash of the address. */
  address: Hashed,
  /** The /24 of IPv4 or /48 of IPv6 around the address; empty if the address is unknown. */
  network: v.pipe(v.string(), v.regex(/^$|^[0-9a-f.:]{2,39}\/(24|48)$/)),
  asn: v.nullable(whole(0, 4_294_967_295)),
  country: v.nullable(v.pipe(v.string(), v.regex(/^[A-Z0-9]{2}$/))),
  device: v.picklist(DEVICES),
  language: v.nullable(Language),
  source: SourceLabel,
})
export type ViewEvent = v.InferOutput<typeof ViewEvent>

/** One call of an isolate has at most this many events, and their JSON at most this many bytes. */
export const MAX_BATCH_EVENTS = 2_000
export const MAX_BATCH_BYTES = 1_048_576

/** What an isolate has gathered. */
export const ViewBatch = v.object({
  /** The events that the isolate had to drop since its last call that arrived. */
  dropped: whole(0, Number.MAX_SAFE_INTEGER),
  events: v.pipe(v.array(ViewEvent), v.maxLength(MAX_BATCH_EVENTS)),
})
export type ViewBatch = v.InferOutput<typeof ViewBatch>
