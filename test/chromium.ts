/** A Chromium for the browser tests: the machine's, or Debian's, which is installed where that is possible. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PLACES = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const INSTALL_WITHIN_MS = 240_000

const found = () => PLACES.find((path) => path !== '' && existsSync(path))

/** The path of a Chromium; of none, where there is none to be had, and the browser tests say that they are skipped. */
export async function installChromium(): Promise<string> {
  const there = found()
  if (there) return there
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log('Installing Chromium for the browser tests (apt-get install chromium) ..')
    try {
      const options = { stdio: 'ignore', timeout: INSTALL_WITHIN_MS } as const
      execFileSync('apt-get', ['update'], options)
      execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], options)
    } catch {
      // Said below.
    }
  }
  const installed = found()
  if (!installed)
    console.warn(
      'No Chromium to be had: the browser tests are skipped. Set CHROMIUM_PATH, or install chromium.',
    )
  return installed ?? ''
}

/** A browser that keeps to this machine: nothing but the pages under test is loaded. */
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
