/**
 * The command `npm start` runs the whole system on this machine, with a demo sale that opens in seconds. It prints
 * its progress, or one line with the error if it fails, and leaves nothing running.
 */
import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { BEARER, NO_BEARER } from '../origin/base/setting-forms.ts'
import { buildConsole } from '../origin/operators/console-build.ts'
import { type Demos, ensureDemos, ensureProtected, PROTECTED_SALE } from './demo/demo-sales.ts'
import { type Leave, optionsOf, ProgressLines, paint, run, UsageError } from './lib/command.ts'
import { ADMIN_TOKEN_FILE } from './lib/data-folder.ts'
import { type DemoShop, startDemoShop } from './servers/demo-shop.ts'
import { type MailCatcher, startMailCatcher } from './servers/mail-catcher.ts'
import { WORKER_SETTINGS } from './servers/workerd.ts'
import { type System, startSystem } from './system.ts'

const HELP = `Starts the whole system on this machine: Postgres, Redis, the origin, the edge, and a demo sale.

  npm start -- [options]

  --data FOLDER      where data, secrets and logs stay (default ./.data, or FLASH_SALE_DATA)
  --temporary        keep nothing: a folder of its own, removed at the end
  --port N           port of the origin (default 3000, or PORT)
  --edge-port N      port of the edge (default 8787, or EDGE_PORT)
  --ops-port N       port of the origin for monitors (default 3001, or OPS_PORT)
  --protect URL      the waiting room before a site of yours, at the edge's port: all its paths wait in line
  --cdn              a real HTTP cache (Varnish) before the edge, at its port
  --no-demo          do not create the demo sale
  --help             this text

Environment: PORT, EDGE_PORT, OPS_PORT, ADMIN_TOKEN, FLASH_SALE_DATA, and DATABASE_URL and REDIS_URL for a Postgres
and a Redis that run already. Other settings of the origin and the Worker (LOG_LEVEL, PAYMENT_PROVIDER, TICKET_SHARDS, ...) are passed on.
Ctrl-C stops everything in good order; a second Ctrl-C at once.`

async function main(leave: Leave): Promise<number> {
  const names = { texts: 'data port edge-port ops-port protect', flags: 'temporary cdn no-demo' } as const
  const { temporary, data, ...options } = optionsOf('start', names)
  if (temporary && data !== undefined) throw new UsageError('--temporary and --data exclude each other.')
  const dataDir = temporary ? undefined : (data ?? setting('FLASH_SALE_DATA') ?? '.data')
  const port = portOf(options.port ?? setting('PORT') ?? '3000', 'PORT')
  const edgePort = portOf(options['edge-port'] ?? setting('EDGE_PORT') ?? '8787', 'EDGE_PORT')
  const opsPort = portOf(options['ops-port'] ?? setting('OPS_PORT') ?? '3001', 'OPS_PORT')
  const adminToken = setting('ADMIN_TOKEN')
  const { protect } = options
  if (protect !== undefined && !/^https?:\/\//.test(protect))
    throw new UsageError(`--protect must be an http(s) URL, not "${protect}".`)
  if (adminToken !== undefined && !BEARER.test(adminToken)) throw new UsageError(`ADMIN_TOKEN ${NO_BEARER}.`)
  const progress = new ProgressLines()
  if (dataDir !== undefined) {
    const how = existsSync(dataDir) ? 'Starting on the data in' : 'Starting, with new data in'
    progress.say(`${how} ${shortPath(resolve(dataDir))}`)
  }
  await buildConsole()
  // A configured shop has its own sessions.
  const shop = setting('SHOP_JWKS_URL') === undefined ? await startDemoShop() : undefined
  const mails = setting('SMTP_URL') === undefined ? await startMailCatcher() : undefined
  const admissionKeys = setting('ADMISSION_KEYS')
  const system = await startSystem({
    dataDir,
    port,
    edgePort,
    opsPort,
    progress,
    adminToken,
    cdn: options.cdn,
    databaseUrl: setting('DATABASE_URL'),
    redisUrl: setting('REDIS_URL'),
    originEnv: {
      ...(mails && { SMTP_URL: mails.smtpUrl, MAIL_FROM: setting('MAIL_FROM') ?? 'Demo shop <shop@example.com>' }),
      ...(admissionKeys !== undefined && { ADMISSION_KEYS: admissionKeys }),
    },
    edgeVars: {
      ...shop?.vars,
      ...(protect !== undefined && {
        PROTECT: JSON.stringify([{ paths: '/*', upstream: protect, sale: PROTECTED_SALE }]),
      }),
      ...Object.fromEntries(WORKER_SETTINGS.filter(setting).map((name) => [name, setting(name) ?? ''])),
    },
  }).finally(() => progress.done())
  const failed = system.failed.then((): Demos => ({}))
  const ensured = () => (protect === undefined ? ensureDemos(system, shop !== undefined) : ensureProtected(system))
  const demos = options['no-demo'] ? {} : await Promise.race([ensured(), failed])
  console.log(invitation(system, { ...demos, shop, mails }, dataDir !== undefined))
  const how = await system.failed
  await leave(1, `${how}. Its log is in ${shortPath(system.dataDir)}. Everything else was stopped.`)
  return 1
}

/** The value of an environment variable; an empty one counts as missing. */
const setting = (name: string) => process.env[name] || undefined

function portOf(text: string, name: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new UsageError(`${name} must be a port from 1 to 65535, not "${text}".`)
  return port
}

// -- What to try ----------------------------------------------------------------------------------------------------

interface Shown extends Demos {
  readonly shop: DemoShop | undefined
  readonly mails: MailCatcher | undefined
}

function invitation(
  system: System,
  { demo, isBeforeSite, aurora, hall, members, soon, shop, mails }: Shown,
  kept: boolean,
): string {
  const sale = demo?.sale ?? 'SALE'
  const folder = shortPath(system.dataDir)
  const tokenFile = shortPath(join(system.dataDir, ADMIN_TOKEN_FILE))
  const place = (what: string, url: string, note?: string) =>
    `${paint('bold', what.padEnd(11))} ${url}${note === undefined ? '' : `  (${note})`}`
  const page = (url: string) => paint('cyan', url)
  // The screen shows no secret, only the name of its file, which other users cannot read.
  const call = (rest: string) =>
    `curl -sS -H "Authorization: Bearer $(cat ${shellWord(tokenFile)})" ${system.originUrl}/admin/sales/${sale}${rest}`
  const row = (what: string, command: string) => `  ${what.padEnd(15)} ${command}`
  const seconds = Math.ceil(demo?.opensInSeconds ?? 0)
  const opening = seconds > 0 ? `opens in ${seconds} s: join before, and a draw decides your place` : 'open now'
  return [
    '',
    isBeforeSite
      ? place('Your site', page(`${system.edgeUrl}/`), 'ten visitors a second; it stands behind the line')
      : place('Shop front', page(`${system.edgeUrl}/`), 'its sales, and a search'),
    place('Sale page', page(`${system.edgeUrl}/sales/${sale}`), demo && opening),
    ...(aurora
      ? [place('Drop', page(`${system.edgeUrl}/sales/${aurora.sale}`), 'sizes, pictures, shipping; the code is NOON10')]
      : []),
    ...(hall ? [place('Hall', page(`${system.edgeUrl}/sales/${hall.sale}`), 'choose a seat, or stand')] : []),
    ...(members
      ? [place('Members', page(`${system.edgeUrl}/sales/${members.sale}`), 'asks its visitors to sign in')]
      : []),
    ...(soon ? [place('Soon', page(`${system.edgeUrl}/sales/${soon.sale}`), 'still to come')] : []),
    ...(shop ? [place('Sign in', shop.signInUrl, 'a stand-in for your shop: any name will do')] : []),
    ...(mails ? [place('Mails', page(mails.url), 'each mail that is sent; none is delivered')] : []),
    place('Edge', system.edgeUrl),
    place('Console', page(`${system.originUrl}/console`), `the key is in ${tokenFile}`),
    place('Origin', `${system.originUrl}   metrics at ${system.opsUrl}/metrics`),
    '',
    paint('bold', 'Try, in another terminal'),
    row('join the line', `curl -sS -X POST ${system.edgeUrl}/sales/${sale}/queue`),
    row('see all of it', call('')),
    row('pause the line', call('/pause -X POST')),
    row('go on', call('/resume -X POST')),
    row(
      'more stock',
      call(`/products/poster/restock -X POST -H 'content-type: application/json' -d '{"quantity":10}'`),
    ),
    row(
      'send a crowd',
      `npm run rehearse -- --edge ${system.edgeUrl} --origin ${system.originUrl} --data ${shellWord(folder)} ` +
        '--visitors 500',
    ),
    '',
    kept
      ? `Data, secrets and logs are in ${folder}. Ctrl-C stops everything; the next start goes on from there.`
      : 'Nothing is kept. Ctrl-C stops everything.',
  ].join('\n')
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path)
  return short === '' || short.startsWith('..') ? path : short
}

const shellWord = (text: string) => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

await run(HELP, 'Could not start:', main, undefined, { failed: 1, interrupted: 0 })
