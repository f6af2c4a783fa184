/**
 * Programs that the machine lacks are installed while the first tests run. This setup of the others waits for them,
 * and imports nothing that looks for a program.
 */
import { inject } from 'vitest'

const response = await fetch(`${inject('sharedParts')}/programs`)
if (!response.ok) throw new Error(`The programs of the tests are not there: ${await response.text()}`)
