/** A Chromium for the browser tests: the machine's, or Debian's, which is installed where that is possible. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PATHS = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const INSTALL_TIMEOUT_MS = 240_000

const installedPath = () => PATHS.find((path) => path !== '' && existsSync(path))

/** The path of a Chromium; empty if there is none and none can be installed: then the browser tests are skipped. */
export async function installChromium(): Promise<string> {
  const present = installedPath()
  if (present) return present
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log('Installing Chromium for the browser tests (apt-get install chromium) ..')
    try {
      const options = { stdio: 'ignore', timeout: INSTALL_TIMEOUT_MS } as const
      execFileSync('apt-get', ['update'], options)
      execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], options)
    } catch {
      // Reported below.
    }
  }
  const installed = installedPath()
  if (!installed) console.warn('Chromium not found: browser tests skipped. Set CHROMIUM_PATH, or install chromium.')
  return installed ?? ''
}

/** A browser that makes no requests of its own. */
export function launchChromium(executablePath: string): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
  ]
  return chromium.launch({ executablePath, args })
}
