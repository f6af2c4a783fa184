/** Programs on the PATH of a shell that a test runs: each call of one is answered by the test. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { serveOnLoopback } from '../../../dev/lib/loopback.ts'

export interface Answer {
  readonly status?: number
  readonly out?: string
  readonly err?: string
}
export type Program = (args: readonly string[]) => Promise<Answer>

/** What the shell runs instead of a program. */
const scriptFor = (url: string, name: string) => `#!/usr/bin/env node
const body = JSON.stringify(process.argv.slice(2))
fetch('${url}/${name}', { method: 'POST', body }).then(async (response) => {
  const { status, out, err } = await response.json()
  process.stdout.write(out)
  process.stderr.write(err)
  process.exitCode = status
})
`

/** Writes the programs into the folder. A call that throws ends with 1, and with the reason. */
export async function servePrograms(folder: string, programs: Readonly<Record<string, Program>>) {
  const server = await serveOnLoopback(async (request, response) => {
    const program = programs[request.url?.slice(1) ?? '']
    const args = (await json(request)) as string[]
    const answer = await program?.(args).catch((error: Error): Answer => ({ status: 1, err: `${error.message}\n` }))
    response.end(JSON.stringify({ status: 0, out: '', err: '', ...answer }))
  })
  for (const name of Object.keys(programs)) {
    writeFileSync(join(folder, name), scriptFor(server.url, name))
    chmodSync(join(folder, name), 0o755)
  }
  return server
}
