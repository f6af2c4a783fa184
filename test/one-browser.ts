/**
 * One Chromium for a whole test run. Test files connect to it, which takes milliseconds where a browser of their own takes a
 * second, and make contexts in it, which share nothing; a file's contexts are closed when it disconnects.
 *
 *     const browser = await chromium.connect(inject('browser'))
 */
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { chromiumOptions, findChromium } from '../dev/servers/chromium.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the run's Chromium; empty on a machine without one, where tests in a browser are skipped. */
    browser: string
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!findChromium()) return void project.provide('browser', '')
  // Vitest itself ends the run on a signal, and then calls the function below.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }
  const server = await chromium.launchServer({ ...(await chromiumOptions()), ...signals })
  project.provide('browser', server.wsEndpoint())
  return () => server.close()
}
