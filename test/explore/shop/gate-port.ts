/**
 * Redis as an explored process has it: real commands and scripts on a real Redis, each of which is a call that the
 * scheduler lets go, in the order of its connection. The scripts have the clock and the run of the explored world in
 * place of the server's. Redis can be emptied, restarted, put back to an earlier moment, and replaced by a replica.
 */
import type { Redis } from 'ioredis'
import { defineScripts, type Store, scriptTexts } from '../../../origin/stock/scripts.ts'
import type { Fate, Process } from '../scheduler.ts'
import { commandPoint, READS } from './points.ts'

const COMMAND: readonly Fate[] = [
  ...(['done', 'held', 'held long', 'late', 'lost', 'failed', 'delayed', 'dies', 'dies after'] as const),
]

const CLOCK = 'explore:clock'
const RUN = 'explore:run'
/** What the scripts have in place of the server's clock and of the id of its run. */
const PRELUDE = `
local function exploredTime()
  local ms = tonumber(redis.call('GET', '${CLOCK}'))
  return { math.floor(ms / 1000), (ms % 1000) * 1000 }
end
local function exploredRun() return redis.call('GET', '${RUN}') end
`
const exploredTexts = scriptTexts.map(({ lua, ...script }) => ({
  ...script,
  lua:
    PRELUDE +
    lua
      .replaceAll("redis.call('TIME')", 'exploredTime()')
      .replace(/local function thisRun\(\)[\s\S]*?\nend/, 'local function thisRun() return exploredRun() end'),
}))

/** Copies all keys of one database to another, which is emptied first. */
const COPY = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  if string.sub(key, 1, 8) ~= 'explore:' then redis.call('COPY', key, key, 'DB', ARGV[1], 'REPLACE') end
end`

/** The server of one order of events. */
export class GateWorld {
  readonly client: Store
  /** Reads and writes its second database, the replica, or the moment that it can be put back to. */
  readonly #copy: Redis
  #runs = 0
  /** True while no process reaches it. */
  isAway = false
  /** How often something was done that may have changed it. */
  changes = 0
  /** How many rebuilds have begun. */
  fences = 0
  /** How many rebuilds could not open it, because another one had fenced it meanwhile. */
  overtaken = 0
  /** True if it has a replica: then what is promised is on both. */
  hasReplica = false

  constructor(client: Redis, copy: Redis) {
    this.client = defineScripts(client, exploredTexts)
    this.#copy = copy
  }

  async begin(nowMs: number, hasReplica: boolean): Promise<void> {
    await this.client.flushall()
    this.#runs = 0
    this.fences = 0
    this.overtaken = 0
    this.isAway = false
    this.hasReplica = hasReplica
    await Promise.all([this.setClock(nowMs), this.restart()])
  }

  async setClock(nowMs: number): Promise<void> {
    await this.client.set(CLOCK, nowMs)
  }

  /** A new run with the data of the one before. */
  async restart(): Promise<void> {
    this.changes++
    await this.client.set(RUN, `run ${++this.#runs}`)
  }

  async empty(nowMs: number): Promise<void> {
    await this.client.flushdb()
    await Promise.all([this.setClock(nowMs), this.restart()])
  }

  /** The replica gets what is written by now; or this is the moment to which it can be put back. */
  async copy(): Promise<void> {
    await this.#copy.flushdb()
    await this.client.eval(COPY, 0, 1)
  }

  /** The replica takes over, or an earlier moment comes back. */
  async putBack(nowMs: number): Promise<void> {
    await this.client.flushdb()
    await this.#copy.eval(COPY, 0, 0)
    await Promise.all([this.setClock(nowMs), this.restart()])
  }

  /** The connection of a process. */
  connection(process: Process, name = 'redis'): Store {
    const call = (commands: string, effect: () => Promise<unknown>) => {
      const what = commandPoint(commands)
      return process.call<unknown>({
        what,
        fates: COMMAND,
        lane: name,
        effect: async () => {
          if (this.isAway) throw new Error('Connection is closed.')
          if (!READS.test(what)) this.changes++
          const answer = await effect()
          if (what === 'fences the gate') this.fences++
          if (commands === 'unfenceGate' && answer === 0) this.overtaken++
          return answer
        },
        failure: (fate) => {
          throw new Error(fate === 'failed' ? 'Connection is closed.' : 'Command timed out')
        },
      })
    }
    const isAway = () => this.isAway
    const chain = (start: 'multi' | 'pipeline') => {
      const queued: [string, unknown[]][] = []
      const one: object = new Proxy(
        {},
        {
          get: (_, command: string) => {
            if (command === 'exec') return () => call(queued.map(([c]) => c).join(' '), () => this.#exec(start, queued))
            return (...args: unknown[]) => {
              queued.push([command, args])
              return one
            }
          },
        },
      )
      return one
    }
    const connection: Store = new Proxy(this.client, {
      get: (client, property, self) => {
        const name = String(property)
        if (name === 'status') return isAway() ? 'reconnecting' : 'ready'
        if (name === 'duplicate') return () => this.connection(process, 'second redis')
        if (name === 'multi' || name === 'pipeline') return () => chain(name)
        const value = Reflect.get(client, property, self) as unknown
        if (typeof value !== 'function') return value
        if (/^(on|once|off|disconnect)$/.test(name)) return () => self
        return (...args: unknown[]) => call(name, () => Reflect.apply(value, client, args) as Promise<unknown>)
      },
    })
    return connection
  }

  /** The explored world says whether there is a replica, and what it has acknowledged. */
  async #exec(start: 'multi' | 'pipeline', queued: readonly [string, unknown[]][]): Promise<unknown> {
    if (queued.some(([command]) => command === 'info'))
      return [
        [null, 0],
        [null, this.hasReplica ? 'role:master\nslave0:state=online\n' : 'role:master\n'],
      ]
    if (queued.some(([command]) => command === 'wait')) {
      await this.copy()
      return [
        [null, 'OK'],
        [null, 1],
      ]
    }
    const commands = this.client[start]()
    for (const [command, args] of queued)
      Reflect.apply(Reflect.get(commands, command) as (...args: unknown[]) => unknown, commands, args)
    return commands.exec()
  }
}
