/**
 * The command `npm run explore` plays orders of events of the real system and judges them. The exit status is 0 if
 * every promise held, 1 if one was broken: then the shortest order found is printed, with the command that plays it
 * again.
 */
import { optionsOf, ProgressLines, run, UsageError, wholeOf } from '../../dev/lib/command.ts'
import { startPostgres } from '../../dev/servers/postgres.ts'
import { BREAKS, find } from './breaks.ts'
import { describe, explore, type Part, type Played } from './explorer.ts'
import { loadEdge } from './line/machine.ts'
import { linePart } from './line/part.ts'
import { Points } from './report.ts'
import { shopPart } from './shop/part.ts'
import { openStores } from './shop/stores.ts'

const HELP = `Usage: npm run explore -- [options]

  --orders N   orders of events of each part (default 1,000)
  --seed N     the first seed; the same seed makes the same steps (default by chance)
  --only PART  checkout, payments or line (default all)
  --breaks     instead of the product, plays each break of its protocol, in a copy, and prints a table of them
  --break TEXT the same with the breaks whose names contain the text
  --help       this text

Exit status: 0 every promise held, 1 one was broken; with --breaks: 0 every break was found, 1 one was not.`

const PARTS = ['checkout', 'payments', 'line'] as const
type PartName = (typeof PARTS)[number]
/** While one order of events waits for a store, another one goes on. */
const WIDTH = 3
const PROGRESS_EVERY_MS = 5_000

async function command(): Promise<number> {
  const options = optionsOf('run explore', { texts: 'orders seed only break', flags: 'breaks' })
  const orders = wholeOf('orders', options.orders, 1_000, 1, 1_000_000)
  const seed = wholeOf('seed', options.seed, Math.floor(Math.random() * 2 ** 31), 0, 2 ** 32 - 1)
  const only = options.only as PartName | undefined
  if (only !== undefined && !PARTS.includes(only)) throw new UsageError(`--only needs one of ${PARTS.join(', ')}.`)
  const isBroken = options.break !== undefined || options.breaks === true
  if (isBroken) return findBreaks(options.break ?? '', only, seed, orders)
  const names = PARTS.filter((name) => only === undefined || name === only)
  const isGood = names.includes('line') ? await exploreAll([linePart(await loadEdge())], seed, orders) : true
  const shop = names.filter((name) => name !== 'line')
  if (!isGood || (shop.length > 0 && !(await exploreShop(shop, seed, orders)))) return 1
  console.log('Good')
  return 0
}

async function findBreaks(text: string, only: PartName | undefined, seed: number, orders: number): Promise<number> {
  const chosen = Object.entries(BREAKS).filter(
    ([name, { part }]) => name.includes(text) && (only === undefined || part === only),
  )
  if (chosen.length === 0) throw new UsageError(`No break has "${text}" in its name.`)
  const lines = new ProgressLines()
  let missed = 0
  lines.say('| break | orders | steps | the promise that sees it |\n| --- | --- | --- | --- |')
  for (const [i, [name, one]] of chosen.entries()) {
    lines.begin(`${i + 1} of ${chosen.length}: ${name}`)
    const found = await find(one, seed, orders)
    if (!found) missed++
    const promise = found?.promise.split(':', 1)[0]
    lines.say(
      found ? `| ${name} | ${found.orders} | ${found.steps} | ${promise} |` : `| ${name} | not in ${orders} | | |`,
    )
  }
  lines.say(`${chosen.length - missed} of ${chosen.length} breaks found`)
  return missed === 0 ? 0 : 1
}

async function exploreShop(names: readonly ('checkout' | 'payments')[], seed: number, orders: number) {
  const postgres = await startPostgres({ settings: ['fsync=off', 'full_page_writes=off'] })
  const stores = await openStores(postgres.url, WIDTH)
  const parts = names.map((name) => shopPart(stores, name))
  const isGood = await exploreAll(parts, seed, orders)
  for (const one of stores) await one.stop()
  await postgres.stop()
  return isGood
}

/** Explores parts that share their named points. True if every promise held. */
async function exploreAll<Result extends Played>(parts: readonly Part<Result>[], seed: number, orders: number) {
  const points = new Points()
  for (const part of parts) if (!(await explorePart(part, seed, orders, points))) return false
  const all = parts[0]?.points ?? new Set()
  const missing = points.missing(all)
  const never = missing.length > 0 ? `; never: ${missing.join(', ')}` : ''
  console.log(`  ${all.size - missing.length} of ${all.size} points reached${never}`)
  for (const point of points.unnamed()) console.log(`  a point without a name: ${point}`)
  return true
}

/** True if every promise held. */
async function explorePart<Result extends Played>(
  part: Part<Result>,
  seed: number,
  orders: number,
  points: Points,
): Promise<boolean> {
  const lines = new ProgressLines()
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
  if (failure) console.log(`\n${describe(failure, part)}\n`)
  return failure === null
}

const rate = (count: number, beganMs: number) => ((1_000 * count) / (performance.now() - beganMs)).toFixed(1)

await run(HELP, 'The exploration failed.', command)
