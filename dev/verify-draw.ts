/**
 * `npm run verify-draw -- --schedule URL --number N`: recomputes a position in the draw from public data alone.
 * It reads the public schedule, checks that the revealed seed is the one committed to, and says which position the
 * number was drawn to. Exit status 0 if the commitment holds, 1 if it does not, 2 if it cannot be told yet or at all.
 */
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { Schedule } from '../shared/api/public.ts'
import { commitmentHolds, commitmentOf, positionOf } from '../shared/draw.ts'
import { isDrawn, placeOf } from '../shared/schedule.ts'

const USAGE = `Usage: npm run verify-draw -- --schedule URL --number N

  --schedule URL   the public schedule, such as https://shop.example/sales/demo/schedule
  --number N       a ticket number
  --commitment H   the commitment you noted down before the opening (optional, but the point of it all)
  --help           this text

Exit status: 0 the seed is the one committed to, 1 it is not, 2 it cannot be told.`

const WAIT_MS = 10_000

function giveUp(message: string): never {
  console.error(message)
  process.exit(2)
}

const { values } = (() => {
  try {
    return parseArgs({
      options: {
        schedule: { type: 'string' },
        number: { type: 'string' },
        commitment: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    const [sentence] = (error as Error).message.split(/\.\s/)
    return giveUp(`${sentence}. See npm run verify-draw -- --help`)
  }
})()

if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const number = /^\d+$/.test(values.number ?? '') ? Number(values.number) : 0
if (!values.schedule || !/^https?:$/.test(URL.parse(values.schedule)?.protocol ?? ''))
  giveUp('--schedule needs a URL, such as https://shop.example/sales/demo/schedule.')
if (!Number.isSafeInteger(number) || number < 1) giveUp('--number needs a ticket number: 1, 2, 3 ...')
// Copied from a page, it may have got blanks around it, or capital letters.
const noted = values.commitment?.trim().toLowerCase()
if (noted !== undefined && !/^[0-9a-f]{64}$/.test(noted))
  giveUp(`--commitment needs the 64 hexadecimal digits that were published, not "${values.commitment}".`)

const schedule = await fetch(values.schedule, { signal: AbortSignal.timeout(WAIT_MS) })
  .then((response) => (response.ok ? response.json() : giveUp(`The schedule answered ${response.status}.`)))
  .then((body) => v.parse(Schedule, body))
  .catch((error: Error) => {
    const cause = (error.cause as { code?: string } | undefined)?.code ?? error.message
    return giveUp(`The schedule could not be read: ${cause}`)
  })

const commitment = noted ?? schedule.draw_commitment
console.log(`sale          ${schedule.sale}`)
console.log(`commitment    ${commitment}${noted === undefined ? ' (as published now)' : ' (yours)'}`)
if (!isDrawn(schedule)) giveUp('The seed is not revealed yet: the draw is made when the sale opens.')

console.log(`seed          ${schedule.draw_seed}`)
if (schedule.draw_beacon) console.log(`beacon        ${schedule.draw_beacon}`)
console.log(`SHA-256(seed) ${commitmentOf(schedule.draw_seed)}`)
if (!commitmentHolds(commitment, schedule.draw_seed)) {
  console.log(
    noted === undefined
      ? 'The seed does NOT fit the commitment published beside it: this draw cannot be trusted.'
      : 'The seed is NOT the one committed to: this draw cannot be trusted.',
  )
  process.exit(1)
}
console.log(
  noted === undefined
    ? 'The seed fits the commitment as it is published now. Whether that was published before the sale, only who noted it down then can tell (--commitment).'
    : 'The seed is the one committed to when you noted the commitment down.',
)

const position = positionOf(
  { seed: schedule.draw_seed, size: schedule.pre_queue_size, beacon: schedule.draw_beacon },
  number,
)
const place = placeOf(schedule, number, schedule.server_time_ms)
const { pre_queue_size } = schedule
console.log(
  `number        ${number} ${number <= pre_queue_size ? `of ${pre_queue_size} drawn` : `(beyond the ${pre_queue_size} drawn: if it was given out, then after the opening, first come, first served)`}`,
)
console.log(`position      ${position}`)
console.log(`now serving   ${place.now_serving}`)
