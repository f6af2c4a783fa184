/** Addresses of what the test files of a run share (one-run.ts). */
import { inject } from 'vitest'
import { findChromium } from '../../dev/servers/chromium.ts'
import type { OriginAddress } from './one-origin.ts'
import type { RunSystem } from './one-system.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the run tells test files the addresses of what they share. */
    sharedParts: string
  }
}

export interface SharedParts {
  /** Its address. */
  readonly postgres: string
  readonly origin: OriginAddress
  readonly system: RunSystem
  /** The address of its Chromium. */
  readonly browser: string
}

/** A part that runs: what test files are told of it, and how it ends. */
export interface Part<Address> {
  readonly address: Address
  stop(): Promise<void>
}

/** Tests in a browser are skipped on a machine without one. */
export const hasBrowser = findChromium() !== undefined

/** Starts a part, unless it runs already. */
export async function sharedPart<Name extends keyof SharedParts>(name: Name): Promise<SharedParts[Name]> {
  const response = await fetch(`${inject('sharedParts')}/${name}`)
  const text = await response.text()
  if (!response.ok) throw new Error(`The run's ${name} does not start: ${text}`)
  return JSON.parse(text) as SharedParts[Name]
}
