/**
 * HAProxy before several Redis: one address that leads to whichever is the primary, as that of a managed Redis does.
 * It asks each for its role; connections that are open stay where they are.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderFor } from '../lib/leftovers.ts'
import { freePort, LOOPBACK, Server } from '../lib/processes.ts'
import { ensureProgram } from './install.ts'
import { infoOf } from './redis.ts'

/** The time between two questions for the role of a server, in milliseconds. */
const ASKED_EVERY_MS = 500

/** The addresses of the Redis servers behind it are `urls`. */
export async function startHaproxy(urls: readonly string[]): Promise<Server> {
  const command = await ensureProgram({
    name: 'HAProxy',
    binaries: ['haproxy'],
    apt: 'haproxy',
    brew: 'haproxy',
    otherwise: 'play other faults',
  })
  const { path: folder, remove } = folderFor(undefined, 'haproxy')
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, configuration(port, urls))
  return new Server({
    url: `redis://${LOOPBACK}:${port}`,
    port,
    remove,
    process: () => ({
      name: 'HAProxy',
      command,
      args: ['-db', '-f', file],
      logFile: join(folder, 'haproxy.log'),
      cwd: folder,
    }),
    probe: async () => (await infoOf(port)).includes('role:master'),
  }).start()
}

const configuration = (port: number, urls: readonly string[]) => `defaults
  mode tcp
  timeout connect 1s
  timeout check 1s
  timeout client 1h
  timeout server 1h

listen redis
  bind ${LOOPBACK}:${port}
  option tcp-check
  tcp-check send "INFO replication\\r\\n"
  tcp-check expect string role:master
  default-server check inter ${ASKED_EVERY_MS}ms rise 1 fall 1
${urls.map((url, i) => `  server redis-${i + 1} ${new URL(url).host}`).join('\n')}
`
