/**
 * Pages that say that they are seen, beside the crowd: those of people, and of bots of four kinds. The rehearsal knows
 * what each really was, and compares that with what the rules counted.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ViewRules } from '../../shared/api/operators/views.ts'
import { VIEWER_KINDS, type ViewerKind } from '../invariants/evidence.ts'
import { HttpClient, requestText } from '../lib/http.ts'

/** The rules of the rehearsal. The first that drops a view is named, so that each kind of bot has its own. */
export const VIEWER_RULES: ViewRules = [
  { kind: 'bots', rule: 'agent', on: true, note: '' },
  { kind: 'data_centres', rule: 'network', on: true, note: '' },
  { kind: 'rate', rule: 'rate', on: true, note: '', views: 40, minutes: 1, per: 'pseudonym' },
  { kind: 'repeat', rule: 'repeat', on: true, note: '', minutes: 5 },
  { kind: 'min_seconds', rule: 'dwell', on: true, note: '', seconds: 2 },
]

/** The header of the caller's network, which this edge's front sets. */
export const ASN_HEADER = 'x-asn'
const HOME_NETWORK = 3_320
const DATA_CENTRE = 16_509
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36'
const PROGRAM = 'python-requests/2.32.3'

/** Views begin within this time. */
const BEGIN_WITHIN_MS = 15_000
/** People and most bots stay so long, in seconds. */
const STAY_SECONDS = 4
/** The views of the bot that comes often. Those of a minute that are not above the rate are repetitions. */
const OFTEN = 2_000
/** Bots of each other kind for every person. */
const BOTS_PER_PERSON = 0.25
const CONNECTIONS = 8
const TICK_MS = 10

interface Beacon {
  readonly atMs: number
  readonly kind: ViewerKind
  readonly view: string
  /** The number of the viewer, whose address it makes. */
  readonly viewer: number
  readonly seenSeconds: number
}

export class Viewers {
  /** The views that began, by kind. */
  readonly sent: Record<ViewerKind, number> = { people: 0, agent: 0, network: 0, rate: 0, dwell: 0 }
  /** The beacons that were not accepted. */
  refused = 0
  readonly #client: HttpClient
  readonly #sale: string
  readonly #beacons: readonly Beacon[]

  constructor(edge: string, sale: string, people: number, random: () => number) {
    this.#client = new HttpClient({ url: edge, connections: CONNECTIONS })
    this.#sale = sale
    this.#beacons = planOf(people, random)
  }

  /** Sends each beacon at its time. It ends when all have been answered. */
  async play(): Promise<void> {
    const beganMs = performance.now()
    const answers: Promise<void>[] = []
    for (const beacon of this.#beacons) {
      while (performance.now() - beganMs < beacon.atMs) await sleep(TICK_MS)
      answers.push(this.#send(beacon))
    }
    await Promise.all(answers)
    this.#client.close()
  }

  async #send({ kind, view, viewer, seenSeconds }: Beacon): Promise<void> {
    const headers = [
      `cf-connecting-ip: 10.${viewer >> 16}.${(viewer >> 8) & 255}.${viewer & 255}`,
      `user-agent: ${kind === 'agent' ? PROGRAM : BROWSER}`,
      `${ASN_HEADER}: ${kind === 'network' ? DATA_CENTRE : HOME_NETWORK}`,
    ]
    const body = JSON.stringify({ view, page: 'sale', seen_seconds: seenSeconds })
    const text = requestText('POST', `/sales/${this.#sale}/views`, this.#client.host, headers, body)
    const { status } = await this.#client.request(text)
    if (status !== 202) this.refused++
    else if (seenSeconds === 0) this.sent[kind]++
  }
}

/** Each view begins with a beacon, and goes on with one heartbeat unless it is left at once. */
function planOf(people: number, random: () => number): Beacon[] {
  const bots = Math.ceil(people * BOTS_PER_PERSON)
  const views: ViewerKind[] = VIEWER_KINDS.flatMap((kind) =>
    Array.from({ length: kind === 'people' ? people : kind === 'rate' ? OFTEN : bots }, () => kind),
  )
  const beacons = views.flatMap((kind, at): Beacon[] => {
    const beginMs = random() * BEGIN_WITHIN_MS
    const view = randomBytes(16).toString('base64url')
    const begin = { kind, view, viewer: kind === 'rate' ? views.length : at, atMs: beginMs, seenSeconds: 0 }
    if (kind === 'dwell') return [begin]
    return [begin, { ...begin, atMs: beginMs + STAY_SECONDS * 1000, seenSeconds: STAY_SECONDS }]
  })
  return beacons.sort((one, other) => one.atMs - other.atMs)
}
