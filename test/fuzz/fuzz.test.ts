/** Sends a few bad inputs to all routes of both halves; fuzz.long.test.ts sends many. */
import { fuzz } from './play.ts'

fuzz(20, 300)
