/** Runs commands of the repository as a user does, against a system that only serves a schedule. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa, type Subprocess } from 'execa'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type Loopback, serveOnLoopback } from '../../dev/lib/loopback.ts'

/** The options that run a command in the root of the repository, with no other settings. */
export const AS_A_USER = {
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
  extendEnv: false,
  reject: false,
  stripFinalNewline: false,
} as const

export async function runCommand(file: string, args: readonly string[], begun?: (child: Subprocess) => void) {
  const child = execa(process.execPath, [file, ...args], AS_A_USER)
  begun?.(child)
  const { exitCode: status, stdout: out, stderr: err } = await child
  return { status, out, err }
}

/** A system that serves this schedule for every sale, accepts operators' calls, and notes what each test asked. */
export function useSystemStub(schedule: object) {
  const folder = mkdtempSync(join(tmpdir(), 'flash-sale-commands-'))
  const asked: string[] = []
  let stub: Loopback
  beforeAll(async () => {
    stub = await serveOnLoopback((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      const sale = /^\/sales\/([^/]+)\/schedule$/.exec(request.url ?? '')?.[1]
      if (sale !== undefined) return void response.end(JSON.stringify({ ...schedule, sale }))
      response.writeHead(/^\/(admin|healthz)/.test(request.url ?? '') ? 200 : 503).end('{}')
    })
  })
  beforeEach(() => {
    asked.length = 0
  })
  afterAll(() => {
    stub.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    asked,
    /** A folder for reports, which is removed afterwards. */
    folder,
    scheduleUrl: () => `${stub.url}/sales/s/schedule`,
    /** The arguments of a rehearsal on it. */
    rehearsal: (edge = stub.url) =>
      (
        `--edge=${edge} --origin=${stub.url} --visitors=50 --front=0 --max-minutes=0.5 --admin-token=t ` +
        `--out ${folder}`
      ).split(' '),
  }
}
