/**
 * The command `npm run explore` plays orders of events of the real system and judges them. The exit status is 0 if
 * every promise held, 1 if one was broken: then the shortest order found is printed, with the command that plays it
 * again.
 */
import { optionsOf, ProgressLines, run, UsageError, wholeOf } from '../../dev/lib/command.ts'
import { startPostgres } from '../../dev/servers/postgres.ts'
import { describe, explore, type Part } from './explorer.ts'
import { Points } from './report.ts'
import { shopPart } from './shop/part.ts'
import { openStores } from './shop/stores.ts'

const HELP = `Usage: npm run explore -- [options]

  --orders N   orders of events of each part (default 1,000)
  --seed N     the first seed; the same seed makes the same steps (default by chance)
  --only PART  checkout, payments or line (default all)
  --help       this text

Exit status: 0 every promise held, 1 one was broken.`

const PARTS = ['checkout', 'payments', 'line'] as const
type PartName = (typeof PARTS)[number]
/** While one order of events waits for a store, another one goes on. */
const WIDTH = 3
const PROGRESS_EVERY_MS = 5_000

async function command(): Promise<number> {
  const options = optionsOf('run explore', { texts: 'orders seed only' })
  const orders = wholeOf('orders', options.orders, 1_000, 1, 1_000_000)
  const seed = wholeOf('seed', options.seed, Math.floor(Math.random() * 2 ** 31), 0, 2 ** 32 - 1)
  const only = options.only as PartName | undefined
  if (only !== undefined && !PARTS.includes(only)) throw new UsageError(`--only needs one of ${PARTS.join(', ')}.`)
  const postgres = await startPostgres({ settings: ['fsync=off', 'full_page_writes=off'] })
  const stores = await openStores(postgres.url, WIDTH)
  try {
    const parts: readonly Part[] = [shopPart(stores, 'checkout'), shopPart(stores, 'payments')] as never
    for (const part of parts.filter(({ name }) => only === undefined || name === only))
      if (!(await explorePart(part, seed, orders))) return 1
    console.log('Good')
    return 0
  } finally {
    for (const one of stores) await one.stop()
    await postgres.stop()
  }
}

/** True if every promise held. */
async function explorePart(part: Part, seed: number, orders: number): Promise<boolean> {
  const lines = new ProgressLines()
  const points = new Points()
  const beganMs = performance.now()
  let [count, steps, fates, saidMs] = [0, 0, 0, beganMs]
  const failure = await explore(part, { seed, orders }, (_, played) => {
    points.add(played.steps)
    count++
    steps += played.steps.length
    fates += played.steps.filter(({ fate }) => fate !== 'done').length
    const nowMs = performance.now()
    if (nowMs - saidMs < PROGRESS_EVERY_MS) return
    saidMs = nowMs
    lines.say(`${part.name}: ${count} of ${orders} orders of events, ${rate(count, beganMs)} a second`)
  })
  const each = (sum: number) => (sum / Math.max(1, count)).toFixed(1)
  lines.say(
    `${part.name}: ${count} orders of events from seed ${seed}, ${rate(count, beganMs)} a second; ` +
      `${each(steps)} steps and ${each(fates)} faults each`,
  )
  const missing = points.missing(part.points)
  const reached = part.points.size - missing.length
  lines.say(
    `  ${reached} of ${part.points.size} points reached${missing.length > 0 ? `; never: ${missing.join(', ')}` : ''}`,
  )
  for (const point of points.unnamed()) lines.say(`  a point without a name: ${point}`)
  if (failure) console.log(`\n${describe(failure, part)}\n`)
  return failure === null
}

const rate = (count: number, beganMs: number) => ((1_000 * count) / (performance.now() - beganMs)).toFixed(1)

await run(HELP, 'The exploration failed.', command)
