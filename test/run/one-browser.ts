/**
 * One Chromium for a whole test run. Test files connect to it, which takes milliseconds, while starting a browser
 * takes a second. They create contexts in it, which share nothing; a file's contexts are closed when it disconnects.
 *
 *     const browser = await chromium.connect(await sharedPart('browser'))
 */
import { chromium } from 'playwright-core'
import { chromiumOptions } from '../../dev/servers/chromium.ts'
import type { Part } from './shared-part.ts'

export async function startBrowser(): Promise<Part<string>> {
  // Vitest itself ends the run on a signal, and stops what it shares.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }
  const server = await chromium.launchServer({ ...(await chromiumOptions()), ...signals })
  return { address: server.wsEndpoint(), stop: () => server.close() }
}
