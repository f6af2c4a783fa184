/** Runs the rehearsal as a user does: the command in its own process. It returns the output and the report. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import type { Result } from '../play.ts'

const COMMAND = fileURLToPath(new URL('../rehearse.ts', import.meta.url))

/** `meanwhile` is called with the sale just before the crowd comes. */
export async function rehearse(
  out: string,
  args: string,
  env: Readonly<Record<string, string>> = {},
  meanwhile: (sale: string) => Promise<void> = async () => {},
) {
  const command = execa(process.execPath, [COMMAND, ...args.split(' '), '--out', out], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    extendEnv: false,
    all: true,
    reject: false,
  })
  let done: Promise<void> | undefined
  for await (const line of command.iterable({ from: 'all' })) {
    const sale = /sale (rehearsal-[0-9a-f]+)/.exec(line)?.[1]
    if (sale !== undefined) done ??= meanwhile(sale)
  }
  await done
  const { exitCode, all } = await command
  const read = (file: string) => readFileSync(join(out, file), 'utf8')
  return {
    status: exitCode,
    output: all,
    result: (): Result => JSON.parse(read('report.json')),
    html: () => read('report.html'),
  }
}
