/**
 * Checks that imports lead downwards only, by values and by types: from one half to `shared`, from a floor to those
 * below it, and from browser code to what is made for browsers. `npm run check` runs it.
 *
 *     node dev/floors.ts
 */
import { fileURLToPath } from 'node:url'
import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser'

/**
 * The rooms of each part from the ground up: each imports only those before it. `.` is the part's own folder, where all
 * is put together.
 */
const FLOORS = {
  shared: ['lib', 'api', '.', 'hall', 'search', 'reference'],
  edge: [
    ...['pages', 'http', 'queue', 'visitor', 'admission', 'goods', 'view', 'hall', 'feed', 'protect', 'front', 'sale'],
    ...['queue-it', 'sign-in', 'beacon', 'checkout', 'messages', 'client', 'preview', '.'],
  ],
  origin: [
    ...[
      'lib',
      'ledger',
      'providers',
      'base',
      'findings',
      'jobs',
      'sales',
      'operators',
      'goods',
      'seats',
      'stock',
      'orders',
    ],
    ...['access', 'payments', 'queue', 'events', 'webhooks', 'mail', 'images', 'feed', 'front', 'report'],
    ...[
      'alerts',
      'retention',
      'checkout',
      'promo-codes',
      'support',
      'hall',
      'sales-api',
      'box-office',
      'scheduled',
      'views',
      '.',
      'console',
    ],
  ],
  client: ['src'],
  dev: ['lib', 'demo', 'servers', 'openapi', 'probe', 'release', '.'],
  bench: ['lib', 'invariants', 'crowd', 'model', 'measure', 'attacks', 'rehearsal', '.'],
}

const TESTS = '\\.test\\.tsx?$|^test/|/testing/|/testing\\.ts$|/vitest\\.config\\.ts$'

/** The files of some rooms of a part, as a pattern. */
const filesOf = (part: string, rooms: readonly string[]) =>
  `^${part}/(${rooms.map((room) => (room === '.' ? '[^/]+$' : `${room}/`)).join('|')})`

const rule = (name: string, from: string, to: string, pathNot?: string): IForbiddenRuleType => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { path: to, ...(pathNot !== undefined && { pathNot }) },
})

const RULES: IForbiddenRuleType[] = [
  ...Object.entries(FLOORS).flatMap(([part, rooms]) =>
    rooms
      .slice(0, -1)
      .map((room, at) => rule(`floors of ${part}`, filesOf(part, [room]), filesOf(part, rooms.slice(at + 1)))),
  ),
  rule('the client stands alone', '^client/', '^(shared|edge|origin|dev|bench)/'),
  rule('shared stands alone', '^shared/', '^(edge|origin|dev|bench)/'),
  rule('edge meets the origin in shared', '^edge/', '^(origin|dev|bench)/'),
  // The console shows the texts and the brand that a sale's pages have.
  rule(
    'origin meets the edge in shared',
    '^origin/',
    '^(edge|dev|bench)/',
    '^edge/pages/(brand\\.ts|words/en\\.json)$',
  ),
  rule('dev serves the halves', '^dev/', '^bench/'),
  rule('for browsers', '^edge/client/', '^edge/', '^edge/(client|pages)/|^edge/sale/sale-document\\.ts$'),
  rule('for browsers', '^origin/console/client/', '^origin/', '^origin/(console/client/|operators-api\\.ts$)'),
  { name: 'no circle', severity: 'error', from: {}, to: { circular: true } },
]

/** Each import that a rule forbids, as a line of text. */
async function wrongImports(): Promise<string[]> {
  const { output } = await cruise(Object.keys(FLOORS), {
    baseDir: fileURLToPath(new URL('..', import.meta.url)),
    validate: true,
    ruleSet: { forbidden: RULES },
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: TESTS },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js'] },
  })
  const { violations, totalCruised } = (output as ICruiseResult).summary
  if (totalCruised < 500) throw new Error(`Only ${totalCruised} files were read.`)
  return violations.map(({ rule, from, to }) => `${from} imports ${to} (${rule.name})`)
}

const wrong = await wrongImports()
for (const line of wrong) console.error(line)
if (wrong.length > 0) {
  console.error('Imports lead downwards only: the floors are in dev/floors.ts and docs/architecture.md.')
  process.exitCode = 1
}
