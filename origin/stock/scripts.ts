/**
 * The gate's Lua scripts as commands of the Redis client. Each is a file in scripts/, whose header describes its keys,
 * arguments and result. The client sends EVALSHA, and the source again after a NOSCRIPT.
 */
import { readFileSync } from 'node:fs'
import type { Cluster, Redis } from 'ioredis'

/** The keys come first, then the arguments. The client flattens arrays. */
type Script<Result> = (...keysAndArgs: (string | number | (string | number)[])[]) => Promise<Result>

/** A Redis client with the scripts as commands. */
export type Store = (Redis | Cluster) & Scripts & BinaryScripts

/** The client has each command a second time, with a reply of bytes: a bitmap is no text. */
interface BinaryScripts {
  readGateBuffer: Script<[seats: Buffer, stock: Buffer[], holds: Buffer[], intents: Buffer[] | null] | null>
}

interface Scripts {
  reserveUnits: Script<(string | number)[]>
  rememberKey: Script<null>
  adoptOrder: Script<number>
  settleHolds: Script<[ended: number, ...becameOfGivenBack: string[]]>
  markIntents: Script<(string | null)[]>
  readStock: Script<string[] | null>
  readGate: Script<unknown>
  restoreOrders: Script<number>
  blockSeats: Script<number>
  changeSeats: Script<number>
  learnUnpaid: Script<null>
  unfenceGate: Script<number>
  clockMs: Script<number>
  dueHolds: Script<(string | number)[]>
  countWaitingForStock: Script<number[]>
  replaceValue: Script<number>
  listIfMissing: Script<null>
  noteSlowest: Script<number>
  takeCalls: Script<number>
}

/** Unpaid orders of a visitor that are told apart; more count as so many. */
export const MOST_UNPAID = 10
/** Stands for a visitor without unpaid orders who waits for the use of a promo code, in place of their number. */
export const WAITS_FOR_USE = MOST_UNPAID + 1

const SCRIPTS: Record<keyof Scripts, { file: string; numberOfKeys: number }> = {
  reserveUnits: { file: 'reserve', numberOfKeys: 10 },
  rememberKey: { file: 'remember-key', numberOfKeys: 1 },
  adoptOrder: { file: 'adopt', numberOfKeys: 7 },
  settleHolds: { file: 'settle', numberOfKeys: 10 },
  markIntents: { file: 'mark-intents', numberOfKeys: 1 },
  readStock: { file: 'read-stock', numberOfKeys: 1 },
  readGate: { file: 'read-gate', numberOfKeys: 4 },
  restoreOrders: { file: 'restore', numberOfKeys: 7 },
  blockSeats: { file: 'block', numberOfKeys: 3 },
  changeSeats: { file: 'change-seats', numberOfKeys: 4 },
  learnUnpaid: { file: 'learn-unpaid', numberOfKeys: 1 },
  unfenceGate: { file: 'unfence', numberOfKeys: 4 },
  clockMs: { file: 'clock', numberOfKeys: 1 },
  dueHolds: { file: 'due', numberOfKeys: 1 },
  countWaitingForStock: { file: 'waiting-for-stock', numberOfKeys: WAITS_FOR_USE + 1 },
  replaceValue: { file: 'replace', numberOfKeys: 1 },
  listIfMissing: { file: 'list-if-missing', numberOfKeys: 1 },
  noteSlowest: { file: 'note-slowest', numberOfKeys: 1 },
  takeCalls: { file: 'take-calls', numberOfKeys: 2 },
}

const source = (file: string) => readFileSync(new URL(`./scripts/${file}.lua`, import.meta.url), 'utf8')
/** What every script may call. */
const PRELUDE = source('this-run') + source('units-of') + source('counters-of')

/** The text of each script, by its command. */
export const scriptTexts = Object.entries(SCRIPTS).map(([command, { file, numberOfKeys }]) => ({
  command,
  lua: PRELUDE + source(file),
  numberOfKeys,
}))

export function defineScripts<R extends Redis | Cluster>(
  redis: R,
  texts: typeof scriptTexts = scriptTexts,
): R & Scripts & BinaryScripts {
  for (const { command, ...script } of texts) redis.defineCommand(command, script)
  return redis as R & Scripts & BinaryScripts
}
