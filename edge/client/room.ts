/** The page's script; in a worker of its own making, the beat that it lives by. */
import { beatFromWorker } from './beat.ts'
import { start } from './live.ts'

if ('document' in globalThis) start()
else beatFromWorker()
