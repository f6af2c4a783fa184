/** A schedule for measurements and tests: of an open sale after its draw, with a stopped queue. */
import type { Schedule } from '../../shared/schedule.ts'
export declare const sampleSchedule: (changes?: Partial<Schedule>) => Schedule
