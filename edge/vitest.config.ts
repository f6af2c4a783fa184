/**
 * The edge's tests run inside workerd, like the Worker and its objects. The same isolate contains the tests and the
 * Worker, so that a test may move the clock or remove an object from memory. The origin is a plain HTTP server.
 */
import { fileURLToPath } from 'node:url'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { build } from 'esbuild'
import { defineConfig } from 'vitest/config'
import { assetsDefinition, WORKERS, workerOptions } from '../dev/lib/build.ts'
import { PATIENCE } from '../test/run/patience.ts'
import { first, waiting } from '../test/run/project-options.ts'
import { testsByProject } from '../test/run/tiers.ts'
import { settingsOf } from './testing/settings.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const COMPATIBILITY_DATE = '2026-08-15'
const assets = await assetsDefinition()
const preview = await build({ ...workerOptions(WORKERS['preview.js'], assets), write: false })

export default defineConfig(() => ({
  root: path('.'),
  cacheDir: path('../node_modules/.cache/vite'),
  define: { ...assets, __PATIENCE__: String(PATIENCE) },
  plugins: [
    cloudflareTest(({ inject }) => ({
      main: path('worker.ts'),
      miniflare: {
        compatibilityDate: COMPATIBILITY_DATE,
        durableObjects: {
          WAITING_ROOM: { className: 'WaitingRoom', useSQLite: true },
          TICKET_SHARD: { className: 'TicketShard', useSQLite: true },
        },
        serviceBindings: { PREVIEW: 'preview' },
        workers: [
          {
            name: 'preview',
            compatibilityDate: COMPATIBILITY_DATE,
            modules: [{ type: 'ESModule', path: 'preview.js', contents: preview.outputFiles[0]?.text ?? '' }],
          },
        ],
        // The limits are those of wrangler.toml.
        ratelimits: {
          JOINS_BY_ADDRESS: { namespace_id: '1001', simple: { limit: 20, period: 60 } },
          JOINS_BY_NETWORK: { namespace_id: '1002', simple: { limit: 160, period: 60 } },
          JOINS_BY_WIDE_NETWORK: { namespace_id: '1003', simple: { limit: 1280, period: 60 } },
        },
        bindings: settingsOf(inject<string>('originUrl')),
      },
    })),
  ],
  test: {
    name: 'edge',
    include: testsByProject(path('..')).edge.map((file) => path(`../${file}`)),
    globalSetup: [path('testing/test-origin.ts')],
    setupFiles: [path('testing/quiet.ts')],
    // The package is bundled, because each of its millions of small calls would otherwise go through Vite's own
    // modules, which takes many times as long.
    deps: { optimizer: { ssr: { enabled: true, include: ['@noble/hashes/scrypt.js'] } } },
    // Files share a workerd, which loads the Worker once, but not their sales.
    ...waiting,
    ...first,
  },
}))
