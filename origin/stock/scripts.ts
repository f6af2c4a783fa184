/** The gate's scripts as commands (ioredis sends EVALSHA, and the source again after a NOSCRIPT). */
import { readFileSync } from 'node:fs'
import type { Cluster, Redis } from 'ioredis'

/** Each is told how many keys come first, then the keys, then its arguments: see the file of its name. */
type Script<Answer> = (keys: number, ...args: (string | number)[]) => Promise<Answer>

const FILES = {
  reserveUnits: 'reserve',
  rememberKey: 'remember',
  adoptOrder: 'adopt',
  settleHolds: 'settle',
  restoreOrders: 'restore',
  holdsCounted: 'counted',
  unfenceGate: 'unfence',
  gateIsOpen: 'is-open',
  lendUnits: 'lend',
  takeUnits: 'take',
  unitsArrived: 'arrived',
  clockMs: 'clock',
  countHopeful: 'hopeful',
} as const

export interface Scripts {
  reserveUnits: Script<(string | number)[]>
  rememberKey: Script<null>
  adoptOrder: Script<number>
  settleHolds: Script<number>
  restoreOrders: Script<number>
  holdsCounted: Script<number>
  unfenceGate: Script<number>
  gateIsOpen: Script<number>
  lendUnits: Script<(string | number)[]>
  takeUnits: Script<number>
  unitsArrived: Script<number>
  clockMs: Script<number>
  countHopeful: Script<number>
}

const source = (name: string) => readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8')
const RUN = source('run')

export function defineScripts<R extends Redis | Cluster>(redis: R): R & Scripts {
  for (const [command, file] of Object.entries(FILES))
    redis.defineCommand(command, { lua: RUN + source(file) })
  return redis as R & Scripts
}
