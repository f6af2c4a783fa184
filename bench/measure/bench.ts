/**
 * `npm run bench`: what the system does, always compared in the same run with a bare server, a store's own ceiling, or
 * what the field does instead. Absolute figures depend on the machine, ratios much less, and those by processor time
 * least. What was tried and left is in docs/decisions.md.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join, relative } from 'node:path'
import { numberOf, optionsOf, paint, run, UsageError, wholeOf, writableFolder } from '../../dev/command.ts'
import { againstAlternatives } from './parts/alternatives.ts'
import { besideConsole } from './parts/console.ts'
import { againstEdge } from './parts/edge.ts'
import { growth } from './parts/growth.ts'
import { againstOrigin } from './parts/origin.ts'
import { recovery } from './parts/recovery.ts'
import { besideWebhooks } from './parts/webhooks.ts'
import { markdownOf, type Table } from './rows.ts'
import { startStage } from './stage.ts'
import { type Bench, printAims, printTable } from './table.ts'

const PARTS = ['recovery', 'edge', 'origin', 'webhooks', 'console', 'alternatives', 'growth'] as const
type Part = (typeof PARTS)[number]

const HELP = `Measures the system against its limits and its alternatives, on this machine.

  npm run bench -- [options]

  --only PART      recovery, edge, origin, webhooks, console, alternatives or growth; may be given more than once (all of them)
  --quick          three short rounds each, with fewer buyers
  --rounds N       rounds of which the median counts (5)
  --seconds N      length of one (1.6)
  --crowd N        the largest crowd that really joins, for growth (1000000)
  --out FOLDER     where bench.json and aims.md go (bench/results)
  --help           this text

It ends with every aim: what was reached, and where not met the floor, which is what an endpoint costs that does only what
must be done. It starts its own servers on free ports. Nothing else should run on the machine meanwhile.
Exit status: 0 measured, 1 some responses were wrong, 2 it could not run, 130 interrupted.`

const text = { type: 'string' } as const
const OPTIONS = {
  only: { ...text, multiple: true },
  quick: { type: 'boolean' },
  rounds: text,
  seconds: text,
  crowd: text,
  out: text,
  help: { type: 'boolean', short: 'h' },
} as const

function readOptions() {
  const values = optionsOf(OPTIONS, 'run bench')
  if (values.help) return 'help'
  const only = (values.only ?? []).flatMap((list) => list.split(','))
  for (const part of only)
    if (!PARTS.includes(part as Part)) throw new UsageError(`--only is one of ${PARTS.join(', ')}.`)
  const { quick = false } = values
  const bench: Bench = {
    rounds: wholeOf('rounds', values.rounds, quick ? 3 : 5, 1, 99),
    seconds: numberOf('seconds', values.seconds, quick ? 0.8 : 1.6, 0.1, 60),
    buyers: quick ? [1, 256] : [1, 16, 256, 1_000],
    rivals: quick ? [256] : [1, 16, 256],
    crowd: wholeOf('crowd', values.crowd, quick ? 10_000 : 1_000_000, 1_000, 1_000_000),
  }
  const parts = PARTS.filter((part) => only.length === 0 || only.includes(part))
  return { bench, parts, out: values.out ?? 'bench/results' }
}

async function measure(options: Exclude<ReturnType<typeof readOptions>, 'help'>): Promise<boolean> {
  const { bench, parts, out } = options
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`
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
  if (parts.includes('recovery')) await show(recovery(bench))
  const stage = parts.some((part) => part !== 'recovery') ? await startStage() : undefined
  if (stage) {
    if (parts.includes('edge')) await show(againstEdge(stage, bench))
    if (parts.includes('origin')) await show(againstOrigin(stage, bench))
    if (parts.includes('webhooks')) await show(besideWebhooks(stage, bench))
    if (parts.includes('console')) await show(besideConsole(stage, bench))
    if (parts.includes('alternatives')) await show(againstAlternatives(stage, bench))
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

await run('The bench failed:', async () => {
  const options = readOptions()
  if (options === 'help') {
    console.log(HELP)
    return 0
  }
  writableFolder(options.out)
  return (await measure(options)) ? 0 : 1
})
