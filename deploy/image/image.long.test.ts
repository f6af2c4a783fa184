/**
 * The image, built of Debian's packages and run as Kubernetes runs it: from a root that is read-only, by a user without
 * capabilities. It needs Debian and root.
 */
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Child, freePort, startChild, temporaryFolder, untilReady } from '../../dev/lib/processes.ts'
import { newKeySet } from '../../shared/keys.ts'
import { emptyDatabase, useRedis } from '../../test/lib/servers.ts'
import { ensureBuilders, ImageStore } from './build.ts'

const USER = 65532
const BUILD_WITHIN_MS = 900_000
const MAX_MEBIBYTES = 250
/** What an attacker would look for first. */
const TOOLS =
  '{bin,sbin,usr/bin,usr/sbin,usr/local/bin}/{sh,bash,dash,busybox,perl,python3,apt,dpkg,npm,npx,tsc,gcc,curl}'

const canBuild = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
const folder = temporaryFolder('image')
const root = join(folder.path, 'root')
const redis = useRedis()
const env: Record<string, string> = {}
const secret = () => newKeySet().keys[0]?.k ?? ''

beforeAll(async () => {
  if (!canBuild) return
  await ensureBuilders()
  const store = new ImageStore(join(folder.path, 'store'))
  await store.build()
  const files = await store.mount()
  const pictures = join(folder.path, 'pictures')
  for (const path of [root, pictures]) mkdirSync(path)
  chownSync(pictures, USER, USER)
  execFileSync('mount', ['--bind', files, root])
  execFileSync('mount', ['-o', 'remount,bind,ro', root])
  execFileSync('mount', ['--bind', pictures, join(root, 'images')])
  Object.assign(env, {
    NODE_ENV: 'production',
    DATABASE_URL: (await emptyDatabase()).url,
    REDIS_URL: redis.url,
    ADMIN_TOKEN: secret(),
    EDGE_TOKEN: secret(),
    WEBHOOK_SECRET: secret(),
    PAYMENT_PROVIDER: 'sandbox',
    ALLOW_TEST_PAYMENTS: 'true',
    IMAGES_DIR: '/images',
    DRAIN_SECONDS: '0',
    ...Object.fromEntries(['ADMISSION', 'ORDER', 'WEBHOOK'].map((of) => [`${of}_KEYS`, JSON.stringify(newKeySet())])),
  })
}, BUILD_WITHIN_MS)
afterAll(() => {
  for (const path of [join(root, 'images'), root])
    if (existsSync(path)) execFileSync('umount', [path], { stdio: 'ignore' })
  folder.remove()
})

/** Enters the image as its user, who cannot become another one. */
const inside = (...command: readonly string[]) => [
  ...['--no-new-privs', '/usr/sbin/chroot', `--userspec=${USER}:${USER}`, '--groups=', root],
  ...['/usr/local/bin/node', '/app/origin/command.ts', ...command],
]
async function run(command: string, more: Record<string, string> = {}) {
  const options = { env: { ...env, ...more }, extendEnv: false, reject: false } as const
  const { exitCode, stdout, stderr } = await execa('setpriv', inside(...command.split(' ')), options)
  return { status: exitCode, out: stdout, err: stderr }
}

/** Starts a process of this role, and awaits that its own healthcheck says that it is ready. */
async function serve(role: 'api' | 'worker') {
  const [PORT, OPS_PORT] = [String(await freePort()), String(await freePort())]
  const child = await startChild({
    name: role,
    command: 'setpriv',
    args: inside(role),
    logFile: join(folder.path, `${role}.log`),
    env: { ...env, PORT, OPS_PORT },
  })
  await untilReady(child, async () => (await run('healthcheck', { OPS_PORT })).status === 0)
  return { child, url: `http://127.0.0.1:${PORT}`, opsUrl: `http://127.0.0.1:${OPS_PORT}` }
}

const rightsOf = ({ pid }: Child) => {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return ['Uid', 'CapPrm', 'CapEff', 'NoNewPrivs'].map((name) => new RegExp(`^${name}:\\s+(\\w+)`, 'm').exec(text)?.[1])
}

test.skipIf(!canBuild)('is small, and has no shell, no package manager, no compiler and no test', () => {
  const bytes = Number(/^\d+/.exec(execFileSync('du', ['-sb', root], { encoding: 'utf8' }))?.[0])
  expect(bytes / 2 ** 20).toBeLessThan(MAX_MEBIBYTES)
  expect(globSync(TOOLS, { cwd: root })).toEqual([])
  expect(globSync('app/{origin,shared}/**/*.test.ts', { cwd: root })).toEqual([])
  const packages = globSync('app/node_modules/{*,@*/*}', { cwd: root }).map((path) => path.slice(17))
  expect(packages.filter((name) => /typescript|esbuild|workers-types|drizzle|^pg$/.test(name))).toEqual([])
  expect(execFileSync('find', [root, '-xdev', '-perm', '/6000', '-type', 'f'], { encoding: 'utf8' })).toBe('')
})

test.skipIf(!canBuild)('says what it is made of, with each licence', () => {
  const sbom = JSON.parse(readFileSync(join(root, 'app/sbom.cdx.json'), 'utf8'))
  const notice = readFileSync(join(root, 'app/NOTICE'), 'utf8')
  const parts: { name: string; version: string }[] = sbom.components
  expect(sbom.bomFormat).toBe('CycloneDX')
  const names = parts.map(({ name }) => name)
  // Preact is in the console's script, and esbuild made it.
  expect(names).toEqual(expect.arrayContaining(['node', 'postgres', '@img/sharp-libvips-linux-x64', 'preact']))
  expect(names).not.toContain('esbuild')
  expect(parts.filter(({ name, version }) => !notice.includes(`\n## ${name} ${version}: `))).toEqual([])
  expect(notice).toContain('Copyright Node.js contributors')
  expect(globSync('var/lib/dpkg/status.d/*', { cwd: root }).length).toBeGreaterThan(3)
})

test.skipIf(!canBuild)('migrates, serves and works from a read-only root without a capability', async () => {
  expect(await run('healthcheck', { OPS_PORT: String(await freePort()) })).toMatchObject({ status: 1 })
  expect(await run('api', { DATABASE_URL: 'nonsense' })).toMatchObject({ status: 1 })
  const early = await run('operator list')
  expect([early.status, early.err]).toEqual([1, expect.stringContaining('run "npm run migrate" first')])
  expect(await run('migrate')).toMatchObject({ status: 0, out: expect.stringContaining('migrations applied.') })

  const [api, worker] = [await serve('api'), await serve('worker')]
  expect(rightsOf(api.child)).toEqual([String(USER), '0'.repeat(16), '0'.repeat(16), '1'])
  const added = await run('operator add ada --role owner')
  const headers = { authorization: `Bearer ${/op_[\w-]{43}/.exec(added.out)?.[0]}` }
  const sales = await fetch(`${api.url}/admin/sales`, { headers })
  expect(sales.status).toBe(200)
  expect((await fetch(`${api.url}/console/`)).status).toBe(200)
  const body = await sharp({ create: { width: 640, height: 480, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  const picture = { method: 'POST', headers: { ...headers, 'content-type': 'image/png' }, body: new Uint8Array(body) }
  expect((await fetch(`${api.url}/admin/images`, picture)).status).toBe(201)
  await expect
    .poll(async () => (await fetch(`${worker.opsUrl}/metrics`)).text())
    .toMatch(/^actor_last_success_timestamp_seconds\{actor="reconciler"\}/m)

  for (const { child } of [api, worker]) {
    await child.stop()
    expect(await child.ended).toBe('exit code 0')
  }
})
