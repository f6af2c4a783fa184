/**
 * `npm run verify-draw -- --schedule URL --number N`: recomputes a position in the draw from public data alone.
 * It reads the public schedule, checks that the revealed seed is the one committed to, and says which position the
 * number was drawn to. Exit status 0 if the commitment holds, 1 if it does not, 2 if it cannot be told yet or at all.
 */
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { Schedule } from '../shared/api.ts'
import { commitmentHolds, commitmentOf, positionOf } from '../shared/draw.ts'
import { isDrawn, placeOf } from '../shared/schedule.ts'

const USAGE = `Usage: npm run verify-draw -- --schedule URL --number N

  --schedule URL   the public schedule, such as https://shop.example/sales/demo/schedule
  --number N       a ticket number
  --commitment H   the commitment you noted down before the opening (optional, but the point of it all)
  --help           this text`

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
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    return giveUp(`${(error as Error).message}\n\n${USAGE}`)
  }
})()

if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const number = Number(values.number)
if (!values.schedule || !URL.canParse(values.schedule)) giveUp(`--schedule needs a URL.\n\n${USAGE}`)
if (!Number.isSafeInteger(number) || number < 1)
  giveUp(`--number needs a ticket number: 1, 2, 3 ...\n\n${USAGE}`)

const schedule = await fetch(values.schedule, { signal: AbortSignal.timeout(WAIT_MS) })
  .then((response) => (response.ok ? response.json() : giveUp(`The schedule answered ${response.status}.`)))
  .then((body) => v.parse(Schedule, body))
  .catch((error: Error) => giveUp(`The schedule could not be read: ${error.message}`))

const commitment = values.commitment ?? schedule.draw_commitment
console.log(`sale          ${schedule.sale}`)
console.log(`commitment    ${commitment}${values.commitment ? ' (yours)' : ' (as published now)'}`)
if (!isDrawn(schedule)) giveUp('The seed is not revealed yet: the draw is made when the sale opens.')

console.log(`seed          ${schedule.draw_seed}`)
if (schedule.draw_beacon) console.log(`beacon        ${schedule.draw_beacon}`)
console.log(`SHA-256(seed) ${commitmentOf(schedule.draw_seed)}`)
if (!commitmentHolds(commitment, schedule.draw_seed)) {
  console.log('The seed is NOT the one committed to: this draw cannot be trusted.')
  process.exit(1)
}
console.log('The seed is the one committed to before the sale.')

const position = positionOf(
  { seed: schedule.draw_seed, size: schedule.pre_queue_size, beacon: schedule.draw_beacon },
  number,
)
const place = placeOf(schedule, number, schedule.server_time_ms)
const drawn = number <= schedule.pre_queue_size
console.log(
  `number        ${number} ${drawn ? `of ${schedule.pre_queue_size} drawn` : '(came after the opening: first come, first served)'}`,
)
console.log(`position      ${position}`)
console.log(`now serving   ${place.now_serving}`)
