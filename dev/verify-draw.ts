/**
 * The command `npm run verify-draw -- --schedule URL --number N` recalculates a position in the draw from public data
 * alone. It reads the public schedule, checks that the revealed seed matches the commitment, and prints the position
 * of the number. The exit status is 0 if the commitment holds, 1 if it does not, and 2 if that is not known yet.
 */
import * as v from 'valibot'
import { Schedule } from '../shared/api/public.ts'
import { commitmentHolds, commitmentOf, positionOf } from '../shared/draw.ts'
import { isDrawn, placeOf } from '../shared/schedule.ts'
import { optionsOf, run, UsageError } from './lib/command.ts'

const HELP = `Usage: npm run verify-draw -- --schedule URL --number N

  --schedule URL   the public schedule, such as https://shop.example/sales/demo/schedule;
                   of another line, such as https://shop.example/sales/demo/schedule?line=members
  --number N       a ticket number
  --commitment H   the commitment you noted down before the opening (optional, but the point of it all)
  --help           this text

Exit status: 0 the seed fits the commitment, 1 it does not, 2 nobody can say.`

const READ_WITHIN_MS = 10_000

export function readOptions(args?: readonly string[]) {
  const options = optionsOf('run verify-draw', { texts: 'schedule number commitment' }, args)
  const number = /^\d+$/.test(options.number ?? '') ? Number(options.number) : 0
  if (!/^https?:$/.test(URL.parse(options.schedule ?? '')?.protocol ?? ''))
    throw new UsageError('--schedule needs a URL, such as https://shop.example/sales/demo/schedule.')
  if (!Number.isSafeInteger(number) || number < 1) throw new UsageError('--number needs a ticket number: 1, 2, 3 ...')
  // A copy from a page may have spaces around it, or capital letters.
  const noted = options.commitment?.trim().toLowerCase()
  if (noted !== undefined && !/^[0-9a-f]{64}$/.test(noted))
    throw new UsageError(
      `--commitment needs the 64 hexadecimal digits that were published, not "${options.commitment}".`,
    )
  return { url: options.schedule ?? '', number, noted }
}

/** Prints what it finds, and returns the exit status. */
export async function verify(args?: readonly string[]): Promise<number> {
  const { url, number, noted } = readOptions(args)
  const schedule = await readSchedule(url)
  const commitment = noted ?? schedule.draw_commitment
  console.log(`sale          ${schedule.sale}${schedule.line === undefined ? '' : `, line ${schedule.line}`}`)
  console.log(`commitment    ${commitment}${noted === undefined ? ' (as published now)' : ' (yours)'}`)
  if (!isDrawn(schedule)) throw new UsageError('The seed is not revealed yet: the draw is made when the sale opens.')
  const { draw_seed: seed, draw_beacon: beacon, pre_queue_size: size } = schedule
  console.log(`seed          ${seed}`)
  if (beacon) console.log(`beacon        ${beacon}`)
  console.log(`SHA-256(seed) ${commitmentOf(seed)}`)
  if (!commitmentHolds(commitment, seed)) {
    const which =
      noted === undefined ? 'does NOT fit the commitment published beside it' : 'is NOT the one committed to'
    console.log(`The seed ${which}: this draw cannot be trusted.`)
    return 1
  }
  console.log(
    noted === undefined
      ? 'The seed fits the commitment as it is published now. Only who noted the commitment down before the sale ' +
          'can say that it is the same (--commitment).'
      : 'The seed is the one committed to when you noted the commitment down.',
  )
  const drawn =
    number <= size
      ? `of ${size} drawn`
      : `(beyond the ${size} drawn: if it was given out, then after the opening, first come, first served)`
  console.log(`number        ${number} ${drawn}`)
  console.log(`position      ${positionOf({ seed, size, beacon }, number)}`)
  console.log(`now serving   ${placeOf(schedule, number, schedule.server_time_ms).now_serving}`)
  return 0
}

async function readSchedule(url: string): Promise<Schedule> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(READ_WITHIN_MS) })
    if (response.ok) return v.parse(Schedule, await response.json())
    throw new Error(`status ${response.status}`)
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } }
    throw new UsageError(`The schedule could not be read: ${cause?.code ?? message}`)
  }
}

if (import.meta.main) await run(HELP, 'Cannot verify the draw:', () => verify())
