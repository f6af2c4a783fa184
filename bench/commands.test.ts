/** The commands as a user runs them: what they refuse, print and leave behind. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { UsageError } from '../dev/lib/command.ts'
import { readCommand as operator } from '../dev/operator.ts'
import { verify, readOptions as verifyDraw } from '../dev/verify-draw.ts'
import { commitmentOf } from '../shared/draw.ts'
import { sampleSchedule } from '../shared/testing/sample-schedule.ts'
import { runCommand, useSystemStub } from '../test/lib/command.ts'
import { readOptions as bench } from './measure/bench.ts'
import { readOptions as model, readReport } from './model/model.ts'
import { readOptions as rehearsal } from './rehearsal/options.ts'

const REHEARSE = 'bench/rehearsal/rehearse.ts'
const schedule = sampleSchedule({ pre_queue_size: 10 })
const { asked, rehearsal: onStub, scheduleUrl } = useSystemStub(schedule)

const RUNNING = '--edge=http://127.0.0.1:1 --origin=http://127.0.0.1:1'
const READERS = { rehearsal, bench, model, 'verify-draw': verifyDraw, operator }

test.each<[keyof typeof READERS, args: string, what?: RegExp]>([
  ['rehearsal', '--visitors=', /--visitors needs a value/],
  ['rehearsal', '--visitors -5', /'--visitors' argument is ambiguous\. See npm run rehearse -- --help/],
  ['rehearsal', '--faults=redis --minutes=0', /--minutes needs a number from 0\.01 to 1440, not "0"/],
  ['rehearsal', `--cdn ${RUNNING}`, /--cdn needs its own system/],
  ['rehearsal', `--provider-rate=25 ${RUNNING}`, /--provider-rate needs its own system/],
  ['rehearsal', '--visitors=0'],
  ['rehearsal', '--visitors=800000 --max-minutes=15'],
  ['rehearsal', '--rate=fast'],
  ['rehearsal', '--declines=2'],
  ['rehearsal', '--arrivals=flood'],
  ['rehearsal', '--edge=http://127.0.0.1:1'],
  ['rehearsal', '--edge=127.0.0.1 --origin=http://127.0.0.1:1'],
  ['rehearsal', 'stray'],
  ['rehearsal', '--stock=1.5'],
  ['rehearsal', '--abandon=1 --declines=1'],
  ['rehearsal', '--no-shows=0.6 --bots=0.6'],
  ['rehearsal', '--faults=disk'],
  ['rehearsal', `--faults=redis ${RUNNING}`],
  ['rehearsal', '--faults=redis,deploy', /--faults deploy goes alone/],
  ['rehearsal', '--faults=failover,api', /--faults failover goes alone/],
  ['rehearsal', '--from=HEAD', /--from goes with --capacity, or with --faults deploy/],
  ['rehearsal', '--minutes=1'],
  ['rehearsal', '--identities=names'],
  ['rehearsal', '--bots=squat,typo'],
  ['rehearsal', '--bots=squat --faults=redis'],
  ['rehearsal', `--limits ${RUNNING}`],
  ['rehearsal', '--capacity --visitors=9', /--visitors changes nothing with --capacity/],
  ['rehearsal', '--capacity --cdn', /--cdn changes nothing with --capacity/],
  ...['--faults=redis', '--bots=0.1', '--identities=accounts', '--seats=9', '--goods', '--protect', RUNNING].map(
    (other): ['rehearsal', string, RegExp] => ['rehearsal', `--stand-in ${other}`, /^--[\w-]+ changes nothing with --/],
  ),
  ['rehearsal', '--capacity --stand-in', /--stand-in changes nothing with --capacity/],
  ['rehearsal', '--stand-in --arrivals=bots', /--arrivals bots and --stand-in do not go together/],
  ['rehearsal', '--step=5', /--step goes with --capacity/],
  ['rehearsal', '--capacity --from=50 --most=20', /--most needs a number from 50/],
  ['bench', '--only=nothing', /--only is one of/],
  ['model', '--stock=1.5', /--stock needs a whole number/],
  ['model', '--cost --visitors=2000', /--visitors changes nothing with --cost/],
  ['model', '--report=x.json', /--report goes with --cost/],
  ['verify-draw', '--number=1', /--schedule needs a URL/],
  ['verify-draw', '--schedule=http://127.0.0.1:1/ --number=0', /--number needs a ticket number/],
  ['verify-draw', '--colour=red', /Unknown option '--colour'/],
  ['verify-draw', '--schedule=http://127.0.0.1:1/ --number=3 --commitment=abc', /64 hexadecimal digits/],
  ['verify-draw', `--schedule=http://127.0.0.1:1/ --number=3 --commitment=${'z'.repeat(64)}`, /64 hexadecimal digits/],
  ['operator', 'add ada', /--role is needed: viewer, operator, owner\./],
  ['operator', 'add ada --role boss', /--role: viewer, operator or owner is required\./],
  ['operator', 'add admin --role owner', /"admin": is taken\./],
  ['operator', 'add a:b --role owner', /"a:b": 1 to 64 letters, digits and \.@_- are required\./],
  ['operator', 'add', /add needs a NAME\. See npm run operator -- --help/],
])('%s refuses %s with one sentence', (name, args, what = /./) => {
  const refusal = () => READERS[name](args.split(' '))
  expect(refusal).toThrow(UsageError)
  expect(refusal).toThrow(what)
  expect(refusal).toThrow(/^[^\n]+\.( See npm run [\w-]+ -- --help)?$/)
})

test.each([
  ['nowhere.json', /nowhere\.json cannot be read \(ENOENT\)/],
  ['package.json', /package\.json is no report of a rehearsal/],
  ['README.md', /README\.md is no report of a rehearsal/],
])('the cost cannot be taken from %s', (file, what) => {
  expect(() => readReport(file)).toThrow(what)
})

test('a rehearsal takes bots as a share of the crowd, or as attacks by name', () => {
  expect(rehearsal([])).toMatchObject({ visitors: 2_000, stock: 100, rate: 200, arrivals: 'spike' })
  expect(rehearsal(['--bots', '0.2'])).toMatchObject({ attacks: [], shares: { bots: 0.2 } })
  const attacked = rehearsal(['--bots', 'squat,share', '--visitors', '300', '--limits'])
  expect(attacked).toMatchObject({ attacks: ['squat', 'share'], attackBots: 100, limits: true, shares: { bots: 0 } })
})

test('a rehearsal gives every crowd the time to come and to buy', () => {
  for (const visitors of [800_000, 5_000_000]) {
    const { spreadSeconds, holdSeconds, maxMinutes } = rehearsal([`--visitors=${visitors}`])
    expect(visitors / spreadSeconds).toBe(800)
    expect(maxMinutes * 60).toBeGreaterThan(spreadSeconds + holdSeconds)
  }
})

test('a command says what is wrong with an option in a line, and runs nothing', async () => {
  const { status, out, err } = await runCommand('dev/start.ts', ['--colour=red'])
  expect([status, out, err]).toEqual([2, '', "Unknown option '--colour'. See npm start -- --help\n"])
})

describe('a rehearsal on a running system', () => {
  test('fails without an edge before it creates a sale', async () => {
    const { status, err } = await runCommand(REHEARSE, onStub('http://127.0.0.1:5'))
    expect([status, err]).toEqual([2, 'The edge at http://127.0.0.1:5 does not respond (ECONNREFUSED).\n'])
    expect(asked).toEqual([])
  })

  test('ends its sale on Ctrl-C, which npm passes on a second time', async () => {
    const { status } = await runCommand(REHEARSE, onStub(), (child) => {
      child.stdout?.once('data', () => {
        child.kill('SIGINT')
        setTimeout(() => child.kill('SIGINT'), 1)
      })
    })
    expect(status).toBe(130)
    expect(asked.filter((call) => call.includes('/admin'))).toEqual([
      expect.stringMatching(/^PUT \/admin\/sales\/rehearsal-\w+$/),
      expect.stringMatching(/^POST \/admin\/sales\/rehearsal-\w+\/end$/),
    ])
  })
})

/** Returns the exit status of `npm run verify-draw`, and what it prints. */
async function verified(...args: string[]) {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => printed.mockRestore())
  const status = await verify(['--schedule', scheduleUrl(), '--number=3', ...args])
  return { status, out: printed.mock.calls.join('\n') }
}

test.each<[what: string, args: string[], status: number, says: string]>([
  [
    'accepts a commitment as people copy it',
    ['--commitment', `  ${schedule.draw_commitment.toUpperCase()} `],
    0,
    'The seed is the one committed to when you noted',
  ],
  ['reports another commitment', ['--commitment', commitmentOf('cd'.repeat(32))], 1, 'NOT the one committed to'],
  ['claims nothing about the past without a commitment', [], 0, 'fits the commitment as it is published now'],
  ['claims nothing about a number that was perhaps never issued', ['--number=11'], 0, 'if it was given out'],
])('verify-draw %s', async (_, args, wanted, says) => {
  const { status, out } = await verified(...args)
  expect([status, out]).toEqual([wanted, expect.stringContaining(says)])
  expect(out.includes('when you noted the commitment down')).toBe(args.includes('--commitment') && wanted === 0)
})

test('verify-draw says in one line that a schedule cannot be read', async () => {
  const reading = verified('--schedule=http://127.0.0.1:5/')
  await expect(reading).rejects.toThrow(new UsageError('The schedule could not be read: ECONNREFUSED'))
})
