/** Bad inputs for all routes of both halves, others each time: five minutes. */
import { seedOf } from '../lib/seed.ts'
import { fuzz } from './play.ts'

fuzz(seedOf(), 50_000)
