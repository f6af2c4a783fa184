/** The addresses of the parts that the test files of a run share (one-run.ts). */
import { inject } from 'vitest'
import { findChromium } from '../../dev/servers/chromium.ts'
import type { OriginAddress } from './one-origin.ts'
import type { RunSystem } from './one-system.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the server that tells test files the addresses of the shared parts. */
    sharedParts: string
  }
}

export interface SharedParts {
  /** What the machine lacked is installed, and the console is built. */
  readonly programs: null
  /** The address of the server. */
  readonly postgres: string
  readonly origin: OriginAddress
  readonly system: RunSystem
  /** The address of the run's Chromium. */
  readonly browser: string
}

/** A running part: the address for test files, and the function that stops it. */
export interface Part<Address> {
  readonly address: Address
  stop(): Promise<void>
}

/** Browser tests are skipped on a machine without a Chromium. */
export const hasBrowser = findChromium() !== undefined

/** Starts a part unless it runs already. */
export async function sharedPart<Name extends keyof SharedParts>(name: Name): Promise<SharedParts[Name]> {
  const response = await fetch(`${inject('sharedParts')}/${name}`)
  const text = await response.text()
  if (!response.ok) throw new Error(`The run's ${name} does not start: ${text}`)
  return JSON.parse(text) as SharedParts[Name]
}
