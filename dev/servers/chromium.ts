/**
 * A Chromium for the browser tests and pictures: the machine's, or Debian's, which is installed where that is possible. The
 * headless shell is the same browser without windows of its own, and loads a page for half the processor time.
 */
import { existsSync } from 'node:fs'
import { type Browser, chromium, type LaunchOptions } from 'playwright-core'
import { ensureProgram, findOnPath } from './install.ts'

const BINARIES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const ON_MACOS = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'

/** The path of a Chromium: of `CHROMIUM_PATH`, or else the machine's. */
export function findChromium(): string | undefined {
  const path = process.env.CHROMIUM_PATH || findOnPath(...BINARIES) || ON_MACOS
  return existsSync(path) ? path : undefined
}

/** The program's path; installs it if there is none. */
export async function ensureChromium(say?: (line: string) => void): Promise<string> {
  const program = { name: 'Chromium', binaries: BINARIES, apt: 'chromium-headless-shell', brew: 'chromium' }
  return findChromium() ?? ensureProgram({ ...program, otherwise: 'set CHROMIUM_PATH' }, say)
}

/** How to launch one that makes no requests of its own. */
export async function chromiumOptions(): Promise<LaunchOptions> {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
  ]
  return { executablePath: await ensureChromium(), args }
}

export const launchChromium = async (): Promise<Browser> => chromium.launch(await chromiumOptions())
