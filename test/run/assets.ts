/** The assets of the pages, which a build embeds in the Worker, for the tests in plain threads. */
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** The assets as JSON, which dev/lib/build.ts makes. */
    __ASSETS__: string
  }
}

Object.assign(globalThis, { __ASSETS__: JSON.parse(inject('__ASSETS__')) })
