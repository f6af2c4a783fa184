/** What the first script hands to the second one. */
import type { Place, Schedule } from '../../../shared/schedule.ts'
import type { Page } from '../page.ts'

/** What the first script has, and the second one has no other copy of. */
export interface Tools {
  readonly announce: (text: string) => void
  readonly commitmentHolds: (commitment: string, seed: string) => boolean
}

/** What the page shows. */
export interface PageState {
  readonly schedule: Schedule
  readonly page: Page
  readonly place: Place | null
  readonly atMs: number
}
