/** What processes use of processor and memory, from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/** The processor seconds of processes and their children from /proc; 0 if there is none. */
export function cpuSeconds(pids: readonly number[] = []): number {
  if (pids.length === 0) return 0
  const wanted = new Set(pids.map(String))
  let ticks = 0
  for (const pid of namesIn('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    // The fields after the name: the parent, and the processor time of the process and of its ended children.
    const fields = textOf(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
    if (wanted.has(pid) || wanted.has(fields[1] ?? ''))
      ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  }
  return ticks / TICKS_PER_SECOND
}

/** The resident memory of a process in bytes from /proc; 0 if there is none. */
export const residentBytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) * 1024

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
