/**
 * Plays orders of events of a broken product: each break is a change of the product's text, made in a copy of the
 * repository, and the explorer must find it there by the command that anybody would use.
 */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { temporaryFolder } from '../../dev/lib/leftovers.ts'
import { BREAKS as LINE } from './line/breaks.ts'
import { BREAKS as SHOP } from './shop/breaks.ts'

/** A change of the product's text, and the part of the system whose promises it breaks. */
export interface Break {
  readonly file: string
  readonly from: string
  readonly to: string
  readonly part: 'checkout' | 'payments' | 'line'
}

export const BREAKS: Readonly<Record<string, Break>> = { ...SHOP, ...LINE }

const root = fileURLToPath(new URL('../..', import.meta.url))
/** What an exploration loads. */
const ROOMS = ['dev', 'edge', 'origin', 'shared', 'test', 'package.json']
const GENERATED = /\/(node_modules|dist|\.wrangler)$/

/** How a break was found; null if it was not. */
export interface Found {
  readonly orders: number
  readonly steps: number
  readonly promise: string
}

export async function find({ file, from, to, part }: Break, seed: number, orders: number): Promise<Found | null> {
  const copy = temporaryFolder('break')
  for (const room of ROOMS)
    cpSync(join(root, room), join(copy.path, room), { recursive: true, filter: (path) => !GENERATED.test(path) })
  symlinkSync(join(root, 'node_modules'), join(copy.path, 'node_modules'))
  const text = readFileSync(join(root, file), 'utf8')
  if (text.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`)
  writeFileSync(
    join(copy.path, file),
    text.replace(from, () => to),
  )
  const options = ['--only', part, '--orders', String(orders), '--seed', String(seed)]
  const { stdout, stderr, exitCode } = await execa('node', ['test/explore/explore.ts', ...options], {
    cwd: copy.path,
    reject: false,
  })
  copy.remove()
  if (exitCode === 0) return null
  const [, promise, at, steps] = /^Broken: (.*)\nFound by seed (\d+) .* (\d+) steps/m.exec(stdout) ?? []
  if (promise === undefined) throw new Error(`the exploration failed: ${stdout}\n${stderr}`)
  return { orders: Number(at) - seed + 1, steps: Number(steps), promise }
}
