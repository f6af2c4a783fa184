/** What a rehearsal can be told on the command line. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { numberOf, optionsOf, UsageError, wholeOf } from '../../dev/command.ts'
import { ADMIN_TOKEN_FILE } from '../../dev/data-folder.ts'
import { SHAPES, type Shape } from './arrivals.ts'
import type { Shares } from './visitors.ts'

export const HELP = `Plays a whole sale with a crowd of real HTTP clients, and judges it.

  npm run rehearse -- [options]

The crowd
  --visitors N         how many come (2000)
  --arrivals SHAPE     spike: a rush at the opening, a quarter of them just before it (the default)
                       ramp: evenly, from the opening on     early: nine in ten wait in the lobby before it
                       bots: a spike in which one in ten is a machine that hammers
  --spread SECONDS     over how long they come (visitors / 800, at least 2)
  --declines SHARE     of buyers whose card is declined (0.05)
  --timeouts SHARE     of buyers whose payment is never answered (0.01)
  --abandon SHARE      of buyers who walk away from their cart (0.1)
  --no-shows SHARE     of visitors who do not come when they are called (0)
  --pollers SHARE      of visitors whose client has no script, and asks for its status (0.02)
  --known SHARE        of visitors who have been here before, and bring a cookie (0.02)
  --bots SHARE         of visitors who are machines (0; 0.1 with --arrivals bots)
  --think SECONDS      from one click to the next, on average (0.5)
  --no-page            they come without loading the sale's page first: it lies on a CDN
  --seed N             plays the same crowd again (a new one each time)

The sale
  --stock N            units (100)
  --rate N             admissions per second (200)
  --hold SECONDS       how long a cart is held (12; 60 from 50,000 visitors on)
  --claim SECONDS      how long a turn may be claimed (20, or 60 alike; only with a system of its own)
  --shards N           ticket shards (1; only with a system of its own)

The run
  --edge URL --origin URL [--admin-token T]    plays on a running system (the token also from ADMIN_TOKEN); with
                       DATABASE_URL the payment provider's records are judged as well
  --data FOLDER        of an npm start on this machine, whose token is there (default ./.data, or FLASH_SALE_DATA)
  --connections N      kept open to the edge (256)
  --max-minutes N      an end to it in any case (15, or 5 more than all of them need to come and a cart is held)
  --out FOLDER         where report.html and report.json go (bench/results)
  --plain              plain lines, also in a terminal
  --help               this text

Exit status: 0 the verdict is good, 1 it is not, 2 it could not be played, 130 interrupted.`

export interface Options {
  readonly visitors: number
  readonly stock: number
  readonly rate: number
  readonly arrivals: Shape
  readonly spreadSeconds: number
  readonly shares: Shares
  readonly thinkSeconds: number
  readonly pages: boolean
  readonly holdSeconds: number
  readonly claimSeconds: number
  readonly shards: number
  readonly seed: number
  readonly maxMinutes: number
  readonly connections: number
  readonly edge: string | undefined
  readonly origin: string | undefined
  readonly adminToken: string | undefined
  readonly out: string
  readonly plain: boolean
}

/** Visitors a second, each with two pages and a join, that two cores play well beside the servers under test; half as many again at the height. */
const VISITORS_PER_SECOND = 800

/** From so many visitors on, those who are called meet a rush that takes one core half a minute: carts must outlast it. */
const LONG_FROM = 50_000

const MAX_VISITORS = 5_000_000
/** Room for as many as may come, at the usual pace. */
const MAX_SPREAD_SECONDS = 7_200
/** Of a rehearsal, also where few come; and how long it may go on after the last has come and the last cart has run out. */
const USUAL_MINUTES = 15
const MARGIN_MINUTES = 5

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const OPTIONS = {
  ...{ visitors: text, arrivals: text, spread: text, think: text, seed: text, 'no-page': flag },
  ...{ declines: text, timeouts: text, abandon: text },
  ...{ 'no-shows': text, pollers: text, known: text, bots: text },
  ...{ stock: text, rate: text, hold: text, claim: text, shards: text },
  ...{ edge: text, origin: text, 'admin-token': text, data: text, connections: text, 'max-minutes': text },
  ...{ out: text, plain: flag, help: { ...flag, short: 'h' } },
} as const

type Name = {
  [K in keyof typeof OPTIONS]: (typeof OPTIONS)[K] extends typeof text ? K : never
}[keyof typeof OPTIONS]

export function readOptions(args: readonly string[]): Options | 'help' {
  const values = optionsOf(OPTIONS, 'run rehearse', args)
  if (values.help) return 'help'
  const number = (name: Name, usual: number, min: number, max: number) =>
    numberOf(name, values[name], usual, min, max)
  const whole = (name: Name, usual: number, min: number, max: number) =>
    wholeOf(name, values[name], usual, min, max)
  const share = (name: Name, usual: number) => number(name, usual, 0, 1)
  const arrivals = SHAPES.find((shape) => shape === (values.arrivals ?? 'spike'))
  if (!arrivals) throw new UsageError(`--arrivals is one of ${SHAPES.join(', ')}.`)
  if ((values.edge === undefined) !== (values.origin === undefined))
    throw new UsageError('--edge and --origin go together.')
  for (const name of ['edge', 'origin'] as const) {
    const url = values[name]
    if (url !== undefined && !/^http:\/\/[^/]+\/?$/.test(url))
      throw new UsageError(`--${name} is an address such as http://127.0.0.1:8787.`)
  }
  const shares = {
    declines: share('declines', 0.05),
    timeouts: share('timeouts', 0.01),
    abandon: share('abandon', 0.1),
    noShows: share('no-shows', 0),
    pollers: share('pollers', 0.02),
    known: share('known', 0.02),
    bots: share('bots', arrivals === 'bots' ? 0.1 : 0),
  }
  if (shares.declines + shares.timeouts + shares.abandon > 1)
    throw new UsageError('--declines, --timeouts and --abandon together are more than everyone.')
  if (shares.noShows + shares.pollers + shares.bots > 1)
    throw new UsageError('--no-shows, --pollers and --bots together are more than everyone.')
  const visitors = whole('visitors', 2_000, 1, MAX_VISITORS)
  const long = visitors >= LONG_FROM
  const spreadSeconds = number(
    'spread',
    Math.max(2, visitors / VISITORS_PER_SECOND),
    0.01,
    MAX_SPREAD_SECONDS,
  )
  const holdSeconds = whole('hold', long ? 60 : 12, 1, 3_600)
  const enoughMinutes = Math.ceil((spreadSeconds + holdSeconds) / 60) + MARGIN_MINUTES
  const maxMinutes = number('max-minutes', Math.max(USUAL_MINUTES, enoughMinutes), 0.05, 240)
  if (maxMinutes * 60 <= spreadSeconds)
    throw new UsageError(`--max-minutes ${maxMinutes} is over before all have come, in ${spreadSeconds} s.`)
  return {
    visitors,
    stock: whole('stock', 100, 1, 10_000_000),
    rate: number('rate', 200, 0.01, 100_000),
    arrivals,
    spreadSeconds,
    shares,
    thinkSeconds: number('think', 0.5, 0, 600),
    pages: values['no-page'] !== true,
    holdSeconds,
    claimSeconds: whole('claim', long ? 60 : 20, 1, 3_600),
    shards: whole('shards', 1, 1, 256),
    seed: whole('seed', Date.now() % 1_000_000, 0, 2 ** 32 - 1),
    maxMinutes,
    connections: whole('connections', 256, 1, 10_000),
    edge: values.edge?.replace(/\/$/, ''),
    origin: values.origin?.replace(/\/$/, ''),
    adminToken: values['admin-token'] || process.env.ADMIN_TOKEN || tokenOf(values.data, values.origin),
    out: values.out ?? 'bench/results',
    plain: values.plain === true,
  }
}

/** The token of the system that `npm start` runs on this machine: nobody else is shown it. */
function tokenOf(folder = process.env.FLASH_SALE_DATA || '.data', origin = ''): string | undefined {
  const file = join(folder, ADMIN_TOKEN_FILE)
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(URL.parse(origin)?.hostname ?? '')
  return isHere && existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}
