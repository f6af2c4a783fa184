/**
 * The routes of a hall: its sections, its chart and the state of its seats for everyone, and for visitors whose turn
 * it is the single seats and a stream of remaining counts. Public routes read no cookie, and the sections are part of
 * the sale's snapshot, so they need no call of their own.
 */
import { type AvailabilityDocument, HallAvailability, type SectionsDocument } from '../../shared/api/hall.ts'
import { tryParse } from '../../shared/parse.ts'
import { requireBuyer } from '../admission/admit.ts'
import { loadVersion, readInternal, sendVersion, type Version } from '../goods/versions.ts'
import { CACHE_TTL, cacheHeaders } from '../http/cache.ts'
import { type Call, etagOf, refuse, sendTagged } from '../http/call.ts'
import { Copies } from '../http/copies.ts'
import { passOn } from '../http/origin.ts'
import { publicNow } from '../queue/sale-now.ts'
import type { SaleFacts } from '../queue/timeline.ts'

interface Written {
  readonly body: string
  readonly etag: string
}

const headersFor = (sale: string, etag: string) => ({
  'content-type': 'application/json',
  etag,
  ...cacheHeaders(sale, CACHE_TTL.current),
})

// -- Sections -------------------------------------------------------------------------------------------------------

const known = new WeakMap<SaleFacts, Written>()

/** The route `GET /sales/{sale}/sections`. */
export async function sections(sale: string, call: Call): Promise<Response> {
  const { facts, stockAtMs } = await publicNow(sale, call)
  const { body, etag } = known.get(facts) ?? (await writeSections(facts))
  const headers = headersFor(sale, etag)
  return sendTagged(call.request, headers, () => `${body.slice(0, -1)},"as_of":"${new Date(stockAtMs).toISOString()}"}`)
}

/** The ETag does not include the time, so that callers keep their copy as long as nothing changes. */
async function writeSections(facts: SaleFacts): Promise<Written> {
  const { sale, chart_version, products } = facts
  const document: Omit<SectionsDocument, 'as_of'> = {
    sale,
    version: chart_version,
    sections: products.flatMap(({ section_type: type, total, available, ...p }) =>
      type
        ? {
            section_id: p.product_id,
            name: p.name,
            type,
            total_seats: total,
            available_seats: available,
            price_minor: p.unit_price_minor,
            currency: p.currency,
          }
        : [],
    ),
  }
  const body = JSON.stringify(document)
  const written = { body, etag: `W/${await etagOf(new TextEncoder().encode(body))}` }
  known.set(facts, written)
  return written
}

// -- The chart ------------------------------------------------------------------------------------------------------

/** Each chart has some megabytes. */
const charts = new Copies<Version>({ max: 8, freshMs: 86_400_000, waitMs: 5_000 })

/** The route `GET /sales/{sale}/chart?v=VERSION`. */
export async function chart(sale: string, call: Call): Promise<Response> {
  const { facts } = await publicNow(sale, call)
  return sendVersion('chart', sale, facts.chart_version, call, (version) =>
    charts.of(`${sale} ${version}`, () => loadVersion('chart', sale, version, call)),
  )
}

// -- The state of the seats -----------------------------------------------------------------------------------------

/** The copy has all sections of a hall, so that one call a second serves them all. */
interface HallCopy extends HallAvailability {
  readonly written: Map<string, Written>
}

const halls = new Copies<HallCopy>({ max: 100, freshMs: 1_000, waitMs: 2_000 })

/** The route `GET /sales/{sale}/sections/{section}/availability`. */
export async function availability(sale: string, section: string, call: Call): Promise<Response> {
  const { facts } = await publicNow(sale, call)
  const isSection = facts.products.some(({ product_id, section_type }) => section_type && product_id === section)
  if (!isSection || facts.chart_version === null) refuse('not-found')
  const { copy: hall, oldSinceMs } = await halls.freshOrOld(sale, () => loadAvailability(sale, call))
  if (oldSinceMs !== null) return sendOldAvailability(sale, hall, section, oldSinceMs)
  const { body, etag } = hall.written.get(section) ?? (await writeAvailability(hall, section))
  const headers = headersFor(sale, etag)
  return sendTagged(call.request, headers, () => body)
}

/** While the origin is away the last states are sent with their time; a checkout decides in any case. */
function sendOldAvailability(sale: string, hall: HallCopy, section: string, oldSinceMs: number): Response {
  const document = { ...availabilityOf(hall, section), as_of: new Date(oldSinceMs).toISOString() }
  return Response.json(document, { headers: cacheHeaders(sale, CACHE_TTL.current) })
}

async function loadAvailability(sale: string, call: Call): Promise<HallCopy> {
  const response = await readInternal(`/sales/${sale}/availability`, call)
  const found = tryParse(HallAvailability, await response.json())
  return found ? { ...found, written: new Map() } : refuse('try-again', { retry_after_seconds: 2 })
}

const availabilityOf = ({ version, sections }: HallCopy, section_id: string): AvailabilityDocument => {
  return { section_id, version, seats: sections[section_id] ?? '' }
}

async function writeAvailability(hall: HallCopy, section: string): Promise<Written> {
  const body = JSON.stringify(availabilityOf(hall, section))
  const made = { body, etag: await etagOf(new TextEncoder().encode(body)) }
  hall.written.set(section, made)
  return made
}

// -- For those whose turn it is -------------------------------------------------------------------------------------

/** The route `GET /sales/{sale}/sections/{section}/seats`. */
export async function seatsPage(sale: string, section: string, call: Call): Promise<Response> {
  const { token } = await requireBuyer(sale, call, 'seats')
  return passOn(`/sales/${sale}/sections/${section}/seats${new URL(call.request.url).search}`, token, call)
}

/** The route `POST /sales/{sale}/seats/offer`. */
export async function seatOffer(sale: string, call: Call): Promise<Response> {
  const { token } = await requireBuyer(sale, call, 'seat offers')
  return passOn(`/sales/${sale}/seats/offer`, token, call)
}

/** The route `GET /sales/{sale}/sections/updates`. */
export async function followSections(sale: string, call: Call): Promise<Response> {
  const { token } = await requireBuyer(sale, call, 'section updates')
  // The response is a stream, whatever the caller's Accept header says.
  return passOn(`/sales/${sale}/sections/updates`, token, call, { accept: 'text/event-stream' })
}
