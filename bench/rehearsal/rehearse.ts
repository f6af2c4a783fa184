/**
 * The command `npm run rehearse` plays a whole sale with a crowd of real HTTP clients, on its own system or on a
 * running one, without faults or while parts of it are killed (`npm run torture`) and the network between them fails.
 * Afterwards a judge compares what every client received with the records. With `--capacity` it finds the highest rate
 * of arrivals.
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

const MAX_LISTED = 12

function print(r: Result): void {
  const title = (text: string) => console.log(`\n${paint('bold', text)}`)
  const mark = ({ holds }: Check) =>
    holds === null ? paint('dim', '–') : holds ? paint('green', '✔') : paint('red', '✘')
  title('Verdict')
  const width = Math.max(...r.checks.map((c) => c.what.length))
  for (const c of r.checks) console.log(`  ${mark(c)} ${c.what.padEnd(width)}  ${paint('dim', c.detail)}`)

  title('Visitors')
  for (const [end, times] of Object.entries(r.ends))
    if (times > 0) console.log(`  ${end.replaceAll('_', ' ').padEnd(16)}${n(times).padStart(10)}`)

  if (r.attacks.length > 0) {
    title('Attackers')
    for (const line of attackRows(r)) console.log(`  ${line.map((text) => text.padStart(12)).join('')}`)
    console.log(`  ${honestText(r)}`)
  }

  const head = ['count', 'p50', 'p90', 'p99', 'p99.9', 'slowest'].map((name) => name.padStart(10)).join('')
  title(`Latency         ${paint('dim', head)}`)
  for (const [name, p] of Object.entries(r.latencies)) {
    const figures = [n(p.count), ...percentileTexts(p)].map((text) => text.padStart(10)).join('')
    if (p.count > 0) console.log(`  ${(name === 'settled' ? 'paid' : name).padEnd(14)}${figures}`)
  }

  if (r.programs) {
    const [[first = '', ...head] = [], ...rows] = programRows(r.programs)
    const cells = (texts: readonly string[]) => texts.map((text) => text.padStart(10)).join('')
    title(`${first.replace('p', 'P').padEnd(16)}${paint('dim', cells(head))}`)
    for (const [name = '', ...figures] of rows) console.log(`  ${name.padEnd(14)}${cells(figures)}`)
    const sold = soldOrderText(r.programs)
    if (sold) console.log(sold)
  }

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
    rehearsal = new Rehearsal(options)
    const result = await rehearsal.play(failed)
    print(result)
    save(result)
    console.log(result.good ? paint('green', '\nGood.') : paint('red', '\nNot good.'))
    return result.good ? 0 : 1
  },
  async () => rehearsal?.interrupt(),
)
