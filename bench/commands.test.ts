/** The commands as a person runs them: what they refuse, what they print, and what they leave behind. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commitmentOf } from '../shared/draw.ts'
import type { Schedule } from '../shared/schedule.ts'
import { sampleSchedule } from './lib/sample-schedule.ts'

const COMMANDS = {
  rehearse: 'bench/rehearsal/rehearse.ts',
  bench: 'bench/measure/bench.ts',
  model: 'bench/model/model.ts',
  'verify-draw': 'dev/verify-draw.ts',
  start: 'dev/start.ts',
} as const
const ENDS_WITHIN_MS = 150_000
const ENV = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'flash-sale-commands-'))

/** A system that only serves a schedule and takes operators' calls. */
let stub: Server
let url: string
const asked: string[] = []
let schedule: Schedule

beforeAll(async () => {
  stub = createServer((request: IncomingMessage, response) => {
    asked.push(`${request.method} ${request.url}`)
    const sale = /^\/sales\/([^/]+)\/schedule$/.exec(request.url ?? '')?.[1]
    if (sale !== undefined) return void response.end(JSON.stringify({ ...schedule, sale }))
    response.writeHead(/^\/(admin|healthz)/.test(request.url ?? '') ? 200 : 503).end('{}')
  })
  await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`
  schedule = sampleSchedule({ pre_queue_size: 10 })
})
afterAll(() => {
  stub.closeAllConnections()
  stub.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Ran {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

function command(name: keyof typeof COMMANDS, args: readonly string[], printed?: (child: Child) => void) {
  return new Promise<Ran>((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, COMMANDS[name]), ...args], {
      cwd: ROOT,
      env: ENV,
      timeout: ENDS_WITHIN_MS,
    })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString('utf8')
      printed?.(child)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString('utf8')
    })
    child.once('close', (status) => resolve({ status, out, err }))
  })
}
type Child = ReturnType<typeof spawn>

const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe('a command', () => {
  test.concurrent.each<[name: keyof typeof COMMANDS, args: string, what: RegExp]>([
    ['rehearse', '--visitors=', /--visitors needs a value/],
    ['rehearse', '--visitors -5', /'--visitors' argument is ambiguous\. See npm run rehearse -- --help/],
    ['bench', '--rounds=', /--rounds needs a value/],
    ['bench', '--only=nothing', /--only is one of/],
    ['model', '--stock=1.5', /--stock needs a whole number/],
    ['model', '--cost --visitors=2000', /--visitors changes nothing with --cost/],
    ['model', '--report=x.json', /--report goes with --cost/],
    ['model', '--cost --report=nowhere.json', /nowhere\.json cannot be read \(ENOENT\)/],
    ['model', '--cost --report=package.json', /package\.json is no report of a rehearsal/],
    ['model', '--cost --report=README.md', /README\.md is no report of a rehearsal/],
    ['rehearse', '--faults=redis --minutes=0', /--minutes needs a number from 0\.01 to 1440, not "0"/],
    ['rehearse', '--cdn --edge=http://127.0.0.1:1 --origin=http://127.0.0.1:1', /--cdn needs its own system/],
    ['verify-draw', '--number=1', /--schedule needs a URL/],
    ['verify-draw', '--schedule=http://127.0.0.1:1/ --number=0', /--number needs a ticket number/],
    ['verify-draw', '--schedule=http://127.0.0.1:5/ --number=1', /could not be read: ECONNREFUSED/],
    ['verify-draw', '--colour=red', /Unknown option '--colour'/],
    ['start', '--data=', /--data needs a value/],
  ])('%s refuses %s with one line', async (name, args, what) => {
    const { status, out, err } = await command(name, args.split(' '))
    expect(err).toMatch(what)
    expect([status, out, err.trimEnd().split('\n').length]).toEqual([2, '', 1])
  })

  test.concurrent.each(Object.keys(COMMANDS) as (keyof typeof COMMANDS)[])(
    '%s prints its options with -h',
    async (name) => {
      const { status, out, err } = await command(name, ['-h'])
      expect([status, err]).toEqual([0, ''])
      expect(out).toContain('--help')
    },
  )

  test.concurrent.each(['rehearse', 'bench'] as const)(
    '%s first checks that its report can be written',
    async (name) => {
      const out = join(file(`a-file-for-${name}`, ''), 'reports')
      const { status, err } = await command(name, ['--out', out])
      expect(status).toBe(2)
      expect(err).toMatch(/Nothing can be written to .* \(ENOTDIR\)\.\n$/)
    },
  )

  test('ends without a stack when nobody reads its output', async () => {
    const args = ['--only=growth', '--quick', '--out', folder]
    const { err } = await command('bench', args, (child) => void child.stdout?.destroy())
    expect(err).toBe('')
  })
})

describe('a rehearsal on a running system', () => {
  const crowd = ['--visitors=50', '--admin-token=t', '--out', folder]

  test('fails without an edge before it creates a sale', async () => {
    asked.length = 0
    const { status, err } = await command('rehearse', [...['--edge=http://127.0.0.1:5', '--origin', url], ...crowd])
    expect(status).toBe(2)
    expect(err).toBe('The edge at http://127.0.0.1:5 does not respond (ECONNREFUSED).\n')
    expect(asked).toEqual([])
  })

  test('ends its sale on Ctrl-C, which npm passes on a second time', async () => {
    asked.length = 0
    let interrupted = false
    const { status } = await command('rehearse', ['--edge', url, '--origin', url, ...crowd], (child) => {
      if (interrupted) return
      interrupted = true
      child.kill('SIGINT')
      setTimeout(() => child.kill('SIGINT'), 1)
    })
    expect(status).toBe(130)
    expect(asked.filter((call) => call.includes('/admin'))).toEqual([
      expect.stringMatching(/^PUT \/admin\/sales\/rehearsal-\w+$/),
      expect.stringMatching(/^POST \/admin\/sales\/rehearsal-\w+\/end$/),
    ])
  })

  test('ends itself and its sale when the npm that started it is killed', async () => {
    asked.length = 0
    const args = ['--edge', url, '--origin', url, '--max-minutes=0.5', ...crowd]
    // The shell stands for npm: what it has started keeps the pipe open.
    const npm = spawn('sh', ['-c', '"$@" & wait', 'sh', process.execPath, COMMANDS.rehearse, ...args], {
      cwd: ROOT,
      env: { ...ENV, npm_lifecycle_event: 'rehearse' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    npm.stdout.on('data', (chunk: Buffer) => {
      if (chunk.includes('sale rehearsal-')) npm.kill('SIGKILL')
    })
    await new Promise((resolve) => npm.once('close', resolve))
    expect(asked.at(-1)).toMatch(/^POST \/admin\/sales\/rehearsal-\w+\/end$/)
  })
})

describe('verify-draw', () => {
  const verify = (...args: string[]) =>
    command('verify-draw', ['--schedule', `${url}/sales/s/schedule`, '--number=3', ...args])

  test('accepts a commitment as people copy it', async () => {
    const { status, out } = await verify('--commitment', `  ${schedule.draw_commitment.toUpperCase()} `)
    expect(status).toBe(0)
    expect(out).toContain('The seed is the one committed to')
  })

  test.each(['', '   ', 'abc', 'z'.repeat(64)])('refuses "%s", which is no commitment', async (noted) => {
    const { status, out, err } = await verify(`--commitment=${noted}`)
    expect([status, out]).toEqual([2, ''])
    expect(err).toMatch(/64 hexadecimal digits|--commitment needs a value/)
  })

  test('reports another commitment', async () => {
    const { status, out } = await verify('--commitment', commitmentOf('cd'.repeat(32)))
    expect(status).toBe(1)
    expect(out).toContain('NOT the one committed to')
  })

  test('claims nothing about the past without a commitment, or about a number perhaps never issued', async () => {
    const { status, out } = await verify('--number=11')
    expect(status).toBe(0)
    expect(out).toContain('fits the commitment as it is published now')
    expect(out).not.toContain('committed to before the sale')
    expect(out).toContain('if it was given out')
  })
})
