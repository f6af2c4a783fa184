/** The data that the first script passes to the second one. */
import type { Place, Schedule } from '../../../shared/schedule.ts'
import type { Page } from '../page.ts'

/** Functions of the first script that the second one uses without a second copy of their code. */
export interface Tools {
  readonly announce: (text: string) => void
  readonly commitmentHolds: (commitment: string, seed: string) => boolean
  readonly ownOrder: (page: Page) => string | undefined
  readonly forgetOrder: (page: Page, order: string) => void
}

/** The state of the page at a moment. */
export interface PageState {
  readonly schedule: Schedule
  readonly page: Page
  readonly place: Place | null
  readonly atMs: number
}
