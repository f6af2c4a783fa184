/**
 * Writes docs/settings.md from the schemas that parse the settings, so that the page always matches the code:
 *
 *     npm run settings
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SETTINGS as EDGE_SETTINGS } from '../edge/http/config.ts'
import { SETTINGS as ORIGIN_SETTINGS } from '../origin/base/config.ts'
import type { SettingDoc } from '../shared/lib/settings.ts'

export const SETTINGS_PAGE = fileURLToPath(new URL('../docs/settings.md', import.meta.url))

/** `npm start` sets the others itself. */
const START_SETTINGS: readonly SettingDoc[] = [
  { name: 'PORT', default: '3000', description: 'Port of the origin' },
  { name: 'EDGE_PORT', default: '8787', description: 'Port of the edge' },
  { name: 'OPS_PORT', default: '3001', description: 'Port of the origin for monitors' },
  {
    name: 'FLASH_SALE_DATA',
    default: './.data',
    description: 'Folder of the data, the logs and the secrets',
  },
  { name: 'DATABASE_URL', description: 'A Postgres that is used instead of one of its own' },
  { name: 'REDIS_URL', description: 'A Redis that is used instead of one of its own' },
]

function table(settings: readonly SettingDoc[]): string {
  const rows = settings.map(({ name, default: preset, description }) => {
    // A default that only development has is a secret, which is publicly readable here.
    const shown = preset?.startsWith('development-') ? 'in development only' : preset && `\`${preset}\``
    return `| \`${name}\` | ${shown ?? ''} | ${description.replaceAll('|', '\\|')} |`
  })
  return ['| setting | default | |', '| --- | --- | --- |', ...rows].join('\n')
}

export const settingsPage = () => `# Settings

\`npm run settings\` writes this page from the schemas in \`origin/base/config.ts\` and \`edge/http/config.ts\`; a test compares it.

## Origin

Environment variables. An empty one counts as absent. The origin lists everything that is wrong with them and exits.

${table(ORIGIN_SETTINGS)}

## Edge

Variables and secrets of the Worker: in \`wrangler.toml\`, which explains them, or as bindings of raw workerd. Limits are
\`calls/seconds\` or \`off\`; development has none.

${table(EDGE_SETTINGS)}

## npm start

${table(START_SETTINGS)}
`

if (import.meta.main) writeFileSync(SETTINGS_PAGE, settingsPage())
