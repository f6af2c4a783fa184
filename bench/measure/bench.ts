/**
 * The command `npm run bench` measures the system, always in comparison with a bare server, a store's own limit, or
 * the usual approach in the field, in the same run. Absolute figures depend on the machine, ratios much less, and
 * those by processor time least. docs/decisions.md lists what was tried and rejected.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join, relative } from 'node:path'
import { numberOf, optionsOf, paint, run, UsageError, wholeOf, writableFolder } from '../../dev/lib/command.ts'
import { againstAlternatives } from './parts/alternatives.ts'
import { consolePages } from './parts/console.ts'
import { againstEdge } from './parts/edge.ts'
import { growth } from './parts/growth.ts'
import { life } from './parts/life.ts'
import { manySales } from './parts/many-sales.ts'
import { againstOrigin } from './parts/origin.ts'
import { processes } from './parts/processes.ts'
import { recovery } from './parts/recovery.ts'
import { searches } from './parts/search.ts'
import { seats } from './parts/seats.ts'
import { views } from './parts/views.ts'
import { markdownOf, type Table } from './rows.ts'
import { startStage } from './stage.ts'
import { type Bench, printAims, printTable } from './table.ts'

/** The parts with their own servers, those that share a system, and all of them. */
const ALONE = { recovery, search: searches, life, console: consolePages, processes }
const SHARED = {
  edge: againstEdge,
  origin: againstOrigin,
  alternatives: againstAlternatives,
  seats,
  'many-sales': manySales,
  views,
}
const PARTS = [...Object.keys(ALONE), ...Object.keys(SHARED), 'growth']

const HELP = `Measures the system against its limits and its alternatives, on this machine.

  npm run bench -- [options]

  --only LIST      of ${PARTS.join(',')} (all of them)
  --quick          three short rounds each, with fewer buyers
  --rounds N       rounds of which the median counts (5)
  --seconds N      length of one (1.6)
  --crowd N        the largest crowd that really joins, for growth, and the orders that are searched (1000000)
  --out FOLDER     where bench.json and aims.md go (bench/results)
  --help           this text

It ends with every aim: what was reached, and where not met the floor, which is what an endpoint costs that does only what
must be done. It starts its own servers on free ports. Nothing else should run on the machine meanwhile.
Exit status: 0 measured, 1 some responses were wrong, 2 it could not run, 130 interrupted.`

export function readOptions(args?: readonly string[]) {
  const values = optionsOf('run bench', { texts: 'only rounds seconds crowd out', flags: 'quick' }, args)
  const only = values.only?.split(',') ?? []
  for (const part of only)
    if (!PARTS.includes(part)) throw new UsageError(`--only is one of ${PARTS.join(', ')}, or a list of them.`)
  const { quick = false } = values
  const bench: Bench = {
    rounds: wholeOf('rounds', values.rounds, quick ? 3 : 5, 1, 99),
    seconds: numberOf('seconds', values.seconds, quick ? 0.8 : 1.6, 0.1, 60),
    buyers: quick ? [1, 256] : [1, 16, 256, 1_000],
    rivals: quick ? [256] : [1, 16, 256],
    sellers: quick ? [256] : [16, 256, 1_000],
    orders: quick ? 1_000 : 4_000,
    crowd: wholeOf('crowd', values.crowd, quick ? 10_000 : 1_000_000, 1_000, 1_000_000),
  }
  const parts = PARTS.filter((part) => only.length === 0 || only.includes(part))
  return { bench, parts, out: values.out ?? 'bench/results' }
}

async function measure({ bench, parts, out }: ReturnType<typeof readOptions>): Promise<boolean> {
  const machine =
    `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ` +
    `${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`
  console.log(`${machine}; ${bench.rounds} rounds of ${bench.seconds} s, medians`)
  const measured: Table[] = []
  let growthCosts: Awaited<ReturnType<typeof growth>> | undefined
  let wrong = 0
  const show = async (tables: AsyncIterable<Table>) => {
    for await (const table of tables) {
      printTable(table)
      measured.push(table)
      for (const { measured } of table.rows) wrong += measured.wrong
    }
  }
  console.log(paint('dim', 'Starting a system ...'))
  const wanted = <T extends object>(of: T) =>
    Object.entries(of).flatMap(([part, measure]) => (parts.includes(part) ? [measure as T[keyof T]] : []))
  for (const measure of wanted(ALONE)) await show(measure(bench))
  const stage = wanted({ ...SHARED, growth }).length > 0 ? await startStage() : undefined
  if (stage) {
    for (const measure of wanted(SHARED)) await show(measure(stage, bench))
    if (parts.includes('growth')) growthCosts = await growth(stage, bench)
  }
  printAims(measured)
  const results = { ...Object.fromEntries(measured.map(({ title, rows }) => [title, rows])), growth: growthCosts }
  const json = JSON.stringify({ at: new Date().toISOString(), machine, bench, results }, null, 2)
  writeFileSync(join(out, 'bench.json'), `${json}\n`)
  writeFileSync(join(out, 'aims.md'), markdownOf(measured))
  console.log(`\nWritten to ${relative(process.cwd(), out)}: bench.json, aims.md`)
  return wrong === 0
}

if (import.meta.main)
  await run(HELP, 'The bench failed:', async () => {
    const options = readOptions()
    writableFolder(options.out)
    return (await measure(options)) ? 0 : 1
  })
