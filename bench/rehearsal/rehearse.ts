/**
 * The command `npm run rehearse` plays a whole sale with a crowd of real HTTP clients, on its own system or on a
 * running one, without faults or while parts of it are killed (`npm run torture`) and the network between them fails.
 * Afterwards a judge compares what every client received with the records. With `--capacity` it finds the highest rate
 * of arrivals, and with `--stand-in` it shows the crowd's own share of all waits.
 */
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { paint, run, writableFolder } from '../../dev/lib/command.ts'
import { KINDS } from '../crowd/tally.ts'
import type { Check } from '../invariants/evidence.ts'
import { duration, n } from '../lib/figures.ts'
import { findCapacity } from './capacity/capacity.ts'
import { HELP, readOptions } from './options.ts'
import { Rehearsal, type Result } from './play.ts'
import { rehearseProtected } from './protect/protect.ts'
import {
  afterTurnText,
  attackRows,
  honestText,
  percentileTexts,
  programRows,
  reportHtml,
  requestsText,
  soldOrderText,
} from './report/rehearsal-report.ts'
import { playStandIn } from './stand-in/play.ts'

const MAX_LISTED = 12

const title = (text: string) => console.log(`\n${paint('bold', text)}`)

function print(r: Result): void {
  const mark = ({ holds }: Check) =>
    holds === null ? paint('dim', '–') : holds ? paint('green', '✔') : paint('red', '✘')
  title('Verdict')
  const width = Math.max(...r.checks.map((c) => c.what.length))
  for (const c of r.checks) console.log(`  ${mark(c)} ${c.what.padEnd(width)}  ${paint('dim', c.detail)}`)

  printEnds(r)
  if (r.attacks.length > 0) {
    title('Attackers')
    for (const line of attackRows(r)) console.log(`  ${line.map((text) => text.padStart(12)).join('')}`)
    console.log(`  ${honestText(r)}`)
  }

  printWaits(r)

  const each = KINDS.map((kind) => [kind, r.requests[kind] / r.options.visitors] as const)
    .filter(([, share]) => share > 0)
    .map(([kind, share]) => `${kind} ${share.toFixed(2)}`)
  title(`Requests per visitor  ${requestsText(r)} (${each.join(', ')})`)
  console.log(`Requests of a buyer after the turn: ${afterTurnText(r)}`)
  console.log(`${duration(r.seconds * 1000)} in all, at most ${n(r.memoryMb)} MB for the crowd`)
  for (const [what, counts] of [
    ['Failures and problem responses', r.refusals],
    ['Complaints of clients', r.complaints],
  ] as const) {
    if (counts.length === 0) continue
    title(what)
    for (const [each, times] of counts.slice(0, MAX_LISTED)) console.log(`  ${n(times).padStart(8)} x ${each}`)
  }
}

function printEnds({ ends }: Pick<Result, 'ends'>): void {
  title('Visitors')
  for (const [end, times] of Object.entries(ends))
    if (times > 0) console.log(`  ${end.replaceAll('_', ' ').padEnd(16)}${n(times).padStart(10)}`)
}

/** The latencies, and what each program used meanwhile. */
function printWaits({ latencies, programs }: Pick<Result, 'latencies' | 'programs'>): void {
  const cells = (texts: readonly string[]) => texts.map((text) => text.padStart(10)).join('')
  title(`Latency         ${paint('dim', cells(['count', 'p50', 'p90', 'p99', 'p99.9', 'slowest']))}`)
  for (const [name, p] of Object.entries(latencies))
    if (p.count > 0)
      console.log(`  ${(name === 'settled' ? 'paid' : name).padEnd(14)}${cells([n(p.count), ...percentileTexts(p)])}`)

  if (!programs) return
  const [[first = '', ...head] = [], ...rows] = programRows(programs)
  title(`${first.replace('p', 'P').padEnd(16)}${paint('dim', cells(head))}`)
  for (const [name = '', ...figures] of rows) console.log(`  ${name.padEnd(14)}${cells(figures)}`)
  const sold = soldOrderText(programs)
  if (sold) console.log(sold)
}

function save(result: Result): void {
  const { out } = result.options
  writeFileSync(join(out, 'report.json'), `${JSON.stringify(result)}\n`)
  writeFileSync(join(out, 'report.html'), reportHtml(result))
  const path = relative(process.cwd(), join(out, 'report.html'))
  console.log(`\nReport: ${path}, and report.json beside it`)
}

let rehearsal: Rehearsal | undefined

await run(
  HELP,
  paint('red', 'The rehearsal failed:'),
  async (leave) => {
    const options = readOptions(process.argv.slice(2))
    writableFolder(options.out)
    const failed = (how: string) => void leave(2, `${how}.`)
    if (options.protect) return rehearseProtected(options.protect, failed)
    if (options.capacity) return findCapacity(options, options.capacity, failed)
    if (options.standIn) {
      const waits = await playStandIn(options, failed)
      printEnds(waits)
      printWaits(waits)
      writeFileSync(join(options.out, 'stand-in.json'), `${JSON.stringify(waits)}\n`)
      return 0
    }
    rehearsal = new Rehearsal(options)
    const result = await rehearsal.play(failed)
    print(result)
    save(result)
    console.log(result.good ? paint('green', '\nGood.') : paint('red', '\nNot good.'))
    return result.good ? 0 : 1
  },
  async () => rehearsal?.interrupt(),
)
