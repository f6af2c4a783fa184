/**
 * A Chromium for the browser tests and screenshots: the machine's, or Debian's, which is installed if possible. The
 * headless shell is the same browser without its own windows, and loads a page in half the processor time.
 */
import { existsSync } from 'node:fs'
import { type Browser, chromium, type LaunchOptions } from 'playwright-core'
import { ensureProgram, findOnPath } from './install.ts'

const BINARIES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const ON_MACOS = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'

/** The path of a Chromium from `CHROMIUM_PATH`, or otherwise the machine's. */
export function findChromium(): string | undefined {
  const path = process.env.CHROMIUM_PATH || findOnPath(...BINARIES) || ON_MACOS
  return existsSync(path) ? path : undefined
}

/** Returns the program's path, and installs it if it is missing. */
export async function ensureChromium(say?: (line: string) => void): Promise<string> {
  const program = { name: 'Chromium', binaries: BINARIES, apt: 'chromium-headless-shell', brew: 'chromium' }
  return findChromium() ?? ensureProgram({ ...program, otherwise: 'set CHROMIUM_PATH' }, say)
}

/** The options for a browser that makes no requests of its own. */
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
