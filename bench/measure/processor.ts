/** What processes use of processor and memory, from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4_096

export interface Usage {
  readonly cpuSeconds: number
  /** The resident memory; what processes share counts once. */
  readonly bytes: number
}

/** The use of groups of processes and their children, in one pass; 0 without /proc. */
export function usageOf(groups: readonly (readonly number[])[]): Usage[] {
  const groupOf = new Map(groups.flatMap((pids, group) => pids.map((pid) => [String(pid), group] as const)))
  const used = groups.map(() => ({ ticks: 0, ownPages: 0, sharedPages: 0 }))
  for (const pid of namesIn('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    // The fields after the name: the parent, and the processor time of the process and of its ended children.
    const fields = textOf(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
    const use = used[groupOf.get(pid) ?? groupOf.get(fields[1] ?? '') ?? -1]
    if (!use) continue
    use.ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    const [, resident = 0, shared = 0] = textOf(`/proc/${pid}/statm`).split(' ').map(Number)
    use.ownPages += resident - shared
    use.sharedPages = Math.max(use.sharedPages, shared)
  }
  return used.map(({ ticks, ownPages, sharedPages }) => ({
    cpuSeconds: ticks / TICKS_PER_SECOND,
    bytes: (ownPages + sharedPages) * PAGE_BYTES,
  }))
}

/** The processor seconds of processes and their children from /proc; 0 if there is none. */
export const cpuSeconds = (pids: readonly number[] = []): number =>
  pids.length === 0 ? 0 : (usageOf([pids])[0]?.cpuSeconds ?? 0)

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
