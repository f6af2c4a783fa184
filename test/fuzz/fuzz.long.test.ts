/** Sends bad inputs to all routes of both halves, different ones each time, for five minutes. */
import { seedOf } from '../lib/seed.ts'
import { fuzz } from './play.ts'

fuzz(seedOf(), 50_000)
