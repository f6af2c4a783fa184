/**
 * The sales that `npm start` opens within seconds: one of units, a drop with all that goods can have, one for
 * members, and a hall of 2,000 seats with standing room. One more is still to come, with a countdown.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Image } from '../../shared/api/goods.ts'
import type { SaleConfig } from '../../shared/api/operators/sale-config.ts'
import { LocalError } from '../lib/processes.ts'
import { AURORA_CODES, AURORA_POSTS, auroraSale } from './aurora.ts'
import { hallOf } from './hall.ts'
import { type Drawing, drawPicture } from './pictures.ts'

/** The demo sale opens this long after the start, which is enough to open the page and join. */
const DEMO_OPENS_AFTER_MS = 20_000
/** The demo after a sold-out one is named demo-2, demo-3 and so on. */
const MAX_DEMOS = 1000
const CALL_WITHIN_MS = 10_000
/** A store that was restarted during the start has recovered within this time. */
const RETRY_WITHIN_MS = 60_000
/** A call without an answer is repeated after this time. */
const NO_ANSWER_MS = 1_000
/** A picture may take this long to resize, because the machine has just started all other parts. */
const UPLOAD_WITHIN_MS = 60_000
const DEMO_SEATS = 2_000
/** The sale to come opens this long after the start, and ends this long after its opening. */
const SOON_OPENS_AFTER_MS = 3 * 3_600_000
const SOON_LASTS_MS = 3_600_000

interface Demo {
  readonly sale: string
  readonly opensInSeconds: number
}

export interface Demos {
  readonly demo?: Demo
  readonly aurora?: Demo
  readonly hall?: Demo
  /** The demo with sign-in, if there is a shop to sign in at. */
  readonly members?: Demo
  /** The demo that is still to come. */
  readonly soon?: Demo
  /** True if the demo is a queue before another site. */
  readonly isBeforeSite?: true
}

/** The sale whose turns open the site of `--protect`. It has no units: the site sells by itself. */
export const PROTECTED_SALE = 'protected'

export async function ensureProtected(origin: Origin): Promise<Demos> {
  const opens_at = new Date().toISOString()
  const make = async () => ({ name: 'Your site', opens_at, admission: { rate_per_second: 10, max_inside: null } })
  await ensureDemo(origin, PROTECTED_SALE, make, undefined, () => true)
  return { demo: { sale: PROTECTED_SALE, opensInSeconds: 0 }, isBeforeSite: true }
}

/**
 * Makes the missing demo sales. If one cannot be made, it is left out with a warning, because the system works
 * without it.
 */
export async function ensureDemos(
  origin: Origin,
  hasShop: boolean,
  warn: (line: string) => void = console.warn,
): Promise<Demos> {
  const ensure = (...parts: DemoParts) =>
    ensureDemo(origin, ...parts).catch((error: Error) => {
      warn(`The demo sale "${parts[0]}" is left out: ${error.message}`)
      return undefined
    })
  const pictured: Pictured = async (drawing, alt) => ({
    images: [{ url: await upload(origin, await drawPicture(drawing)), alt }],
  })
  const hall = await ensure(
    'hall',
    () => hallSale(pictured),
    (sale) => fillHall(origin, sale),
  )
  const aurora = await ensure(
    'aurora',
    async () => ({ ...common(), ...(await auroraSale((picture) => upload(origin, picture))), ...opening() }),
    (sale) => fillAurora(origin, sale),
  )
  const members = hasShop ? await ensure('members', () => membersSale(pictured)) : undefined
  const soon = await ensure(
    'soon',
    () => soonSale(pictured),
    undefined,
    (phase) => phase === 'upcoming',
  )
  const demo = await ensure('demo', () => demoSale(pictured))
  return {
    ...(demo && { demo }),
    ...(aurora && { aurora }),
    ...(hall && { hall }),
    ...(members && { members }),
    ...(soon && { soon }),
  }
}

const opening = () => ({ opens_at: new Date(Date.now() + DEMO_OPENS_AFTER_MS).toISOString() })

/** Draws a picture, and returns it as the pictures of a product. */
type Pictured = (drawing: Drawing, alt: string) => Promise<{ readonly images: { url: string; alt: string }[] }>

/** What the demo sales have in common. */
const common = (): Partial<SaleConfig> => ({
  name: 'The demo sale',
  ...opening(),
  hold_seconds: 90,
  limit_per_visitor: 2,
  admission: { rate_per_second: 20, max_inside: null },
  seller: { name: 'Demo Shop Ltd', address: 'Harbour Street 4\n10115 Berlin', tax_id: 'DE123456789' },
  tax: { name: 'VAT', percent: 19 },
})

const demoSale = async (pictured: Pictured): Promise<Partial<SaleConfig>> => ({
  ...common(),
  products: [
    {
      ...{
        product_id: 'poster',
        name: 'Signed poster',
        unit_price_minor: 2500,
        currency: 'EUR',
        total: 100,
        buffer: 0,
      },
      ...(await pictured('poster', 'A poster of green waves under an orange sun')),
    },
    {
      ...{ product_id: 'vinyl', name: 'First pressing', unit_price_minor: 4200, currency: 'EUR', total: 20, buffer: 0 },
      ...(await pictured('vinyl', 'A record beside its orange sleeve')),
    },
  ],
})

/** The demo sale that requires a sign-in at the demo shop. */
const membersSale = async (pictured: Pictured): Promise<Partial<SaleConfig>> => ({
  ...(await demoSale(pictured)),
  name: "The members' sale",
  access: { sign_in: 'required', invitation: 'off', proof_of_work: null, turnstile: false },
})

/** The demo sale that is still to come. */
async function soonSale(pictured: Pictured): Promise<Partial<SaleConfig>> {
  const opensMs = Date.now() + SOON_OPENS_AFTER_MS
  const product = { product_id: 'print', name: 'Night at the sea, print', unit_price_minor: 9500, currency: 'EUR' }
  return {
    ...common(),
    name: 'Night at the sea',
    opens_at: new Date(opensMs).toISOString(),
    ends_at: new Date(opensMs + SOON_LASTS_MS).toISOString(),
    products: [{ ...product, total: 50, buffer: 0, ...(await pictured('night', 'The moon above a dark sea')) }],
  }
}

async function fillAurora(system: Origin, sale: string): Promise<void> {
  await admin(system, 'PUT', `${sale}/promo-codes`, AURORA_CODES)
  const image = (await admin(system, 'GET', sale))?.products[0]?.images?.[1]
  for (const { text, pictured } of AURORA_POSTS)
    await admin(system, 'POST', `${sale}/feed`, { text, ...(pictured && image && { image }) })
}

const HALL = hallOf(DEMO_SEATS)

const inThreeWeeks = (hour: number) => {
  const at = new Date(Date.now() + 21 * 86_400_000)
  at.setUTCHours(hour, 0, 0, 0)
  return at.toISOString()
}

const hallSale = async (pictured: Pictured): Promise<Partial<SaleConfig>> => ({
  ...common(),
  name: 'A night at the hall',
  venue: 'The hall, Harbour Street 4',
  event: { starts_at: inThreeWeeks(19), ends_at: inThreeWeeks(22), time_zone: 'Europe/Berlin' },
  limit_per_visitor: 6,
  products: [
    {
      ...{ ...HALL.product, currency: HALL.currency, buffer: 0 },
      ...(await pictured('hall', 'Rows of seats before a stage with light')),
    },
  ],
})

/** The sections and seats of the demo hall, in the form that an operator would import. */
async function fillHall(system: Origin, sale: string): Promise<void> {
  for (const [order, { section_id, name, type, total, price_minor }] of HALL.sections.entries()) {
    const outline = HALL.outlines[section_id]
    const section = { name, type, price_minor, currency: HALL.currency, order, ...(outline && { outline }) }
    const isStanding = type === 'general_admission'
    await admin(system, 'PUT', `${sale}/sections/${section_id}`, { ...section, ...(isStanding && { total }) })
    if (isStanding) continue
    const seats = HALL.seats.filter((seat) => seat.section === section_id)
    const list = seats.map(({ seat, row, number, place, x, y, category, kind, priceMinor }) => ({
      ...{ seat_id: seat, row, number, place, x, y, category, kind },
      price_minor: priceMinor,
    }))
    await admin(system, 'PUT', `${sale}/sections/${section_id}/seats`, list)
  }
  await admin(system, 'PUT', `${sale}/chart`, { focal_point: HALL.focalPoint })
}

/** The name of a demo, its configuration, what is added after its creation, and in which phases it is used again. */
type DemoParts = [
  name: string,
  make: () => Partial<SaleConfig> | Promise<Partial<SaleConfig>>,
  fill?: ((sale: string) => Promise<unknown>) | undefined,
  isUsable?: (phase: string) => boolean,
]

/** The origin that keeps the sales, and what its operators call it with. */
interface Origin {
  readonly originUrl: string
  readonly adminToken: string
}

const isLive = (phase: string) => phase !== 'sold_out' && phase !== 'ended'

/** Creates a demo sale unless there is a usable one. An ended one stays unchanged, because its orders are real. */
async function ensureDemo(origin: Origin, ...[name, make, fill, isUsable = isLive]: DemoParts): Promise<Demo> {
  for (let n = 1; n <= MAX_DEMOS; n++) {
    const sale = n === 1 ? name : `${name}-${n}`
    const state = await admin(origin, 'GET', sale)
    if (state === undefined) {
      await admin(origin, 'PUT', sale, await make())
      await fill?.(sale)
      return { sale, opensInSeconds: DEMO_OPENS_AFTER_MS / 1000 }
    }
    if (isUsable(state.phase)) return { sale, opensInSeconds: (Date.parse(state.opens_at) - Date.now()) / 1000 }
  }
  throw new LocalError(`There are ${MAX_DEMOS} demo sales already: remove the data folder, or use --no-demo.`)
}

interface Demoed {
  readonly phase: string
  readonly opens_at: string
  readonly products: readonly { readonly images?: readonly Image[] }[]
}

/** Calls an operators' route of a sale. Undefined if there is no such sale. */
async function admin(origin: Origin, method: string, path: string, body?: object) {
  const response = await call(origin, `/admin/sales/${path}`, CALL_WITHIN_MS, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.status === 404 ? undefined : read<Demoed>(response)
}

/** Uploads a picture and returns its address. */
async function upload(origin: Origin, picture: Buffer): Promise<string> {
  const response = await call(origin, '/admin/images', UPLOAD_WITHIN_MS, {
    method: 'POST',
    headers: { 'content-type': 'image/png' },
    body: new Uint8Array(picture),
  })
  return (await read<{ url: string }>(response)).url
}

/**
 * Calls the origin as an operator. A call is repeated after a 503, which means that nothing was done, and while its
 * stores restart also if there was no answer: each of these calls may be made twice.
 */
async function call({ originUrl, adminToken }: Origin, path: string, withinMs: number, init: RequestInit) {
  const giveUpAt = performance.now() + RETRY_WITHIN_MS
  const headers = { ...init.headers, authorization: `Bearer ${adminToken}` }
  for (;;) {
    const isLast = () => performance.now() + NO_ANSWER_MS > giveUpAt
    const response = await fetch(originUrl + path, { ...init, headers, signal: AbortSignal.timeout(withinMs) }).catch(
      (error: Error) => {
        if (isLast() || isGone(error)) throw error
      },
    )
    const retryAfterMs = Number(response?.headers.get('retry-after') ?? NO_ANSWER_MS / 1000) * 1000
    if (response && (response.status !== 503 || performance.now() + retryAfterMs > giveUpAt)) return response
    await response?.body?.cancel()
    await sleep(retryAfterMs)
  }
}

/** True if no origin listens any more. */
const isGone = ({ cause }: Error) => (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'

async function read<T>(response: Response): Promise<T> {
  const text = await response.text()
  if (response.ok) return JSON.parse(text)
  throw new LocalError(`the origin answered ${response.status}: ${text.slice(0, 300)}`)
}
